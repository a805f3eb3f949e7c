package fleet

import (
	"context"
	"net/url"
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
	org, worker, err := f.invited(ctx, who, id)
	if err != nil {
		return worker, err
	}
	if err := f.Invitations.Check(ctx, org.ID, worker.Phone); err != nil {
		return worker, err
	}
	invite := f.invitation(org, worker, f.Now())
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Worker, error) {
		worker, err := lockOut(ctx, w, who, id)
		if err != nil {
			return worker, err
		}
		return worker, invite(ctx, w)
	})
}

// Invitation is what a worker needs to sign in.
type Invitation struct {
	Link     string // opens the app and fills in the phone number and the password
	Phone    lastmile.Phone
	Password string // temporary
	Expires  time.Time
}

// ShowInvitation returns another temporary password of a worker, for a caller that
// hands it over without a text message. Otherwise it does what Invite does.
func (f *Fleet) ShowInvitation(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) (Invitation, error) {
	org, worker, err := f.invited(ctx, who, id)
	if err != nil {
		return Invitation{}, err
	}
	password, credential := f.Passwords.Temporary(org.ID, worker.ID, f.Now())
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (Invitation, error) {
		worker, err := lockOut(ctx, w, who, id)
		if err != nil {
			return Invitation{}, err
		}
		// The fragment is not sent to the server.
		link := f.AppURL + "#/invitation/" + url.PathEscape(string(worker.Phone)) + "/" + password
		return Invitation{Link: link, Phone: worker.Phone, Password: password, Expires: credential.Expires}, w.SaveCredential(ctx, credential)
	})
}

// invited returns the worker of an invitation and the organization.
func (f *Fleet) invited(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) (org lastmile.Organization, worker lastmile.Worker, err error) {
	if org, err = f.organization(ctx, who); err != nil {
		return org, worker, err
	}
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		worker, err = r.Worker(ctx, who.Organization, id)
		return err
	})
	return org, worker, err
}

// lockOut ends the sessions of a worker who gets a new password, and resets the count
// of failed attempts to sign in.
func lockOut(ctx context.Context, w Writer, who lastmile.Principal, id lastmile.WorkerID) (lastmile.Worker, error) {
	worker, err := w.Worker(ctx, who.Organization, id)
	if err != nil {
		return worker, err
	}
	if err := w.DeleteSessions(ctx, who.Organization, id, ""); err != nil {
		return worker, err
	}
	return worker, w.ResetSignInAllowances(ctx, worker.Phone)
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
