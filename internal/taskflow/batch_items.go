package taskflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// item is an item of a batch, prepared for a transaction.
type item struct {
	sent  []byte
	ready prepared
	added int   // about how many bytes custom fields add to the task
	err   error // why it cannot be created
}

// chunk is a part of a batch whose items are created in one transaction.
type chunk struct {
	items []item
	err   error // why they could not be read
}

// prepareChunks reads and prepares the items of a batch that have no result,
// chunk by chunk, one chunk ahead of the receiver. Callers must call stop.
func (bs *Batches) prepareChunks(ctx context.Context, who lastmile.Principal, batch lastmile.Batch, most int) (chunks <-chan chunk, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ready := make(chan chunk)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(ready)
		next := len(batch.Results)
		for size := min(firstChunk, most); next < batch.Received; size = most {
			n := min(size, batch.Received-next)
			for _, part := range bs.prepareChunk(ctx, who, batch.ID, next, n).split() {
				select {
				case ready <- part:
				case <-ctx.Done():
					return
				}
			}
			next += n
		}
	})
	return ready, func() {
		cancel()
		group.Wait()
	}
}

// split divides a chunk whose tasks are large.
func (c chunk) split() []chunk {
	var parts []chunk
	from, bytes := 0, 0
	for i, one := range c.items {
		size := len(one.sent) + one.added
		if bytes += size; bytes > chunkBytes && i > from {
			parts = append(parts, chunk{items: c.items[from:i]})
			from, bytes = i, size
		}
	}
	return append(parts, chunk{items: c.items[from:], err: c.err})
}

// prepareChunk reads n items of a batch and prepares them.
func (bs *Batches) prepareChunk(ctx context.Context, who lastmile.Principal, id lastmile.BatchID, from, n int) chunk {
	var (
		sent   []lastmile.BatchItem
		fields customfield.Fields
	)
	err := bs.Store.Read(ctx, func(r BatchReader) (err error) {
		if fields, err = r.CustomFields(ctx, who.Organization); err != nil {
			return err
		}
		sent, err = r.BatchItems(ctx, who.Organization, id, from, n)
		return err
	})
	if err == nil && len(sent) != n {
		err = fmt.Errorf("found %d of %d items", len(sent), n)
	}
	if err != nil {
		return chunk{err: err}
	}
	check := func(i lastmile.BatchItem) error { return lastmile.CheckBatchItem(i.Draft.Container, i.AutoAssign) }
	items := bs.prepareItems(ctx, who, sent, check)
	for i := range items {
		var values []lastmile.FieldValue
		lastmile.Set(&values, items[i].ready.draft.Fields)
		items[i].added = fields.SizeFor(values)
	}
	return chunk{items: items}
}

