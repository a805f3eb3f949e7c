package messaging

import (
	"cmp"
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// Composer creates the text messages to recipients that events cause.
type Composer struct {
	Store store.Joiner[Writer]
	Now   func() time.Time
	NewID func() string
	Saved func() // called after messages were committed
}

// Notify saves the messages that events cause, in the transaction of the events.
func (c *Composer) Notify(ctx context.Context, tx store.Transaction, events []lastmile.Event) error {
	w, err := c.Store.Join(tx)
	if err != nil {
		return err
	}
	for _, e := range events {
		kind := textmessage.KindFor(e)
		if kind == "" || !textmessage.WantsMessages(e.Task) {
			continue
		}
		m, wanted, err := c.compose(ctx, w, kind, e)
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		if err := w.SaveMessage(ctx, m); err != nil {
			return err
		}
		w.OnCommit(c.Saved)
	}
	return nil
}

// compose returns the message about an event. wanted is false if the organization
// or the recipient has disabled such messages, or if the message would be too late.
func (c *Composer) compose(ctx context.Context, r Reader, kind textmessage.Kind, e lastmile.Event) (m textmessage.Message, wanted bool, err error) {
	task, now := e.Task, c.Now()
	settings, err := r.MessageSettings(ctx, e.Organization)
	if err != nil || !settings.Enabled(textmessage.Occasion{Kind: kind, Pickup: task.Pickup}) {
		return m, false, err
	}
	if _, out, err := r.OptOut(ctx, e.Organization, task.Recipient.Phone); err != nil || out {
		return m, false, err
	}
	notice, err := noticeOf(ctx, r, kind, e, now)
	if err != nil {
		return m, false, err
	}
	if repeated, err := repeats(ctx, r, settings, notice); err != nil || repeated {
		return m, false, err
	}
	m = textmessage.New(lastmile.MessageID(c.NewID()), e.Organization, kind, task.Recipient.Phone, settings.Compose(notice), e.At, now)
	m.Task, m.From = task.ID, settings.From
	return m, m.Body != "" && now.Before(m.Expires), nil
}

// Repeats reports whether the message about an event is omitted because it repeats the
// message that the worker is on the way. Later, the same event may be news.
func (c *Composer) Repeats(ctx context.Context, tx store.Transaction, e lastmile.Event) (bool, error) {
	kind := textmessage.KindFor(e)
	if kind == "" {
		return false, nil
	}
	w, err := c.Store.Join(tx)
	if err != nil {
		return false, err
	}
	settings, err := w.MessageSettings(ctx, e.Organization)
	if err != nil {
		return false, err
	}
	notice, err := noticeOf(ctx, w, kind, e, c.Now())
	if err != nil {
		return false, err
	}
	return repeats(ctx, w, settings, notice)
}

func repeats(ctx context.Context, r Reader, settings textmessage.Settings, notice textmessage.Notice) (bool, error) {
	task := notice.Task
	if !notice.Kind.FollowsStart() {
		return false, nil
	}
	started, found, err := r.MessageAbout(ctx, task.Organization, task.ID, textmessage.KindStarted, task.Recipient.Phone)
	if err != nil || !found {
		return false, err
	}
	promised, err := r.Promised(ctx, task.Organization, task.ID)
	return err == nil && settings.Repeats(notice, started, promised), err
}

// noticeOf returns what the message about an event says.
func noticeOf(ctx context.Context, r Reader, kind textmessage.Kind, e lastmile.Event, now time.Time) (notice textmessage.Notice, err error) {
	task := *e.Task
	task.Estimates.ETA = cmp.Or(e.ETA, task.Estimates.ETA)
	task.Estimates.Delay = cmp.Or(e.Delay, task.Estimates.Delay)
	notice = textmessage.Notice{Kind: kind, Task: task, Now: now}
	if notice.Merchant, err = r.Organization(ctx, task.Merchant); err != nil {
		return notice, err
	}
	notice.Country = notice.Merchant.Country
	if task.Merchant != e.Organization {
		own, err := r.Organization(ctx, e.Organization)
		if err != nil {
			return notice, err
		}
		notice.Country = own.Country
	}
	notice.Worker, err = workerName(ctx, r, e)
	return notice, err
}

// workerName returns the name of a task's worker that is shown to recipients, or an
// empty string if the task no longer has a worker.
func workerName(ctx context.Context, r Reader, e lastmile.Event) (string, error) {
	worker := e.Worker
	if worker == nil {
		if e.Task.Worker == "" {
			return "", nil
		}
		found, err := r.Worker(ctx, e.Organization, e.Task.Worker)
		if lastmile.IsNotFound(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		worker = &found
	}
	return worker.ShownName(), nil
}
