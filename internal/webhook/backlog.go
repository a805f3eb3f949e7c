package webhook

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// Clearing is the kind of jobs that give up the pending notifications of a disabled
// webhook, or delete all notifications of a deleted one. The id of the job is that of the
// webhook. While a disabled webhook has such a job, nothing is sent to it, and it cannot be
// enabled; see finishClearing.
const Clearing work.Kind = "webhookClearing"

// clearedAtOnce is the maximum number of notifications that one transaction gives up, and
// about the number of notifications, attempts and thresholds that one transaction deletes,
// so that other writers do not wait long. A webhook may have millions.
const clearedAtOnce = 1_000

// maxPortions is the maximum number of such transactions in a request that needs the webhook to
// be cleared.
const maxPortions = 100

// errClearing returns the error of a request that would need more than maxPortions transactions.
func errClearing(id lastmile.WebhookID) error {
	return lastmile.Overloaded("webhook %s has too many notifications from before it was disabled: they are being given up; try again", id)
}

// errLeft aborts the transaction that would end a job while notifications are left.
var errLeft = errors.New("notifications are left")

// addClearing adds the job of a webhook, unless it has one.
func addClearing(ctx context.Context, w Writer, org lastmile.OrganizationID, id lastmile.WebhookID, now time.Time) error {
	exists, err := w.HasJob(ctx, org, string(id))
	if err != nil || exists {
		return err
	}
	return w.AddJob(ctx, work.Job{Organization: org, ID: string(id), Kind: Clearing, Due: now, Created: now})
}

// giveUp gives up the pending notifications of a disabled webhook: up to most in this
// transaction, and the others in a job. It returns how many it gave up.
func giveUp(ctx context.Context, w Writer, h lastmile.Webhook, most int, now time.Time) (int, error) {
	n, err := w.GiveUpNotifications(ctx, h.Organization, h.ID, most)
	if err != nil || n < most {
		return n, err
	}
	return n, addClearing(ctx, w, h.Organization, h.ID, now)
}

// finishClearing does a part of the job of a disabled webhook, if it has one, and reports
// whether the job is finished: notifications that become pending from then on are sent.
func finishClearing(ctx context.Context, w Writer, org lastmile.OrganizationID, id lastmile.WebhookID) (bool, error) {
	exists, err := w.HasJob(ctx, org, string(id))
	if err != nil || !exists {
		return err == nil, err
	}
	n, err := w.GiveUpNotifications(ctx, org, id, clearedAtOnce)
	if err != nil || n == clearedAtOnce {
		return false, err
	}
	return true, w.DeleteJob(ctx, org, string(id))
}

// finishClearing finishes the job of a webhook, if it has one, so that the job does not give
// up notifications that the caller makes pending.
func (r *Registry) finishClearing(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error {
	clearing := false
	err := r.Store.Read(ctx, func(tx Reader) (err error) {
		if _, err := tx.Webhook(ctx, org, id); err != nil {
			return err
		}
		clearing, err = tx.HasJob(ctx, org, string(id))
		return err
	})
	for portions := 0; err == nil && clearing; portions++ {
		if portions == maxPortions {
			return errClearing(id)
		}
		err = r.Store.Write(ctx, func(w Writer) error {
			if _, err := w.Webhook(ctx, org, id); err != nil {
				return err
			}
			cleared, err := finishClearing(ctx, w, org, id)
			clearing = !cleared
			return err
		})
	}
	return err
}

// Clear runs a job of the kind Clearing. It may be killed at any time: another run does
// the rest.
func (r *Registry) Clear(ctx context.Context, l *work.Lease) (work.End[Writer], error) {
	for more := true; more; {
		err := r.Store.Write(ctx, func(w Writer) (err error) {
			if err := l.Hold(ctx, w, r.Now()); err != nil {
				return err
			}
			more, err = clearSome(ctx, w, l.Organization, lastmile.WebhookID(l.ID))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, w Writer) error {
		more, err := clearSome(ctx, w, l.Organization, lastmile.WebhookID(l.ID))
		if err == nil && more {
			err = errLeft
		}
		return err
	}, nil
}

// clearSome does a part of the job of a webhook, and reports whether there may be more.
func clearSome(ctx context.Context, w Writer, org lastmile.OrganizationID, id lastmile.WebhookID) (more bool, err error) {
	hook, err := w.Webhook(ctx, org, id)
	switch {
	case lastmile.IsNotFound(err):
		return w.DeleteNotifications(ctx, org, id, clearedAtOnce)
	case err != nil || hook.Enabled:
		return false, err
	}
	n, err := w.GiveUpNotifications(ctx, org, id, clearedAtOnce)
	return n == clearedAtOnce, err
}