// prepareItems prepares items, several at a time: it does the part of their creation
// that must not happen inside a transaction.
func (bs *Batches) prepareItems(ctx context.Context, who lastmile.Principal, sent []lastmile.BatchItem, check func(lastmile.BatchItem) error) []item {
	items := make([]item, len(sent))
	next := make(chan int, len(sent))
	for i := range sent {
		items[i].sent = sent[i].Sent
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	for range min(prepareConcurrency, len(sent)) {
		group.Go(func() {
			for i := range next {
				items[i].ready, items[i].err = bs.prepareItem(ctx, who, sent[i], check)
			}
		})
	}
	group.Wait()
	return items
}

func (bs *Batches) prepareItem(ctx context.Context, who lastmile.Principal, sent lastmile.BatchItem, check func(lastmile.BatchItem) error) (p prepared, err error) {
	defer func() {
		if fault := recover(); fault != nil { // this goroutine has no other recovery
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	if sent.Err != nil {
		return p, sent.Err
	}
	if err := check(sent); err != nil {
		return p, err
	}
	return bs.prepareNew(ctx, who, sent.Draft)
}

// way defines how a transaction creates items.
type way struct {
	// known has the recipients of the items, as they were before the transaction. On
	// PostgreSQL, a transaction that looks up a phone number conflicts with one that
	// adds it, and a transaction that reads many recipients conflicts with any that
	// adds one. If known is nil, or the transaction runs again, it reads them itself.
	known knownRecipients

	// used has those import keys of the items that are known to have been used before.
	used store.UsedKeys

	// savepoints makes it possible to undo each item alone. That is slower, and few
	// batches have items to undo.
	savepoints bool
}

// knownRecipients maps phone numbers to their recipient, or to nil if there is none.
type knownRecipients map[lastmile.Phone][]lastmile.Recipient

// errChanged aborts a transaction that would change a recipient who was read before it.
// errRejected aborts a transaction without savepoints in which an item was rejected.
var (
	errChanged  = errors.New("a recipient must be read in the transaction")
	errRejected = errors.New("an item was rejected")
)

// createItems calls create with the fastest way, which works for most items. If it does not
// work, createItems calls create again with slower ways.
func createItems[T any](ctx context.Context, s BatchStore, org lastmile.OrganizationID, items []item, create func(*way) (T, error)) (made T, err error) {
	known := knownRecipients{}
	err = s.Read(ctx, func(r BatchReader) error { return known.read(ctx, r, org, items) })
	if err == nil {
		made, err = create(&way{known: known})
	}
	used := store.UsedKeys{}
	for { // until no more keys turn out to be used
		more, found := errors.AsType[store.UsedKeys](err)
		if !found && !errors.Is(err, errChanged) {
			break
		}
		maps.Copy(used, more)
		made, err = create(&way{used: used})
	}
	if errors.Is(err, errRejected) {
		return create(&way{savepoints: true})
	}
	return made, err
}

// read reads the recipients of items.
func (k knownRecipients) read(ctx context.Context, r recipientReader, org lastmile.OrganizationID, items []item) error {
	var phones []lastmile.Phone
	for _, one := range items {
		for _, recipient := range one.ready.recipients {
			phones = append(phones, recipient.New.Phone)
			k[recipient.New.Phone] = nil
		}
	}
	if len(phones) == 0 {
		return nil
	}
	found, err := r.Recipients(ctx, org, store.RecipientFilter{Phones: phones})
	for _, recipient := range found {
		k[recipient.Phone] = []lastmile.Recipient{recipient}
	}
	return err
}

// createChunk creates the tasks of items and reports the result of each, in
// their order: a task, or a result with an error.
func (bs *Batches) createChunk(ctx context.Context, w BatchWriter, who lastmile.Principal, items []item, now time.Time, by *way,
	report func(*lastmile.Task, lastmile.BatchResult),
) error {
	var (
		events []lastmile.Event
		silent []lastmile.Task
		placed int // with other organizations
	)
	create := func(w creationWriter, one item) error {
		home := one.ready.home(who.Organization)
		if err := bs.checkRoom(ctx, who.Organization, home, placed); err != nil {
			return err
		}
		task, caused, err := bs.createInBatch(ctx, w, who, one.ready, now)
		if err == nil {
			if home != who.Organization {
				placed++
			}
			if events = append(events, caused...); len(caused) == 0 {
				silent = append(silent, task)
			}
			report(&task, lastmile.BatchResult{})
		}
		return err
	}
	var err error
	if by.savepoints {
		if err := bs.lockNamed(ctx, w, who, items, now); err != nil {
			return err
		}
		err = createEach(items, func(one item) error { return w.Try(ctx, func() error { return create(w, one) }) }, report)
	} else {
		first := *by
		by.known = nil
		err = createTogether(ctx, w, who.Organization, items, first, create, report)
	}
	if err != nil {
		return err
	}
	if err := w.NoteNewTasks(ctx, silent); err != nil {
		return err
	}
	return bs.Events.Append(ctx, w, events...)
}

// lockNamed locks the containers that items name, except for those that do not exist.
func (bs *Batches) lockNamed(ctx context.Context, w BatchWriter, who lastmile.Principal, items []item, now time.Time) error {
	named := map[lastmile.ContainerRef]bool{}
	for _, one := range items {
		if in := one.ready.draft.Container; one.err == nil && in != nil && in.Kind != lastmile.InOrganization {
			named[*in] = true
		}
	}
	var lists []lastmile.ContainerRef
	for in := range named {
		_, err := w.Owner(ctx, who.Organization, in)
		if err != nil && !isRejection(err) {
			return err
		}
		if err == nil {
			lists = append(lists, in)
		}
	}
	return bs.lockAll(ctx, w, who.Organization, now, lists...)
}

// createEach creates items one by one. create must undo an item that it rejects.
func createEach(items []item, create func(item) error, report func(*lastmile.Task, lastmile.BatchResult)) error {
	for _, one := range items {
		err := one.err
		if err == nil {
			if err = create(one); err != nil && !isRejection(err) {
				return err
			}
		}
		if err != nil {
			report(nil, lastmile.BatchResult{Err: lastmile.ItemError(err), Sent: one.sent})
		}
	}
	return nil
}

// createTogether creates all items with few reads and writes. It returns errRejected if
// one of them is rejected, unless its import key is known to have been used: in a batch
// that is sent again, that may be true of all items.
func createTogether(ctx context.Context, w bulkStore, org lastmile.OrganizationID, items []item, by way, create func(creationWriter, item) error,
	report func(*lastmile.Task, lastmile.BatchResult),
) error {
	bulk, err := prefetch(ctx, w, org, items, by)
	if err != nil {
		return err
	}
	for _, one := range items {
		err := one.err
		if key := one.ready.draft.ImportKey; err == nil && key != nil {
			err = checkUnused(bulk.keys, *key)
		}
		if err != nil {
			report(nil, lastmile.BatchResult{Err: lastmile.ItemError(err), Sent: one.sent})
			continue
		}
		err = create(bulk, one)
		if err != nil && isRejection(err) {
			return errRejected
		}
		if err != nil {
			return err
		}
	}
	return bulk.flush(ctx)
}

// isRejection reports whether an error is the client's fault, so that another
// attempt would fail in the same way.
func isRejection(err error) bool {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	return ok && !rejected.Transient()
}
