package fleet

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// invitation returns a function that saves a new temporary password of a worker
// and the text message that contains it.
func (f *Fleet) invitation(org lastmile.Organization, worker lastmile.Worker, now time.Time) func(context.Context, Writer) error {
	password, credential := f.Passwords.Temporary(org.ID, worker.ID, now)
	message := textmessage.NewInvitation(lastmile.MessageID(f.NewID()), org, worker, password, f.AppURL, now)
	return func(ctx context.Context, w Writer) error {
		if err := w.SaveCredential(ctx, credential); err != nil {
			return err
		}
		if err := w.SaveMessage(ctx, message); err != nil {
			return err
		}
		w.OnCommit(f.Messages.Signal)
		return nil
	}
}

// Invite sends a worker another temporary password. The previous password, even
// one that the worker chose, is no longer valid, the worker's sessions end, and
// failed attempts to sign in no longer count.
func (f *Fleet) Invite(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) (lastmile.Worker, error) {
	org, err := f.organization(ctx, who)
	if err != nil {
		return lastmile.Worker{}, err
	}
	var worker lastmile.Worker
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		worker, err = r.Worker(ctx, who.Organization, id)
		return err
	})
	if err != nil {
		return worker, err
	}
	if err := f.Invitations.Check(ctx, org.ID, worker.Phone); err != nil {
		return worker, err
	}
	invite := f.invitation(org, worker, f.Now())
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Worker, error) {
		worker, err := w.Worker(ctx, who.Organization, id)
		if err != nil {
			return worker, err
		}
		if err := w.DeleteSessions(ctx, who.Organization, id, ""); err != nil {
			return worker, err
		}
		if err := w.ResetSignInAllowances(ctx, worker.Phone); err != nil {
			return worker, err
		}
		return worker, invite(ctx, w)
	})
}

// SignOut ends all sessions of a worker, and the token of the worker's tracker app.
func (f *Fleet) SignOut(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) error {
	return f.Store.Write(ctx, func(w Writer) error {
		if _, err := w.Worker(ctx, who.Organization, id); err != nil {
			return err
		}
		if err := w.DeleteSessions(ctx, who.Organization, id, ""); err != nil {
			return err
		}
		return w.DeleteTracker(ctx, who.Organization, id)
	})
}
