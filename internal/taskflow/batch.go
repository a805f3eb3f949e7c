package taskflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"dray/internal/lastmile"
	"dray/internal/store"
)

const (
	// The items of a batch become tasks chunk by chunk, each in one transaction.
	// The first chunk is small, so that the next can be prepared while it is
	// saved; then they grow, because tasks of one transaction share the pages
	// that are written and the price of making them durable, but not so much that
	// others wait long for it. A batch that has failed before, perhaps against
	// others, stays with small ones.
	firstChunk, largestChunk, carefulChunk = 100, 400, 50

	// atOnce is how many items are prepared at the same time, which may mean to
	// ask a geocoder.
	atOnce = 8
)

// Submit takes in a batch of tasks, to be created in the background. When it
// returns, the batch will be done whatever happens.
func (f *Flow) Submit(ctx context.Context, who lastmile.Principal, items [][]byte) (made lastmile.NewlyMade[lastmile.Batch], err error) {
	if err := lastmile.CheckBatch(len(items), lastmile.MaxBatch); err != nil {
		return made, err
	}
	now := f.Now()
	batch := lastmile.Batch{
		ID: lastmile.BatchID(f.NewID()), Organization: who.Organization, Key: who.Key, Created: now, Received: len(items),
	}
	made, err = store.Idempotent(ctx, f.Store, who, func(w store.Writer) (lastmile.NewlyMade[lastmile.Batch], error) {
		made := lastmile.NewlyMade[lastmile.Batch]{Record: batch}
		if err := w.AddBatch(ctx, batch, items); err != nil {
			return made, err
		}
		return made, w.AddJob(ctx, store.Job{
			Organization: batch.Organization, ID: string(batch.ID), Kind: store.CreateBatch, RunAt: now, Created: now,
		})
	})
	if err == nil {
		f.JobAdded()
	}
	return made, err
}

// Batch reads a batch: how far it is, and once it is completed the tasks that
// were created.
func (f *Flow) Batch(ctx context.Context, who lastmile.Principal, id lastmile.BatchID) (batch lastmile.Batch, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) (err error) {
		if batch, err = r.Batch(ctx, who.Organization, id); err != nil || batch.Completed.IsZero() {
			return err
		}
		return fillTasks(ctx, r, &batch)
	})
	return batch, err
}

// fillTasks puts the tasks that still exist into the results of a batch.
func fillTasks(ctx context.Context, r store.Reader, batch *lastmile.Batch) error {
	left, err := r.TasksLeft(ctx, batch.Organization, createdIDs(batch.Results))
	for i, result := range batch.Results {
		batch.Results[i].Shown = left[result.TaskID]
	}
	return err
}

// createdIDs lists the tasks of results.
func createdIDs(results []lastmile.BatchResult) []lastmile.TaskID {
	ids := make([]lastmile.TaskID, 0, len(results))
	for _, result := range results {
		if result.Fault == nil {
			ids = append(ids, result.TaskID)
		}
	}
	return ids
}

// CreateAll creates a small batch of tasks at once. What is wrong with one of
// them is its own result and does not keep the others from being created.
func (f *Flow) CreateAll(ctx context.Context, who lastmile.Principal, items [][]byte) (lastmile.CreatedBatch, error) {
	if err := lastmile.CheckBatch(len(items), lastmile.MaxSyncBatch); err != nil {
		return lastmile.CreatedBatch{}, err
	}
	prepared := f.prepareItems(ctx, who, items, func(d Draft) error { return lastmile.CheckBatchItem(nil, d.AutoAssign != nil) })
	if err := ctx.Err(); err != nil {
		return lastmile.CreatedBatch{}, err
	}
	for _, one := range prepared {
		if _, ok := errors.AsType[*lastmile.Error](one.err); one.err != nil && !ok {
			return lastmile.CreatedBatch{}, one.err // our own fault, and nothing has been done
		}
	}
	now := f.Now()
	return carefully(func(care care) (lastmile.CreatedBatch, error) {
		return store.Idempotent(ctx, f.Store, who, func(w store.Writer) (made lastmile.CreatedBatch, err error) {
			err = f.createChunk(ctx, w, who, prepared, now, care, func(task *lastmile.Task, fault lastmile.BatchResult) {
				if task != nil {
					made.Tasks = append(made.Tasks, *task)
				} else {
					made.Faults = append(made.Faults, fault)
				}
			})
			return made, err
		})
	})
}

