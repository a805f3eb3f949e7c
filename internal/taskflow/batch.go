package taskflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

const (
	// The items of a batch become tasks chunk by chunk, each chunk in one
	// transaction. The first chunk is small, so that the next can be prepared
	// while it is saved. Later chunks are larger, because the tasks of a
	// transaction share written pages and the cost of making them durable, but
	// small enough that other writers do not wait long. A batch that has been tried
	// before uses small chunks only: it may have failed in a conflict with other
	// writers, or been stopped because a transaction took longer than its lease,
	// which cannot be renewed meanwhile.
	firstChunk, largestChunk, retryChunk = 100, 400, 50

	// chunkBytes is the maximum size of a chunk of several items: of what was sent, and of
	// the definitions and defaults of their custom fields. Chunks of ordinary tasks are
	// smaller.
	chunkBytes = 512 << 10

	// The maximum sizes of the tasks and of the rejected items that the event of a
	// completed batch shows. A task may be shown twice, a rejected item always is.
	maxShownTasks, maxShownItems = 8 << 20, 4 << 20

	// prepareConcurrency is the number of items that are prepared at the same time.
	// Each may need a request to a geocoder.
	prepareConcurrency = 8
)

// Batches creates many tasks, immediately or in the background.
type Batches struct {
	Creator
	Store BatchStore
	Wake  *events.Wake // wakes the loop that runs batches

	counted *countedOnce // Placed of one batch; see countOnce
}

// Submit stores a batch of tasks to be created in the background. Once it has
// returned, the batch survives crashes.
func (bs *Batches) Submit(ctx context.Context, who lastmile.Principal, items []lastmile.BatchItem) (made lastmile.CreatedRecord[lastmile.Batch], err error) {
	if err := lastmile.CheckBatch(len(items), lastmile.MaxBatch); err != nil {
		return made, err
	}
	now := bs.Now()
	batch := lastmile.Batch{
		ID: lastmile.BatchID(bs.NewID()), Organization: who.Organization, Key: who.Author(), Created: now, Received: len(items),
	}
	return store.Idempotent(ctx, bs.Store, who, func(w BatchWriter) (lastmile.CreatedRecord[lastmile.Batch], error) {
		made := lastmile.CreatedRecord[lastmile.Batch]{Record: batch}
		if err := w.AddBatch(ctx, batch, items); err != nil {
			return made, err
		}
		w.OnCommit(bs.Wake.Signal)
		return made, w.AddJob(ctx, work.Job{
			Organization: batch.Organization, ID: string(batch.ID), Kind: work.CreateBatch, Due: now, Created: now,
		})
	})
}

// Batch returns the progress of a batch and, once it is completed, the tasks that
// were created.
func (bs *Batches) Batch(ctx context.Context, who lastmile.Principal, id lastmile.BatchID) (batch lastmile.Batch, err error) {
	err = bs.Store.Read(ctx, func(r BatchReader) (err error) {
		if batch, err = r.Batch(ctx, who.Organization, id); err != nil || batch.Completed.IsZero() {
			return err
		}
		return fillTasks(ctx, r, &batch, math.MaxInt)
	})
	return batch, err
}

// fillTasks puts the tasks that still exist into the results of a batch, some with only their
// id if they have more than room bytes.
func fillTasks(ctx context.Context, r BatchReader, batch *lastmile.Batch, room int) error {
	left, err := r.TasksLeft(ctx, batch.Organization, createdIDs(batch.Results), room)
	for i, result := range batch.Results {
		batch.Results[i].Shown = left[result.TaskID]
	}
	return err
}

// createdIDs returns the ids of the tasks in results.
func createdIDs(results []lastmile.BatchResult) []lastmile.TaskID {
	ids := make([]lastmile.TaskID, 0, len(results))
	for _, result := range results {
		if result.Err == nil {
			ids = append(ids, result.TaskID)
		}
	}
	return ids
}

