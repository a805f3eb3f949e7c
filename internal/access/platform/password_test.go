package platform_test

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

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

// oldHash returns the hash of a password with a cost and a size that were used before.
func oldHash(password string) string {
	const salt = "a salt of before"
	encode := base64.RawStdEncoding.EncodeToString
	return "$argon2id$v=19$m=128,t=2,p=1$" + encode([]byte(salt)) + "$" + encode(argon2.IDKey([]byte(password), []byte(salt), 2, 128, 1, 16))
}

// isCurrent reports whether the stored hash has the cost and the size of new ones.
func (i *invited) isCurrent(t *testing.T) bool {
	t.Helper()
	_, outdated, err := i.Sessions.Passwords.Verify(chosen, i.hash(t))
	if err != nil {
		t.Fatal(err)
	}
	return !outdated
}

func TestHashesOfOldCostAreVerifiedAndReplaced(t *testing.T) {
	i := invite(t)
	i.Write(t, func(w *sqlstore.Tx) error {
		return w.SaveCredential(t.Context(), store.Credential{
			Organization: i.worker.Organization, Worker: i.worker.Worker, Hash: oldHash(chosen),
		})
	})
	_, _, err := i.signIn(t.Context(), "guess")
	expectCode(t, err, lastmile.CodeUnauthenticated)
	if i.isCurrent(t) {
		t.Fatal("a wrong password changes the hash")
	}
	for range 2 {
		if _, _, err := i.signIn(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		if !i.isCurrent(t) {
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
