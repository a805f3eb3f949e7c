package platform_test

import (
	"fmt"
	"sync"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
)

func name(n int) string { return fmt.Sprint("Bea ", n) }

// customers returns items of a batch whose recipients have consecutive phone numbers.
func customers(from, n int) []lastmile.BatchItem {
	items := make([]lastmile.BatchItem, n)
	for i := range items {
		items[i].Draft = apptest.Draft(middle)
		items[i].Draft.Recipients = &[]lastmile.RecipientRef{{Draft: &lastmile.RecipientDraft{Name: name(from + i), Phone: fmt.Sprintf("+1212%07d", 2_000_000+from+i)}}}
	}
	return items
}

// TestConcurrentBatchesDoNotConflict sends batches of one organization at the same time, for
// new recipients and for recipients of other batches.
func TestConcurrentBatchesDoNotConflict(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		d := newDepot(t, p)
		ctx := lastmile.WithCaller(t.Context(), string(d.who.Organization))
		const programs, batches, size = 8, 3, 30
		run := func(from func(program, batch int) int) {
			t.Helper()
			var all sync.WaitGroup
			for program := range programs {
				all.Go(func() {
					for batch := range batches {
						made, err := p.Batches.CreateAll(ctx, d.who, customers(from(program, batch), size))
						if err != nil || len(made.Tasks) != size {
							t.Errorf("%d tasks were created: %v", len(made.Tasks), err)
						}
					}
				})
			}
			all.Wait()
		}
		before := p.Store.Stats().Retries
		run(func(program, batch int) int { return (program*batches + batch) * size })
		if retries := p.Store.Stats().Retries - before; retries != 0 {
			t.Errorf("batches with different recipients ran %d times again", retries)
		}
		before = p.Store.Stats().Retries
		run(func(_, batch int) int { return batch * size }) // known recipients
		if retries := p.Store.Stats().Retries - before; retries != 0 {
			t.Errorf("batches with known recipients ran %d times again", retries)
		}
		run(func(_, batch int) int { return (programs*batches + batch) * size }) // new ones, the same in all programs
		err := p.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
			found, err := r.Recipients(t.Context(), d.who.Organization, store.RecipientFilter{})
			if want := (programs + 1) * batches * size; len(found) != want {
				t.Errorf("there are %d recipients, want %d", len(found), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestBatchesChangeRecipients sends a batch that changes a known recipient, next to another
// known recipient and a new one.
func TestBatchesChangeRecipients(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		d := newDepot(t, p)
		if _, err := p.Batches.CreateAll(t.Context(), d.who, customers(0, 2)); err != nil {
			t.Fatal(err)
		}
		items := customers(0, 3)
		(*items[0].Draft.Recipients)[0].Draft.Name = "Dee"
		made, err := p.Batches.CreateAll(t.Context(), d.who, items)
		if err != nil || len(made.Tasks) != 3 {
			t.Fatal(made, err)
		}
		for i, want := range []string{"Dee", name(1), name(2)} {
			if got := made.Tasks[i].Recipient.Name; got != want {
				t.Errorf("the recipient of task %d is %s, want %s", i, got, want)
			}
		}
	})
}

// TestOrganizationsDoNotConflict has two organizations read their recipients and add
// one, in a table that is so small that PostgreSQL would read all of it.
func TestOrganizationsDoNotConflict(t *testing.T) {
	url := storetest.Postgres(t)
	p := apptest.New(t, func(c *app.Config) { c.Database = url })
	var orgs []lastmile.Principal
	for _, name := range []string{"Acme", "Zenith"} {
		who := lastmile.Principal{Organization: p.Organization(t, name).Organization.ID}
		for i := range 3 {
			if _, err := p.Batches.CreateAll(t.Context(), who, customers(100*i, 100)); err != nil {
				t.Fatal(err)
			}
		}
		orgs = append(orgs, who)
	}
	runs := 0
	add := func(org lastmile.OrganizationID, meanwhile func() error) error {
		return p.Store.Write(lastmile.WithCaller(t.Context(), string(org)), func(w *sqlstore.Tx) error {
			runs++
			var phones []lastmile.Phone
			for i := range 100 {
				phones = append(phones, lastmile.Phone(fmt.Sprintf("+1212%07d", 2_000_100+i)))
			}
			found, err := w.Recipients(t.Context(), org, store.RecipientFilter{Phones: phones})
			if err != nil || len(found) != len(phones) {
				return fmt.Errorf("found %d recipients: %w", len(found), err)
			}
			if err := meanwhile(); err != nil {
				return err
			}
			another := found[0]
			another.ID, another.Phone = apptest.NewID[lastmile.RecipientID](), another.Phone+"1"
			return w.AddRecipient(t.Context(), another)
		})
	}
	err := add(orgs[0].Organization, func() error {
		return add(orgs[1].Organization, func() error { return nil })
	})
	if err != nil || runs != 2 {
		t.Errorf("two operations ran %d times: %v", runs, err)
	}
}
