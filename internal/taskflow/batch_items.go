package taskflow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// item is a task of a batch that is ready to be created, or why it is not.
type item struct {
	sent  []byte
	ready prepared
	err   error
}

// prepareChunks prepares the items of a batch, some at a time and one step ahead
// of whoever takes them. stop ends that, and must be called.
func (f *Flow) prepareChunks(ctx context.Context, who lastmile.Principal, items [][]byte, most int) (chunks <-chan []item, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	check := func(d Draft) error { return lastmile.CheckBatchItem(d.Container, d.AutoAssign != nil) }
	ready := make(chan []item)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(ready)
		for size := min(firstChunk, most); len(items) > 0; size = most {
			n := min(size, len(items))
			select {
			case ready <- f.prepareItems(ctx, who, items[:n], check):
			case <-ctx.Done():
				return
			}
			items = items[n:]
		}
	})
	return ready, func() {
		cancel()
		group.Wait()
	}
}

// prepareItems does for some items, several at a time, what must not happen
// inside a transaction.
func (f *Flow) prepareItems(ctx context.Context, who lastmile.Principal, sent [][]byte, check func(Draft) error) []item {
	items := make([]item, len(sent))
	next := make(chan int, len(sent))
	for i := range sent {
		items[i].sent = sent[i]
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	for range min(atOnce, len(sent)) {
		group.Go(func() {
			for i := range next {
				items[i].ready, items[i].err = f.prepareItem(ctx, who, sent[i], check)
			}
		})
	}
	group.Wait()
	return items
}

func (f *Flow) prepareItem(ctx context.Context, who lastmile.Principal, sent []byte, check func(Draft) error) (p prepared, err error) {
	defer func() {
		if fault := recover(); fault != nil { // nobody else would: this is a goroutine of its own
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	draft, err := f.ReadDraft(who.Organization, sent)
	if err != nil {
		return p, err
	}
	if err := check(draft); err != nil {
		return p, err
	}
	return f.prepare(ctx, who, draft)
}

// care is whether each item of a transaction can be undone alone. That costs
// something, and most batches have nothing to undo.
type care bool

// errRefused ends a transaction without care that has met a refusal.
var errRefused = errors.New("an item was refused")

// carefully runs create without care and, if an item is refused, with it.
func carefully[T any](create func(care) (T, error)) (T, error) {
	made, err := create(false)
	if errors.Is(err, errRefused) {
		return create(true)
	}
	return made, err
}

// provident is a writer that reads at once what each item of a chunk would read
// for itself, and saves at once what each would save.
type provident struct {
	store.Writer
	fields     lastmile.CustomFields
	recipients map[lastmile.Phone][]lastmile.Recipient // none or one
	made       store.NewRecords
	places     map[lastmile.RecipientID]int // in made
}

// provide reads what items need.
func provide(ctx context.Context, w store.Writer, org lastmile.OrganizationID, items []item) (*provident, error) {
	p := &provident{Writer: w, recipients: map[lastmile.Phone][]lastmile.Recipient{}, places: map[lastmile.RecipientID]int{}}
	var phones []lastmile.Phone
	for _, one := range items {
		for _, recipient := range one.ready.recipients {
			phones = append(phones, recipient.Phone())
			p.recipients[recipient.Phone()] = nil
		}
	}
	var err error
	if p.fields, err = w.CustomFields(ctx, org); err != nil || len(phones) == 0 {
		return p, err
	}
	known, err := w.Recipients(ctx, org, store.RecipientFilter{Phones: phones})
	for _, recipient := range known {
		p.recipients[recipient.Phone] = []lastmile.Recipient{recipient}
	}
	return p, err
}

// save saves what was made so far.
func (p *provident) save(ctx context.Context) error {
	made := p.made
	p.made, p.places = store.NewRecords{}, map[lastmile.RecipientID]int{}
	return p.SaveNew(ctx, made)
}

// CustomFields implements store.CustomFieldReader.
func (p *provident) CustomFields(context.Context, lastmile.OrganizationID) (lastmile.CustomFields, error) {
	return slices.Clone(p.fields), nil
}

// Recipients implements store.AddressReader.
func (p *provident) Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error) {
	if known, asked := p.recipients[f.Phone]; asked {
		return known, nil
	}
	return p.Writer.Recipients(ctx, org, f)
}

// Recipient implements store.AddressReader.
func (p *provident) Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error) {
	if err := p.save(ctx); err != nil {
		return lastmile.Recipient{}, err
	}
	return p.Writer.Recipient(ctx, org, id)
}

// SaveRecipient implements store.AddressWriter.
func (p *provident) SaveRecipient(_ context.Context, r lastmile.Recipient) error {
	p.recipients[r.Phone] = []lastmile.Recipient{r}
	if at, again := p.places[r.ID]; again {
		p.made.Recipients[at] = r
		return nil
	}
	p.places[r.ID] = len(p.made.Recipients)
	p.made.Recipients = append(p.made.Recipients, r)
	return nil
}

// SaveDestination implements store.AddressWriter.
func (p *provident) SaveDestination(_ context.Context, d lastmile.Destination) error {
	p.made.Destinations = append(p.made.Destinations, d)
	return nil
}

// SaveTask implements store.TaskWriter.
func (p *provident) SaveTask(_ context.Context, t lastmile.Task) error {
	p.made.Tasks = append(p.made.Tasks, t)
	return nil
}

// Enqueue implements store.TaskWriter.
func (p *provident) Enqueue(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, index int, tasks []lastmile.TaskID, now time.Time) error {
	if err := p.save(ctx); err != nil {
		return err
	}
	return p.Writer.Enqueue(ctx, org, in, index, tasks, now)
}

// createChunk creates the tasks of items; see createItems.
func (f *Flow) createChunk(ctx context.Context, w store.Writer, who lastmile.Principal, items []item, now time.Time, care care,
	tell func(*lastmile.Task, lastmile.BatchResult),
) error {
	if care { // what was read or made at once cannot be undone alone
		return f.createItems(ctx, w, who, items, now, care, tell)
	}
	together, err := provide(ctx, w, who.Organization, items)
	if err != nil {
		return err
	}
	if err := f.createItems(ctx, together, who, items, now, care, tell); err != nil {
		return err
	}
	return together.save(ctx)
}

// createItems creates the tasks of items and tells what became of each, in
// their order: a task, or a result with a fault.
func (f *Flow) createItems(ctx context.Context, w store.Writer, who lastmile.Principal, items []item, now time.Time, care care,
	tell func(*lastmile.Task, lastmile.BatchResult),
) error {
	for _, one := range items {
		var made lastmile.CreatedTask
		err := one.err
		if err == nil {
			create := func() (err error) {
				made, err = f.create(ctx, w, who, one.ready, now, false)
				return err
			}
			if care {
				err = w.Try(ctx, create)
			} else {
				err = create()
			}
			switch {
			case err != nil && !isRefusal(err):
				return err
			case err != nil && !bool(care):
				return errRefused
			}
		}
		if err == nil {
			tell(&made.Task, lastmile.BatchResult{})
			continue
		}
		fault := f.Explain(err)
		tell(nil, lastmile.BatchResult{Fault: &fault, Sent: one.sent})
	}
	return nil
}

// isRefusal tells whether an error is the client's to act on, and will be the
// same when it is tried again.
func isRefusal(err error) bool {
	refusal, ok := errors.AsType[*lastmile.Error](err)
	return ok && refusal.Code != lastmile.CodeOverloaded && refusal.Code != lastmile.CodeTooMany
}
