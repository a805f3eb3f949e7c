package taskflow

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/trackingpage"
)

// Follow returns the tracking page of a task for callers that have its link.
func (f *Flow) Follow(ctx context.Context, token string) (shown trackingpage.Page, err error) {
	now := f.Now()
	err = f.Store.Read(ctx, func(r store.Reader) error {
		task, err := taskByLink(ctx, r, token)
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

// taskByLink reads a task by the token of its tracking link.
func taskByLink(ctx context.Context, r store.Reader, token string) (lastmile.Task, error) {
	if !lastmile.ValidID(token) {
		return lastmile.Task{}, trackingpage.NotFound()
	}
	task, err := r.TaskByToken(ctx, token)
	if lastmile.IsNotFound(err) {
		err = trackingpage.NotFound()
	}
	return task, err
}

// View records that a task's tracking page was opened.
func (f *Flow) View(ctx context.Context, token string) error {
	return f.recipientUpdate(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.View(f.Now()), nil })
}

// Rate stores the recipient's feedback on a completed task.
func (f *Flow) Rate(ctx context.Context, token string, said lastmile.Feedback) error {
	return f.recipientUpdate(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.Rate(said, f.Now()) })
}

// recipientUpdate changes a task on behalf of its recipient, while the task has a
// tracking page.
func (f *Flow) recipientUpdate(ctx context.Context, token string, change func(*lastmile.Task) ([]lastmile.Event, error)) error {
	return f.Store.Write(ctx, func(w store.Writer) error {
		task, err := taskByLink(ctx, w, token)
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