// CreateAll creates a small batch of tasks immediately. A rejected item gets an error
// as its result and does not keep the others from being created.
func (bs *Batches) CreateAll(ctx context.Context, who lastmile.Principal, items []lastmile.BatchItem) (lastmile.CreatedBatch, error) {
	if err := lastmile.CheckBatch(len(items), lastmile.MaxSyncBatch); err != nil {
		return lastmile.CreatedBatch{}, err
	}
	bs = bs.countOnce()
	prepared := bs.prepareItems(ctx, who, items, func(i lastmile.BatchItem) error { return lastmile.CheckBatchItem(nil, i.AutoAssign) })
	if err := ctx.Err(); err != nil {
		return lastmile.CreatedBatch{}, err
	}
	for _, one := range prepared {
		if one.err != nil && !isRejection(one.err) {
			return lastmile.CreatedBatch{}, one.err // nothing has been done; another attempt may succeed
		}
	}
	now := bs.Now()
	return createItems(ctx, bs.Store, who.Organization, prepared, func(by *way) (lastmile.CreatedBatch, error) {
		return store.Idempotent(ctx, bs.Store, who, func(w BatchWriter) (made lastmile.CreatedBatch, err error) {
			err = bs.createChunk(ctx, w, who, prepared, now, by, func(task *lastmile.Task, rejected lastmile.BatchResult) {
				if task != nil {
					made.Tasks = append(made.Tasks, *task)
				} else {
					made.Rejected = append(made.Rejected, rejected)
				}
			})
			return made, err
		})
	})
}

// Run creates the tasks of a batch that have not been created yet. It returns
// the function that completes the batch.
func (bs *Batches) Run(ctx context.Context, job *work.Lease) (end work.End[BatchWriter], err error) {
	var batch lastmile.Batch
	err = bs.Store.Read(ctx, func(r BatchReader) (err error) {
		batch, err = r.Batch(ctx, job.Organization, lastmile.BatchID(job.ID))
		return err
	})
	if err != nil || !batch.Completed.IsZero() {
		return nil, err
	}
	bs = bs.countOnce()
	who := lastmile.AuthoredBy(batch.Organization, batch.Key)
	seen := shownTasks{room: maxShownTasks}
	defer seen.group.Wait()
	seen.add(ctx, bs.Store, batch.Organization, batch.Results)
	most := largestChunk
	if job.Attempt > 1 {
		most = retryChunk
	}
	chunks, stop := bs.prepareChunks(ctx, who, batch, most)
	defer stop()
	for chunk := range chunks {
		from := len(batch.Results)
		results, err := bs.runChunk(ctx, job, who, from, chunk)
		if err != nil {
			return nil, fmt.Errorf("items of batch %s from number %d: %w", batch.ID, from, err)
		}
		seen.add(ctx, bs.Store, batch.Organization, results)
		batch.Results = append(batch.Results, results...)
	}
	if err := errors.Join(ctx.Err(), seen.into(batch.Results)); err != nil {
		return nil, err
	}
	return func(ctx context.Context, w BatchWriter) error { return bs.completeBatch(ctx, w, batch) }, nil
}

// shownTasks reads the created tasks in the form of the API while others are still
// being created. Those that do not fit into room are read with only their id.
type shownTasks struct {
	group sync.WaitGroup
	mu    sync.Mutex
	room  int // bytes
	shown map[lastmile.TaskID][]byte
	err   error
}

// add reads the tasks of some results.
func (v *shownTasks) add(ctx context.Context, s BatchStore, org lastmile.OrganizationID, results []lastmile.BatchResult) {
	ids := createdIDs(results)
	if len(ids) == 0 {
		return
	}
	v.group.Go(func() {
		v.mu.Lock() // one read at a time, because the tasks share the room
		defer v.mu.Unlock()
		var left map[lastmile.TaskID][]byte
		err := s.Read(ctx, func(r BatchReader) (err error) {
			left, err = r.TasksLeft(ctx, org, ids, v.room)
			return err
		})
		if v.shown == nil {
			v.shown = map[lastmile.TaskID][]byte{}
		}
		for id, doc := range left {
			v.shown[id] = doc
			v.room -= len(doc)
		}
		v.err = errors.Join(v.err, err)
	})
}

// into waits for all reads and puts the tasks into their results.
func (v *shownTasks) into(results []lastmile.BatchResult) error {
	v.group.Wait()
	for i, result := range results {
		results[i].Shown = v.shown[result.TaskID]
	}
	return v.err
}

