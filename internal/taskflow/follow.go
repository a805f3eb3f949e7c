package taskflow

import (
	"context"
	"slices"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/trackingpage"
)

// Pages shows tasks to their recipients and stores what they report.
type Pages struct {
	Base
	Store    PageStore
	Hub      *events.Hub
	Feedback *rate.Limiter // see NewFeedbackLimit

	ParsePhone func(raw, country string) (lastmile.Phone, error)
}

// Follow returns the tracking page of a task to a caller who has its link.
func (ps *Pages) Follow(ctx context.Context, token string) (trackingpage.Page, error) {
	p := TaskFollower{pages: ps, token: token}
	if err := p.read(ctx); err != nil {
		return trackingpage.Page{}, err
	}
	return p.Show()
}

// TaskFollower is an open tracking page. Its data is read only when it has changed.
type TaskFollower struct {
	pages     *Pages
	token     string
	following *events.Subscription

	task     lastmile.Task
	merchant lastmile.Organization
	settings lastmile.PageSettings // settings of the merchant
	newTimes bool                  // the organization of the task offers other times
	worker   *lastmile.Worker      // nil unless the task is assigned or active
}

// FollowTask opens the tracking page of a task. It must be closed.
func (ps *Pages) FollowTask(ctx context.Context, token string) (*TaskFollower, error) {
	p := &TaskFollower{pages: ps, token: token, following: ps.Hub.Subscribe()}
	if err := p.Read(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Organization returns the organization of the task.
func (p *TaskFollower) Organization() lastmile.OrganizationID { return p.task.Organization }

// Close ends the subscription of the page.
func (p *TaskFollower) Close() { p.following.Close() }

// Changed returns a channel that receives a value when the page must be read
// again.
func (p *TaskFollower) Changed() <-chan struct{} { return p.following.Changed() }

// Read reads the data of the page. The topics that it follows depend on the task. If
// they have changed, Read follows the new ones and reads again, so that no change in
// between is missed.
func (p *TaskFollower) Read(ctx context.Context) error {
	for {
		before := p.topics()
		if err := p.read(ctx); err != nil {
			return err
		}
		now := p.topics()
		if slices.Equal(before, now) {
			return nil
		}
		p.following.Follow(now...)
	}
}

// topics returns the topics that the page follows.
func (p *TaskFollower) topics() []events.Topic {
	topics := []events.Topic{events.TaskTopic(p.task.ID)}
	if p.task.State == lastmile.TaskActive { // else its worker's positions do not matter
		topics = append(topics, events.WorkerTopic(p.task.Worker))
	}
	return topics
}

// read reads the page once.
func (p *TaskFollower) read(ctx context.Context) error {
	return p.pages.Store.Read(ctx, func(r PageReader) (err error) {
		if p.task, err = taskByLink(ctx, r, p.token); err != nil {
			return err
		}
		if err = p.readSettings(ctx, r); err != nil {
			return err
		}
		p.worker = nil
		if p.task.State != lastmile.TaskActive && p.task.State != lastmile.TaskAssigned {
			return nil
		}
		worker, err := r.Worker(ctx, p.task.Organization, p.task.Worker)
		p.worker = &worker
		return err
	})
}

// Show returns the page as of now, from the data of the last Read. The page changes with
// time even if the data does not.
func (p *TaskFollower) Show() (trackingpage.Page, error) {
	now := p.pages.Now()
	page, err := trackingpage.New(&p.task, p.merchant, p.worker, now)
	if err == nil {
		page.Customize(&p.task, p.settings, p.newTimes, now)
	}
	return page, err
}

// readSettings reads the organization that the page shows, and its settings for the
// page. The organization of the task handles requests for another time, so its settings
// determine whether the page offers other times.
func (p *TaskFollower) readSettings(ctx context.Context, r PageReader) (err error) {
	if p.merchant, err = r.Organization(ctx, p.task.Merchant); err != nil {
		return err
	}
	if p.settings, err = r.PageSettings(ctx, p.task.Merchant); err != nil {
		return err
	}
	own := p.settings
	if p.task.Organization != p.task.Merchant {
		own, err = r.PageSettings(ctx, p.task.Organization)
	}
	p.newTimes = own.NewTimes
	return err
}

// taskByLink reads a task by the token of its tracking link.
func taskByLink(ctx context.Context, r PageReader, token string) (lastmile.Task, error) {
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
func (ps *Pages) View(ctx context.Context, token string) error {
	return ps.recipientUpdate(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.View(ps.Now()), nil })
}

// recipientUpdate changes a task on behalf of its recipient, while the task has a
// tracking page.
func (ps *Pages) recipientUpdate(ctx context.Context, token string, change func(*lastmile.Task) ([]lastmile.Event, error)) error {
	return ps.Store.Write(ctx, func(w PageWriter) error {
		task, err := taskByLink(ctx, w, token)
		if err != nil {
			return err
		}
		if _, err := trackingpage.New(&task, lastmile.Organization{}, nil, ps.Now()); err != nil {
			return err
		}
		events, err := change(&task)
		if err != nil || len(events) == 0 {
			return err
		}
		if err := w.SaveTask(ctx, task); err != nil {
			return err
		}
		return ps.Events.Append(ctx, w, events...)
	})
}
