package access_test

import (
	"context"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// invited is a worker with a temporary password.
type invited struct {
	*apptest.Org
	worker   lastmile.Principal
	phone    string
	password string
}

func invite(t *testing.T) *invited {
	t.Helper()
	o := apptest.NewOrg(t)
	i := &invited{Org: o, worker: o.Worker(t, "Ada", nil)}
	password, credential, err := access.NewPasswords(1).Temporary(t.Context(), i.worker.Organization, i.worker.Worker, o.Now())
	if err != nil {
		t.Fatal(err)
	}
	i.password = password
	o.Write(t, func(w *sqlstore.Tx) error {
		worker, err := w.Worker(t.Context(), i.worker.Organization, i.worker.Worker)
		if err != nil {
			return err
		}
		i.phone = string(worker.Phone)
		return w.SaveCredential(t.Context(), credential)
	})
	return i
}

// signIn signs in and returns the principal of the session.
func (i *invited) signIn(ctx context.Context, password string) (access.SignedIn, lastmile.Principal, error) {
	session, err := i.Sessions.SignIn(ctx, i.phone, password)
	if err != nil {
		return session, lastmile.Principal{}, err
	}
	who, err := i.Sessions.Authenticate(ctx, session.Token)
	return session, who, err
}

func TestSetPassword(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	session, who, err := i.signIn(ctx, i.password)
	if err != nil || !session.MustSetPassword || !who.MustSetPassword || who.Worker != i.worker.Worker || who.Organization != i.worker.Organization {
		t.Fatalf("signed in as %+v: %v", who, err)
	}
	other, _, err := i.signIn(ctx, i.password)
	if err != nil {
		t.Fatal(err)
	}
	expectCode(t, i.Sessions.SetPassword(ctx, who, i.password), lastmile.CodeInvalid) // the temporary one
	expectCode(t, i.Sessions.SetPassword(ctx, who, "short"), lastmile.CodeInvalid)
	expectCode(t, i.Sessions.SetPassword(ctx, who, "          "), lastmile.CodeInvalid)
	const password = "correct horse battery"
	i.Triggers(t)
	if err := i.Sessions.SetPassword(ctx, who, password); err != nil {
		t.Fatal(err)
	}
	if got := i.Triggers(t); len(got) != 1 || got[0] != "workerUpdated" {
		t.Errorf("the events are %v, want that the worker accepted the invitation", got)
	}
	_, err = i.Sessions.Authenticate(ctx, other.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated) // other sessions end
	if who, err = i.Sessions.Authenticate(ctx, session.Token); err != nil || who.MustSetPassword {
		t.Errorf("the session that set the password is %+v: %v", who, err)
	}
	_, _, err = i.signIn(ctx, i.password)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if session, _, err := i.signIn(ctx, password); err != nil || session.MustSetPassword {
		t.Errorf("signed in with the new password as %+v: %v", session, err)
	}
}

func TestTemporaryPasswordExpires(t *testing.T) {
	i := invite(t)
	i.Advance(access.TemporaryPasswordLifetime)
	if _, _, err := i.signIn(t.Context(), i.password); err != nil {
		t.Errorf("at the last moment: %v", err)
	}
	i.Advance(time.Millisecond)
	_, _, err := i.signIn(t.Context(), i.password)
	expectCode(t, err, lastmile.CodeUnauthenticated)
}

func TestTemporaryPasswordEndsAfterFiveGuesses(t *testing.T) {
	i := invite(t)
	for range 5 {
		_, _, err := i.signIn(t.Context(), "guess")
		expectCode(t, err, lastmile.CodeUnauthenticated)
	}
	i.Advance(time.Hour)
	_, _, err := i.signIn(t.Context(), i.password)
	expectCode(t, err, lastmile.CodeUnauthenticated)
}

func TestPasswordIsLockedAfterGuesses(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	const password = "correct horse battery"
	_, who, err := i.signIn(ctx, i.password)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Sessions.SetPassword(ctx, who, password); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, _, err := i.signIn(ctx, "guess")
		expectCode(t, err, lastmile.CodeUnauthenticated)
	}
	_, _, err = i.signIn(ctx, password)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	i.Advance(time.Second)
	if _, _, err := i.signIn(ctx, password); err != nil {
		t.Errorf("after a second: %v", err)
	}
	// The right password has reset the count.
	_, _, err = i.signIn(ctx, "guess")
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if _, _, err := i.signIn(ctx, password); err != nil {
		t.Errorf("after one wrong guess: %v", err)
	}
}

func TestSignInRejectsUnknownNumbers(t *testing.T) {
	o := apptest.NewOrg(t)
	_, err := o.Sessions.SignIn(t.Context(), string(apptest.Phone()), "password")
	expectCode(t, err, lastmile.CodeUnauthenticated)
	_, err = o.Sessions.SignIn(t.Context(), "212 555 0100", "password")
	expectCode(t, err, lastmile.CodeInvalid)
}

func TestUnusedSessionExpires(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	session, _, err := i.signIn(ctx, i.password)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // each use extends the session
		i.Advance(access.SessionLifetime - time.Hour)
		if _, err := i.Sessions.Authenticate(ctx, session.Token); err != nil {
			t.Fatal(err)
		}
	}
	i.Advance(access.SessionLifetime + time.Hour)
	_, err = i.Sessions.Authenticate(ctx, session.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	_, err = i.Sessions.Authenticate(ctx, "short")
	expectCode(t, err, lastmile.CodeUnauthenticated)
}

func TestTrackerTokenIsReplaced(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	first, err := i.Sessions.NewTracker(ctx, i.worker)
	if err != nil {
		t.Fatal(err)
	}
	who, err := i.Sessions.AuthenticateTracker(ctx, first)
	if err != nil || who.Worker != i.worker.Worker || who.Organization != i.worker.Organization {
		t.Errorf("the tracker is of %+v: %v", who, err)
	}
	_, err = i.Sessions.Authenticate(ctx, first)
	expectCode(t, err, lastmile.CodeUnauthenticated) // it is not the token of a session
	second, err := i.Sessions.NewTracker(ctx, i.worker)
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.Sessions.AuthenticateTracker(ctx, first)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if err := i.Sessions.EndTracker(ctx, i.worker); err != nil {
		t.Fatal(err)
	}
	_, err = i.Sessions.AuthenticateTracker(ctx, second)
	expectCode(t, err, lastmile.CodeUnauthenticated)
}
