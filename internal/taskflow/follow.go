package taskflow

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/trackingpage"
)

// Follow shows a task to whoever has the link to its page.
func (f *Flow) Follow(ctx context.Context, token string) (shown trackingpage.Page, err error) {
	now := f.Now()
	err = f.Store.Read(ctx, func(r store.Reader) error {
		task, err := followed(ctx, r, token)
		if err != nil {
			return err
		}
		merchant, err := r.Organization(ctx, task.Merchant)
		if err != nil {
			return err
		}
		var worker *lastmile.Worker
		if task.State == lastmile.TaskActive {
			found, err := r.Worker(ctx, task.Organization, task.Worker)
			if err != nil {
				return err
			}
			worker = &found
		}
		shown, err = trackingpage.New(&task, merchant, worker, now)
		return err
	})
	return shown, err
}

// followed finds a task by what its link says.
func followed(ctx context.Context, r store.Reader, token string) (lastmile.Task, error) {
	if !lastmile.ValidID(token) {
		return lastmile.Task{}, trackingpage.NotFound()
	}
	task, err := r.TaskByToken(ctx, token)
	if lastmile.IsNotFound(err) {
		err = trackingpage.NotFound()
	}
	return task, err
}

// View notes that somebody opened a task's page.
func (f *Flow) View(ctx context.Context, token string) error {
	return f.heard(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.View(f.Now()), nil })
}

// Rate keeps what the recipient says of a completed task.
func (f *Flow) Rate(ctx context.Context, token string, said lastmile.Feedback) error {
	return f.heard(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.Rate(said, f.Now()) })
}

// heard lets a recipient change a task whose page is there.
func (f *Flow) heard(ctx context.Context, token string, change func(*lastmile.Task) ([]lastmile.Event, error)) error {
	return f.Store.Write(ctx, func(w store.Writer) error {
		task, err := followed(ctx, w, token)
		if err != nil {
			return err
		}
		if _, err := trackingpage.New(&task, lastmile.Organization{}, nil, f.Now()); err != nil {
			return err
		}
		events, err := change(&task)
		if err != nil || len(events) == 0 {
			return err
		}
		if err := w.SaveTask(ctx, task); err != nil {
			return err
		}
		return f.tell(ctx, w, events)
	})
}
