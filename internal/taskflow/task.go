package taskflow

import (
	"context"
	"errors"
	"slices"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// PageSize is the maximum number of tasks on a page of a list.
const PageSize = 64

// Tasks creates, reads, lists, changes, completes and deletes tasks.
type Tasks struct {
	Creator
	Store     TaskStore
	Documents store.Documents
	Tracks    Tracks
}

// Show returns a task in the form of the API.
func (ts *Tasks) Show(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) ([]byte, error) {
	return ts.Documents.Show(ctx, store.Tasks, who.Organization, string(id))
}

// Task reads a task.
func (ts *Tasks) Task(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) (task lastmile.Task, err error) {
	err = ts.Store.Read(ctx, func(r TaskReader) (err error) {
		task, err = r.VisibleTask(ctx, who.Organization, id)
		return err
	})
	return task.SeenBy(who.Organization), err
}

// ByShortID reads a task by its short id.
func (ts *Tasks) ByShortID(ctx context.Context, who lastmile.Principal, shortID string) (task lastmile.Task, err error) {
	err = ts.Store.Read(ctx, func(r TaskReader) (err error) {
		task, err = r.TaskByShortID(ctx, who.Organization, shortID)
		return err
	})
	return task.SeenBy(who.Organization), err
}

// Query selects tasks; zero fields select all.
type Query = store.TaskFilter

// List returns one page of tasks in the form of the API, and the id that the next
// page starts after; empty for the last page.
func (ts *Tasks) List(ctx context.Context, who lastmile.Principal, q Query) (docs [][]byte, last lastmile.TaskID, err error) {
	q.Limit, q.Manager = PageSize+1, who.Manager()
	found, err := ts.Documents.ShowTasks(ctx, who.Organization, q)
	if err != nil {
		return nil, "", err
	}
	if len(found) > PageSize {
		found = found[:PageSize]
		last = found[PageSize-1].ID
	}
	for _, task := range found {
		docs = append(docs, task.Doc)
	}
	return docs, last, nil
}

// maxFound is the maximum number of tasks that a metadata search returns.
const maxFound = 10_000

// Find returns the ids of the tasks that have all of the metadata entries.
func (ts *Tasks) Find(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) ([]string, error) {
	ids, err := ts.Documents.Find(ctx, store.Tasks, who.Organization, who.Manager(), metadata, maxFound+1)
	if err == nil && len(ids) > maxFound {
		err = lastmile.Invalid("more than %d tasks match; add entries to find fewer", maxFound)
	}
	return ids, err
}

// ShowAll returns the tasks that Find has found, in the form of the API.
func (ts *Tasks) ShowAll(ctx context.Context, who lastmile.Principal, ids []string) ([][]byte, error) {
	return ts.Documents.ShowAll(ctx, store.Tasks, who.Organization, ids)
}

// Explanation returns why a task was assigned automatically, or was not; nil if that was
// not attempted. Administrators who manage only some teams see only the workers of these
// teams in it.
func (cs *Containers) Explanation(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) (found *assignment.Explanation, err error) {
	err = cs.Store.Read(ctx, func(r ContainerReader) error {
		found = nil
		if _, err := r.Task(ctx, who.Organization, id); err != nil {
			return err
		}
		why, err := r.Explanation(ctx, who.Organization, id)
		if lastmile.IsNotFound(err) {
			return nil
		}
		found = &why
		if err != nil || who.Manager() == "" {
			return err
		}
		own, err := r.Workers(ctx, who.Organization, store.WorkerFilter{Manager: who.Manager(), NoTasks: true})
		hidden := func(id lastmile.WorkerID) bool {
			return !slices.ContainsFunc(own, func(w lastmile.Worker) bool { return w.ID == id })
		}
		why.Considered = slices.DeleteFunc(why.Considered, func(c assignment.Consideration) bool { return hidden(c.Worker) })
		why.Total = len(why.Considered)
		if hidden(why.Chosen) {
			why.Chosen = ""
		}
		return err
	})
	return found, err
}

// Update changes a task.
func (ts *Tasks) Update(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, d lastmile.TaskDraft) (lastmile.Task, error) {
	if d.Destination == nil && d.Recipients == nil { // nothing to prepare before the transaction
		return ts.update(ctx, who, id, func(task lastmile.Task) (prepared, error) {
			return prepared{draft: d.Effective(task)}, nil
		})
	}
	task, err := ts.Task(ctx, who, id)
	if err != nil {
		return task, err
	}
	for {
		ready, err := ts.prepare(ctx, who, d.Effective(task))
		if err != nil {
			return task, err
		}
		pending := task.Pending()
		task, err = ts.update(ctx, who, id, func(now lastmile.Task) (prepared, error) {
			if now.Pending() != pending {
				return ready, errStateChanged
			}
			return ready, nil
		})
		if !errors.Is(err, errStateChanged) {
			return task, err
		}
	}
}

// errStateChanged ends an update of a task that was started or unassigned while
// the update was prepared.
var errStateChanged = errors.New("the state of the task has changed")

// update applies a draft that is prepared for the task.
func (ts *Tasks) update(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, prepare func(lastmile.Task) (prepared, error)) (task lastmile.Task, err error) {
	now := ts.Now()
	err = ts.Store.Write(ctx, func(w TaskWriter) (err error) {
		if task, err = w.VisibleTask(ctx, who.Organization, id); err != nil {
			return err
		}
		ready, err := prepare(task)
		if err != nil {
			return err
		}
		before := task
		if task, err = ts.amend(ctx, w, who, task, ready, now); err != nil || who.Organization != task.Origin {
			return err
		}
		return checkOrdered(before, task)
	})
	return task.SeenBy(who.Organization), err
}

// amend applies a prepared draft to a task.
func (ts *Tasks) amend(ctx context.Context, w TaskWriter, who lastmile.Principal, task lastmile.Task, ready prepared, now time.Time) (lastmile.Task, error) {
	was := task
	ready.of = &was
	for i := range ready.recipients {
		ready.recipients[i].New.Modified = now // the history of the task then shows that they were changed with it
	}
	change, err := ready.change(ctx, w, who)
	if err != nil {
		return task, err
	}
	if err := shareDestination(ctx, w, task.Organization, change.Destination); err != nil {
		return task, err
	}
	before, actor := task.Container, inside(who, task.Organization).Actor()
	events, err := task.Update(change, ts.NewID, actor, now)
	if err == nil {
		err = checkOrder(ctx, w, was, task)
	}
	if err != nil {
		return task, err
	}
	if change.Dependencies != nil {
		if err := checkNewDependencies(ctx, w, who.Organization, task); err != nil {
			return task, err
		}
	}
	if in := ready.draft.Container; in != nil && who.Organization != task.Organization {
		if err := checkPlaced(ctx, w, who, task, *in); err != nil {
			return task, err
		}
	} else if in != nil {
		if err := checkContainer(ctx, w, who.Organization, *in); err != nil {
			return task, err
		}
		moved, err := task.Put(*in, actor, now)
		if err != nil {
			return task, err
		}
		if len(moved) > 0 {
			events = moved // they report the update as well
		}
	}
	if len(events) == 0 { // nothing has changed
		return task, nil
	}
	if err := ts.saveMoved(ctx, w, task, before, now); err != nil {
		return task, err
	}
	return task, ts.Events.Append(ctx, w, events...)
}

// Complete ends an active task.
func (ts *Tasks) Complete(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, o lastmile.Outcome) error {
	o.At = ts.Now()
	_, err := store.Idempotent(ctx, ts.Store, who, func(w TaskWriter) (any, error) {
		task, err := w.VisibleTask(ctx, who.Organization, id)
		if err != nil {
			return nil, err
		}
		if task.Organization != who.Organization { // only the executor completes it
			return nil, lastmile.OutsideScope(string(id))
		}
		before := task.Container
		if task.Completion.Distance, err = ts.Tracks.Way(ctx, w, &task, o.At); err != nil {
			return nil, err
		}
		if task.Completion.LastLocation, err = ts.Tracks.LocationAt(ctx, w, &task, o.At); err != nil {
			return nil, err
		}
		events, err := task.Complete(o, who.Actor())
		if err != nil {
			return nil, err
		}
		if err := ts.saveProgress(ctx, w, task, before, o.At); err != nil {
			return nil, err
		}
		if err := ts.Events.Append(ctx, w, events...); err != nil {
			return nil, err
		}
		return nil, ts.planProgress(ctx, w, task, o.At)
	})
	return err
}

// Delete removes a task that is not started.
func (ts *Tasks) Delete(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) error {
	now := ts.Now()
	for {
		var many []lastmile.TaskID // children, if there are too many for one transaction
		by := who
		err := ts.Store.Write(ctx, func(w TaskWriter) error {
			many = nil
			task, err := w.VisibleTask(ctx, who.Organization, id)
			if err == nil {
				err = checkByHand(task)
			}
			if err != nil {
				return err
			}
			children, err := w.Children(ctx, task.Organization, id, maxAtOnce+1)
			if err != nil {
				return err
			}
			if len(children) > maxAtOnce {
				by, many = inside(who, task.Organization), children[:maxAtOnce]
				return nil
			}
			return ts.remove(ctx, w, who, task, children, now)
		})
		if err != nil || many == nil {
			return err
		}
		if err := ts.release(ctx, who, by, id, many); err != nil {
			return err
		}
	}
}

// checkByHand rejects the deletion of a single task that belongs to an order, and of a
// task that is started.
func checkByHand(task lastmile.Task) error {
	if task.OrderShortID != "" {
		return lastmile.Invalid("task %s belongs to order %s; cancel or reject the order to delete its tasks", task.ID, task.OrderShortID)
	}
	return task.CheckDelete()
}

// remove deletes a task that is not started. Its children no longer depend on it.
func (ts *Tasks) remove(ctx context.Context, w TaskWriter, who lastmile.Principal, task lastmile.Task, children []lastmile.TaskID, now time.Time) error {
	if err := task.CheckDelete(); err != nil {
		return err
	}
	home := inside(who, task.Organization)
	if err := ts.lock(ctx, w, home.Organization, task.Container, now); err != nil {
		return err
	}
	if err := w.DeleteTask(ctx, home.Organization, task.ID); err != nil {
		return err
	}
	events, err := removeDependency(ctx, w, home, task.ID, children, now)
	if err != nil {
		return err
	}
	if err := ts.Events.Append(ctx, w, append([]lastmile.Event{task.DeletionEvent(home.Actor(), now)}, events...)...); err != nil {
		return err
	}
	return ts.planProgress(ctx, w, task, now)
}

// removeDependency removes the task on from the dependencies of tasks, and returns the events.
func removeDependency(ctx context.Context, w TaskWriter, who lastmile.Principal, on lastmile.TaskID, ids []lastmile.TaskID, now time.Time) ([]lastmile.Event, error) {
	tasks, err := w.TasksOf(ctx, who.Organization, ids)
	if err != nil {
		return nil, err
	}
	var events []lastmile.Event
	for _, task := range tasks {
		if !slices.Contains(task.Dependencies, on) {
			continue // another request was faster
		}
		events = append(events, task.RemoveDependency(on, who.Actor(), now))
		if err := w.SaveTask(ctx, task); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// release removes the task on, which who deletes, from the dependencies of children, in several
// transactions, as long as it can be deleted.
func (ts *Tasks) release(ctx context.Context, who, by lastmile.Principal, on lastmile.TaskID, children []lastmile.TaskID) error {
	for some := range slices.Chunk(children, moveChunk) {
		err := ts.Store.Write(ctx, func(w TaskWriter) error {
			task, err := w.VisibleTask(ctx, who.Organization, on)
			if err == nil {
				err = checkByHand(task)
			}
			if err != nil {
				return err
			}
			events, err := removeDependency(ctx, w, by, on, some, ts.Now())
			if err != nil {
				return err
			}
			return ts.Events.Append(ctx, w, events...)
		})
		if lastmile.IsNotFound(err) { // one of them, or the task, was deleted meanwhile
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
