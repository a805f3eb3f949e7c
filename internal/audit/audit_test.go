package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// memory is a store in memory.
type memory struct {
	entries  []Entry
	batches  []int
	fail     error
	named    int
	pages    int
	deleted  []int64 // results of the next deletions
	deadline time.Time
}

func (m *memory) Read(_ context.Context, fn func(Reader) error) error { return fn(m) }
func (m *memory) Write(_ context.Context, fn func(Writer) error) error {
	if m.fail != nil {
		return m.fail
	}
	return fn(m)
}

func (m *memory) ActorName(_ context.Context, _ lastmile.OrganizationID, actor lastmile.Actor) (string, error) {
	m.named++
	return "name of " + actor.ID, nil
}

func (m *memory) AuditEntries(_ context.Context, _ lastmile.OrganizationID, q Query) ([]Entry, error) {
	m.pages++
	return slices.Clone(m.entries[:min(len(m.entries), q.Limit)]), nil
}

func (m *memory) Organizations(context.Context) ([]lastmile.Organization, error) {
	return []lastmile.Organization{{ID: "acme"}, {ID: "zenith"}}, nil
}

func (m *memory) AddAuditEntries(_ context.Context, entries []Entry) error {
	m.entries, m.batches = append(m.entries, entries...), append(m.batches, len(entries))
	return nil
}

func (m *memory) DeleteAuditEntries(_ context.Context, _ lastmile.OrganizationID, before time.Time, _, _ int) (n int64, err error) {
	m.deadline = before
	if len(m.deleted) > 0 {
		n, m.deleted = m.deleted[0], m.deleted[1:]
	}
	return n, nil
}

func (m *memory) AdminByEmail(_ context.Context, email string) (lastmile.Admin, error) {
	if m.fail != nil {
		return lastmile.Admin{}, m.fail
	}
	if email == "stranger@example.com" {
		return lastmile.Admin{}, lastmile.NotFound("administrator", email)
	}
	return lastmile.Admin{ID: "admin", Organization: "acme", Name: "Ada"}, nil
}

func (m *memory) CredentialsByPhone(_ context.Context, phone lastmile.Phone) ([]store.Credential, error) {
	if phone == "+12125550199" {
		return nil, nil
	}
	return []store.Credential{{Organization: "acme", Worker: "will"}, {Organization: "zenith", Worker: "willi"}}, m.fail
}

func (m *memory) AuditAttempts(_ context.Context, org lastmile.OrganizationID, id string, attempt AttemptKind, since time.Time, limit int) (found []Entry, err error) {
	for _, e := range m.entries {
		if e.Organization == org && e.Record == id && e.Attempt == attempt && !e.Time.Before(since) && e.Time.Before(since.Add(time.Hour)) && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

func (m *memory) SaveAuditAttempts(_ context.Context, e Entry) error {
	m.entries[slices.IndexFunc(m.entries, func(saved Entry) bool { return saved.Organization == e.Organization && saved.ID == e.ID })] = e
	return nil
}

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newLog(m *memory) *Log {
	id := 0
	return &Log{Store: m, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), NewID: func() string {
		id++
		return fmt.Sprint(id)
	}}
}

func entry(actor string) Entry {
	return Entry{Organization: "acme", Time: now, Actor: lastmile.Actor{Type: lastmile.ActorAdmin, ID: actor}}
}

func TestEntriesAreSavedInBatchesAndNamed(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	for i := range flushBatch + 3 {
		l.Record(t.Context(), entry(fmt.Sprint(i%2)))
	}
	if len(m.entries) != 0 {
		t.Error("entries are saved at once")
	}
	for range 2 { // the second has nothing to do
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(m.batches, []int{flushBatch, 3}) || m.named != 4 || m.entries[1].Name != "name of 1" || m.entries[1].ID != "2" {
		t.Errorf("batches of %v, %d names, %+v", m.batches, m.named, m.entries[1])
	}
}

func TestTooManyEntriesAreSavedByTheRequest(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	for range maxPending {
		l.Record(t.Context(), entry("a"))
	}
	if len(m.entries) != maxPending || len(l.pending) != 0 {
		t.Errorf("%d entries are saved, and %d wait", len(m.entries), len(l.pending))
	}
	m.fail = errors.New("the disk is full")
	for range maxPending + 10 {
		l.Record(t.Context(), entry("b"))
	}
	if len(l.pending) != maxPending {
		t.Errorf("%d entries wait", len(l.pending))
	}
	m.fail = nil
	if err := l.Flush(t.Context()); err != nil || len(m.entries) != 2*maxPending {
		t.Errorf("%d entries are saved: %v", len(m.entries), err)
	}
}

func TestPagesEndWithTheIDOfTheNext(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	for range PageSize {
		l.Record(t.Context(), entry("a"))
	}
	page, last, err := l.List(t.Context(), lastmile.Principal{Organization: "acme"}, Query{})
	if err != nil || len(page) != PageSize || last != "" {
		t.Errorf("%d entries, then %q: %v", len(page), last, err)
	}
	l.Record(t.Context(), entry("a"))
	page, last, err = l.List(t.Context(), lastmile.Principal{Organization: "acme"}, Query{})
	if err != nil || len(page) != PageSize || last != page[PageSize-1].ID {
		t.Errorf("%d entries, then %q: %v", len(page), last, err)
	}
}

// TestReadersDoNotSaveEntriesOfOthers reads the log of organizations while entries wait.
func TestReadersDoNotSaveEntriesOfOthers(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	saved := func(org lastmile.OrganizationID) int {
		if _, _, err := l.List(t.Context(), lastmile.Principal{Organization: org}, Query{}); err != nil {
			t.Error(err)
		}
		return len(m.entries)
	}
	l.Record(t.Context(), entry("a"))
	if got := saved("zenith"); got != 0 {
		t.Errorf("%d entries are saved when another organization reads its own", got)
	}
	if got := saved("acme"); got != 1 {
		t.Errorf("%d entries are saved when their organization reads them", got)
	}
	l.Attempt(Account{Email: "ada@example.com"}, Entry{Time: now, Attempt: "wrongPassword"})
	if got := saved("zenith"); got != 2 { // it may have been at an account of this one
		t.Errorf("%d entries are saved after an attempt", got)
	}
}

func TestPurgeDeletesUntilNoneIsLeft(t *testing.T) {
	m := &memory{deleted: []int64{purgeBatch, 7, 0}} // the first organization needs two deletions
	if err := newLog(m).Purge(t.Context()); err != nil || len(m.deleted) != 0 || !m.deadline.Equal(now.Add(-Kept)) {
		t.Errorf("%v are left, before %v: %v", m.deleted, m.deadline, err)
	}
}

func TestActorTypes(t *testing.T) {
	if got := entry("a").ActorType(); got != "admin" {
		t.Error(got)
	}
	if got := (Entry{Actor: lastmile.Actor{Type: lastmile.ActorAPI}}).ActorType(); got != "key" {
		t.Error(got)
	}
}