// GiveUp completes a batch that could not be run: items without a result get
// an internal error.
func (bs *Batches) GiveUp(ctx context.Context, w BatchWriter, job work.Item) error {
	batch, err := w.Batch(ctx, job.Organization, lastmile.BatchID(job.ID))
	if err != nil || !batch.Completed.IsZero() {
		return err
	}
	from := len(batch.Results)
	items, err := w.BatchItems(ctx, batch.Organization, batch.ID, from, batch.Received)
	if err != nil {
		return err
	}
	for _, item := range items {
		batch.Results = append(batch.Results, lastmile.BatchResult{Err: lastmile.Internal(), Sent: item.Sent})
	}
	if len(items) > 0 {
		if err := w.AddResults(ctx, batch.Organization, batch.ID, from, batch.Results[from:]); err != nil {
			return err
		}
	}
	if err := fillTasks(ctx, w, &batch, maxShownTasks); err != nil {
		return err
	}
	return bs.completeBatch(ctx, w, batch)
}

// completeBatch completes a batch whose items all have a result.
func (bs *Batches) completeBatch(ctx context.Context, w BatchWriter, batch lastmile.Batch) error {
	who := lastmile.AuthoredBy(batch.Organization, batch.Key)
	batch.Results = withoutLarge(batch.Results, maxShownItems)
	event := batch.Complete(who.Actor(), bs.Now())
	if err := w.CompleteBatch(ctx, batch.Organization, batch.ID, batch.Completed); err != nil {
		return err
	}
	return bs.Events.Append(ctx, w, event)
}

// withoutLarge returns results in which the rejected items beyond room bytes are empty objects.
func withoutLarge(results []lastmile.BatchResult, room int) []lastmile.BatchResult {
	results = slices.Clone(results)
	for i, r := range results {
		if r.Err == nil {
			continue
		}
		if room -= len(r.Sent); room < 0 {
			results[i].Sent = []byte("{}")
		}
	}
	return results
}

// runChunk saves the tasks and results of a chunk in one transaction. In the last
// attempt of a job each item has its own transaction, so that an item that fails
// gets an error and the others are created.
func (bs *Batches) runChunk(ctx context.Context, job *work.Lease, who lastmile.Principal, from int, c chunk) ([]lastmile.BatchResult, error) {
	if err := errors.Join(ctx.Err(), c.err); err != nil {
		return nil, err // not the fault of any item
	}
	items := c.items
	if !job.Last {
		for _, one := range items {
			if one.err != nil && !isRejection(one.err) {
				return nil, one.err
			}
		}
		return bs.saveChunk(ctx, job, who, from, items)
	}
	var all []lastmile.BatchResult
	for i, one := range items {
		results, err := bs.saveChunk(ctx, job, who, from+i, []item{one})
		if err != nil && !errors.Is(err, work.ErrLost) && ctx.Err() == nil {
			one.err = err
			results, err = bs.saveChunk(ctx, job, who, from+i, []item{one})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

// saveChunk creates the tasks of items and saves the results with them.
func (bs *Batches) saveChunk(ctx context.Context, job *work.Lease, who lastmile.Principal, from int, items []item) ([]lastmile.BatchResult, error) {
	now := bs.Now()
	results, err := createItems(ctx, bs.Store, who.Organization, items, func(by *way) (results []lastmile.BatchResult, err error) {
		err = bs.Store.Write(ctx, func(w BatchWriter) error {
			if err := job.Hold(ctx, w, now); err != nil {
				return err
			}
			results = make([]lastmile.BatchResult, 0, len(items))
			err := bs.createChunk(ctx, w, who, items, now, by, func(task *lastmile.Task, result lastmile.BatchResult) {
				if task != nil {
					result = lastmile.BatchResult{TaskID: task.ID, Warned: len(task.Destination.Warnings) > 0}
				}
				results = append(results, result)
			})
			if err != nil {
				return err
			}
			return w.AddResults(ctx, job.Organization, lastmile.BatchID(job.ID), from, results)
		})
		return results, err
	})
	if err != nil {
		return nil, err
	}
	placed := 0
	for i, result := range results {
		if result.Err == nil && items[i].ready.home(who.Organization) != who.Organization {
			placed++
		}
	}
	bs.counted.add(placed)
	return results, nil
}
