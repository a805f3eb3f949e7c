package access_test

import (
	"slices"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// hash returns the stored hash of the worker's password.
func (i *invited) hash(t *testing.T) (hash string) {
	t.Helper()
	i.Read(t, func(r *sqlstore.Tx) error {
		known, err := r.CredentialsByPhone(t.Context(), lastmile.Phone(i.phone))
		at := slices.IndexFunc(known, func(c store.Credential) bool { return c.Worker == i.worker.Worker })
		hash = known[at].Hash
		return err
	})
	return hash
}

func TestHashesOfOldCostAreVerifiedAndReplaced(t *testing.T) {
	i := invite(t)
	i.Write(t, func(w *sqlstore.Tx) error {
		return w.SaveCredential(t.Context(), store.Credential{
			Organization: i.worker.Organization, Worker: i.worker.Worker, Hash: access.OldHash(chosen),
		})
	})
	_, _, err := i.signIn(t.Context(), "guess")
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if access.IsCurrentHash(i.hash(t)) {
		t.Fatal("a wrong password changes the hash")
	}
	for range 2 {
		if _, _, err := i.signIn(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		if !access.IsCurrentHash(i.hash(t)) {
			t.Error("the hash was not replaced")
		}
	}
	before := i.hash(t)
	if _, _, err := i.signIn(t.Context(), chosen); err != nil || i.hash(t) != before {
		t.Errorf("a hash of today's cost was replaced: %v", err)
	}
}

func TestChangingThePasswordNeedsTheOldOne(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	session, who := i.accept(t)
	thief, _, err := i.signIn(ctx, chosen)
	if err != nil {
		t.Fatal(err)
	}
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, "", "battery staple"), lastmile.CodeMalformed)
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, "wrong password", "battery staple"), lastmile.CodeInvalid)
	if err := i.Sessions.SetPassword(ctx, who, home, chosen, "battery staple"); err != nil {
		t.Fatal(err)
	}
	if err := i.Sessions.SetPassword(ctx, who, home, "", "battery staple"); err != nil {
		t.Errorf("a repeated request: %v", err)
	}
	if _, err := i.Sessions.Authenticate(ctx, session.Token); err != nil {
		t.Errorf("the session that changed the password has ended: %v", err)
	}
	_, err = i.Sessions.Authenticate(ctx, thief.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	_, _, err = i.signIn(ctx, chosen)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	for n := range 7 { // guesses of the old password are limited as well
		err := i.Sessions.SetPassword(ctx, who, home, "wrong password", "another password")
		want := lastmile.CodeInvalid
		if n >= 5 {
			want = lastmile.CodeTooMany
		}
		expectCode(t, err, want)
	}
}

func TestSignOut(t *testing.T) {
	i := invite(t)
	ctx := t.Context()
	session, who := i.accept(t)
	other, _, err := i.signIn(ctx, chosen)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Sessions.SignOut(ctx, who); err != nil {
		t.Fatal(err)
	}
	_, err = i.Sessions.Authenticate(ctx, session.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	// A request that was authenticated before cannot revive the session.
	expectCode(t, i.Sessions.SetPassword(ctx, who, home, chosen, "battery staple"), lastmile.CodeUnauthenticated)
	_, err = i.Sessions.Authenticate(ctx, session.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	whoElse, err := i.Sessions.Authenticate(ctx, other.Token)
	if err != nil {
		t.Fatalf("another session has ended: %v", err)
	}
	tracker, err := i.Sessions.NewTracker(ctx, whoElse)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Sessions.SignOutEverywhere(ctx, whoElse); err != nil {
		t.Fatal(err)
	}
	_, err = i.Sessions.Authenticate(ctx, other.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	_, err = i.Sessions.AuthenticateTracker(ctx, tracker)
	expectCode(t, err, lastmile.CodeUnauthenticated)
}

func TestOldestSessionsEnd(t *testing.T) {
	i := invite(t)
	first, _ := i.accept(t)
	var last access.SignedIn
	for range access.MaxSessions {
		i.Advance(time.Millisecond)
		var err error
		if last, _, err = i.signIn(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
	}
	_, err := i.Sessions.Authenticate(t.Context(), first.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if _, err := i.Sessions.Authenticate(t.Context(), last.Token); err != nil {
		t.Errorf("the newest session has ended: %v", err)
	}
}
