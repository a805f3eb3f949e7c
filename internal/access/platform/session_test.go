package platform_test

import (
	"context"
	"strings"
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
	password, credential := access.NewPasswords().Temporary(i.worker.Organization, i.worker.Worker, o.Now())
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

// Networks of the worker, and of a stranger who knows the phone number.
const (
	home     = "198.51.100.7"
	stranger = "203.0.113.9"
)

// chosen is a password that the worker chose.
const chosen = "correct horse battery"

// accept signs in with the temporary password and sets another.
func (i *invited) accept(t *testing.T) (access.SignedIn, lastmile.Principal) {
	t.Helper()
	session, who, err := i.signIn(t.Context(), i.password)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Sessions.SetPassword(t.Context(), who, home, "", chosen); err != nil {
		t.Fatal(err)
	}
	if who, err = i.Sessions.Authenticate(t.Context(), session.Token); err != nil {
		t.Fatal(err)
	}
	return session, who
}

// guess makes wrong guesses from a network and returns how many were verified.
func (i *invited) guess(t *testing.T, network string, times int) (verified int) {
	t.Helper()
	for range times {
		_, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: "guess", Network: network})
		switch apptest.Code(err) {
		case lastmile.CodeUnauthenticated:
			verified++
		case lastmile.CodeTooMany:
		default:
			t.Fatalf("a wrong guess: %v", err)
		}
	}
	return verified
}

// signIn signs in and returns the principal of the session.
func (i *invited) signIn(ctx context.Context, password string) (access.SignedIn, lastmile.Principal, error) {
	session, err := i.Sessions.SignIn(ctx, access.SignInAttempt{Phone: i.phone, Password: password, Network: home})
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
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, "", i.password), lastmile.CodeInvalid) // the temporary one
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, "", "short"), lastmile.CodeInvalid)
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, "", "          "), lastmile.CodeInvalid)
	const password = "correct horse battery"
	i.Triggers(t)
	if err := i.Sessions.SetPassword(ctx, who, home, "", password); err != nil {
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

func TestSignInRejectsUnknownNumbers(t *testing.T) {
	o := apptest.NewOrg(t)
	unknown := apptest.Phone()
	_, err := o.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: string(unknown), Password: "password"})
	expectCode(t, err, lastmile.CodeUnauthenticated)
	for name, c := range map[string]struct {
		phone, password string
		want            lastmile.Code
	}{
		"no country":      {"212 555 0100", "password", lastmile.CodeUnauthenticated},
		"valid nowhere":   {"12", "password", lastmile.CodeInvalid},
		"no phone":        {"", "password", lastmile.CodeMalformed},
		"no password":     {string(unknown), "", lastmile.CodeMalformed},
		"a long phone":    {strings.Repeat("1", 65), "password", lastmile.CodeInvalid},
		"a long password": {string(unknown), strings.Repeat("ä", access.MaxPassword+1), lastmile.CodeInvalid},
	} {
		_, err := o.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: c.phone, Password: c.password})
		if apptest.Code(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A number without a country code is one of the country of the organization that
// the worker belongs to.
func TestSignInWithNationalNumber(t *testing.T) {
	i := invite(t)
	national, ok := strings.CutPrefix(i.phone, "+1")
	if !ok {
		t.Fatalf("%s is not of the organization's country", i.phone)
	}
	for _, phone := range []string{national, "(" + national[:3] + ") " + national[3:6] + "-" + national[6:], "1" + national} {
		begun, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: phone, Password: i.password, Network: home})
		if err != nil || begun.Principal.Worker != i.worker.Worker {
			t.Errorf("%s: %v", phone, err)
		}
	}
	// The same digits as they are dialed elsewhere are another number.
	_, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: "+49" + national, Password: i.password, Network: home})
	if err == nil {
		t.Error("signed in with a number of another country")
	}
	if verified := i.guess(t, stranger, 9); verified != 5 {
		t.Errorf("%d guesses verified", verified)
	}
	_, err = i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: national, Password: "guess", Network: stranger})
	expectCode(t, err, lastmile.CodeTooMany)
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