// RunBatch creates the tasks of a batch that have not been created yet, and
// returns what ends it.
func (f *Flow) RunBatch(ctx context.Context, job store.Job) (end func(store.Writer) error, err error) {
	var (
		batch lastmile.Batch
		items [][]byte
		id    = lastmile.BatchID(job.ID)
	)
	err = f.Store.Read(ctx, func(r store.Reader) (err error) {
		if batch, err = r.Batch(ctx, job.Organization, id); err != nil {
			return err
		}
		items, err = r.BatchItems(ctx, job.Organization, id)
		return err
	})
	if err != nil || !batch.Completed.IsZero() {
		return nil, err
	}
	who := lastmile.Principal{Organization: batch.Organization, Key: batch.Key}
	var seen viewing
	defer seen.group.Wait()
	seen.add(ctx, f.Store, batch.Organization, batch.Results)
	most := largestChunk
	if job.Failures > 0 {
		most = carefulChunk
	}
	chunks, stop := f.prepareChunks(ctx, who, items[len(batch.Results):], most)
	defer stop()
	for chunk := range chunks {
		from := len(batch.Results)
		results, err := f.runChunk(ctx, job, who, from, chunk)
		if err != nil {
			return nil, fmt.Errorf("items %d to %d of batch %s: %w", from, from+len(chunk)-1, id, err)
		}
		seen.add(ctx, f.Store, batch.Organization, results)
		batch.Results = append(batch.Results, results...)
	}
	if err := errors.Join(ctx.Err(), seen.into(batch.Results)); err != nil {
		return nil, err
	}
	return func(w store.Writer) error { return f.completeBatch(ctx, w, batch) }, nil
}

// viewing reads created tasks as they are shown, while others are still being
// created.
type viewing struct {
	group sync.WaitGroup
	mu    sync.Mutex
	shown map[lastmile.TaskID][]byte
	err   error
}

// add reads the tasks of some results.
func (v *viewing) add(ctx context.Context, s store.Store, org lastmile.OrganizationID, results []lastmile.BatchResult) {
	ids := createdIDs(results)
	if len(ids) == 0 {
		return
	}
	v.group.Go(func() {
		var left map[lastmile.TaskID][]byte
		err := s.Read(ctx, func(r store.Reader) (err error) {
			left, err = r.TasksLeft(ctx, org, ids)
			return err
		})
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.shown == nil {
			v.shown = map[lastmile.TaskID][]byte{}
		}
		maps.Copy(v.shown, left)
		v.err = errors.Join(v.err, err)
	})
}

// into puts the tasks into the results they came from, once all are read.
func (v *viewing) into(results []lastmile.BatchResult) error {
	v.group.Wait()
	for i, result := range results {
		results[i].Shown = v.shown[result.TaskID]
	}
	return v.err
}

// GiveUpBatch ends a batch that could not be run: what has no result yet gets
// an error of ours.
func (f *Flow) GiveUpBatch(ctx context.Context, w store.Writer, job store.Job) error {
	batch, err := w.Batch(ctx, job.Organization, lastmile.BatchID(job.ID))
	if err != nil || !batch.Completed.IsZero() {
		return err
	}
	items, err := w.BatchItems(ctx, batch.Organization, batch.ID)
	if err != nil {
		return err
	}
	from, fault := len(batch.Results), f.Explain(errGivenUp)
	for _, sent := range items[from:] {
		batch.Results = append(batch.Results, lastmile.BatchResult{Fault: &fault, Sent: sent})
	}
	if from < len(items) {
		if err := w.AddResults(ctx, batch.Organization, batch.ID, from, batch.Results[from:]); err != nil {
			return err
		}
	}
	if err := fillTasks(ctx, w, &batch); err != nil {
		return err
	}
	return f.completeBatch(ctx, w, batch)
}

var errGivenUp = errors.New("the batch was given up")

// completeBatch ends a batch, all items of which have a result, and tells so.
func (f *Flow) completeBatch(ctx context.Context, w store.Writer, batch lastmile.Batch) error {
	who := lastmile.Principal{Organization: batch.Organization, Key: batch.Key}
	event := batch.Complete(who.Actor(), f.Now())
	if err := w.CompleteBatch(ctx, batch.Organization, batch.ID, batch.Completed); err != nil {
		return err
	}
	return f.tell(ctx, w, []lastmile.Event{event})
}

// runChunk gives some items of a batch their results, all in one transaction.
// When that failed too often, each has its own, and what fails is its result.
func (f *Flow) runChunk(ctx context.Context, job store.Job, who lastmile.Principal, from int, items []item) ([]lastmile.BatchResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // whatever the items say, it is not their fault
	}
	if !job.Last {
		for _, one := range items {
			if one.err != nil && !isRefusal(one.err) {
				return nil, one.err
			}
		}
		return f.saveChunk(ctx, job, who, from, items)
	}
	var all []lastmile.BatchResult
	for i, one := range items {
		results, err := f.saveChunk(ctx, job, who, from+i, []item{one})
		if err != nil && !errors.Is(err, store.ErrJobLost) && ctx.Err() == nil {
			one.err = err
			results, err = f.saveChunk(ctx, job, who, from+i, []item{one})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

// saveChunk creates the tasks of items and saves the results with them.
func (f *Flow) saveChunk(ctx context.Context, job store.Job, who lastmile.Principal, from int, items []item) ([]lastmile.BatchResult, error) {
	now := f.Now()
	return carefully(func(care care) (results []lastmile.BatchResult, err error) {
		err = f.Store.Write(ctx, func(w store.Writer) error {
			if err := w.HoldJob(ctx, job, now); err != nil {
				return err
			}
			results = make([]lastmile.BatchResult, 0, len(items))
			err := f.createChunk(ctx, w, who, items, now, care, func(task *lastmile.Task, result lastmile.BatchResult) {
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
}
