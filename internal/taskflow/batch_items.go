package taskflow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// item is an item of a batch, prepared for a transaction.
type item struct {
	sent  []byte
	ready prepared
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

// split divides a chunk whose items are large.
func (c chunk) split() []chunk {
	var parts []chunk
	from, bytes := 0, 0
	for i, one := range c.items {
		if bytes += len(one.sent); bytes > chunkBytes && i > from {
			parts = append(parts, chunk{items: c.items[from:i]})
			from, bytes = i, len(one.sent)
		}
	}
	return append(parts, chunk{items: c.items[from:], err: c.err})
}

// prepareChunk reads n items of a batch and prepares them.
func (bs *Batches) prepareChunk(ctx context.Context, who lastmile.Principal, id lastmile.BatchID, from, n int) chunk {
	var sent []lastmile.BatchItem
	err := bs.Store.Read(ctx, func(r BatchReader) (err error) {
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
	return chunk{items: bs.prepareItems(ctx, who, sent, check)}
}

// prepareItems does for some items, several at a time, what must not happen
// inside a transaction.
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
	return bs.prepare(ctx, who, sent.Draft)
}

// savepoints says whether each item of a transaction can be undone alone. That is
// slower, and few batches have items to undo.
type savepoints bool

// errRejected ends a transaction without savepoints in which an item was
// rejected.
var errRejected = errors.New("an item was rejected")

// retryWithSavepoints runs create without savepoints and, if an item is
// rejected, again with them.
func retryWithSavepoints[T any](create func(savepoints) (T, error)) (T, error) {
	made, err := create(false)
	if errors.Is(err, errRejected) {
		return create(true)
	}
	return made, err
}

// createChunk creates the tasks of items and reports the result of each, in
// their order: a task, or a result with an error.
func (bs *Batches) createChunk(ctx context.Context, w BatchWriter, who lastmile.Principal, items []item, now time.Time, each savepoints,
	report func(*lastmile.Task, lastmile.BatchResult),
) error {
	var events []lastmile.Event
	create := func(w creationWriter, one item) error {
		task, caused, err := bs.createInBatch(ctx, w, who, one.ready, now)
		if err == nil {
			events = append(events, caused...)
			report(&task, lastmile.BatchResult{})
		}
		return err
	}
	var err error
	if each {
		err = createEach(items, func(one item) error { return w.Try(ctx, func() error { return create(w, one) }) }, report)
	} else {
		err = createTogether(ctx, w, who.Organization, items, create, report)
	}
	if err != nil {
		return err
	}
	return bs.Events.Append(ctx, w, events...)
}

// createEach creates each item so that it can be undone alone.
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

// createTogether creates all items with few reads and writes. It returns
// errRejected if one of them is rejected.
func createTogether(ctx context.Context, w bulkStore, org lastmile.OrganizationID, items []item, create func(creationWriter, item) error,
	report func(*lastmile.Task, lastmile.BatchResult),
) error {
	bulk, err := prefetch(ctx, w, org, items)
	if err != nil {
		return err
	}
	for _, one := range items {
		if one.err != nil {
			report(nil, lastmile.BatchResult{Err: lastmile.ItemError(one.err), Sent: one.sent})
			continue
		}
		err := create(bulk, one)
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
	return ok && rejected.Code != lastmile.CodeOverloaded && rejected.Code != lastmile.CodeTooMany
}
