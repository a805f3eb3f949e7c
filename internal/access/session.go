package access

import (
	"context"
	"errors"
	"strings"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// The limits of workers' sessions and passwords.
const (
	SessionLifetime    = 30 * 24 * time.Hour // since the last use
	MinPassword        = 8                   // characters
	MaxPassword        = 200
	maxSignInFailures  = 5 // then a temporary password is invalid, and any other is locked
	maxSignInWait      = 15 * time.Minute
	sessionUseRecorded = time.Hour
	sessionTokenLength = 43
)

// Sessions signs workers in and authenticates them.
type Sessions struct {
	Store      store.Transactor[Reader, Writer]
	Events     *events.Log
	Passwords  *Passwords
	Now        func() time.Time
	NewID      func() string
	ParsePhone func(raw, country string) (lastmile.Phone, error)
}

// SignedIn is a new session. The token is never shown again.
type SignedIn struct {
	Token           string
	MustSetPassword bool
	Principal       lastmile.Principal
}

// errSignIn is the error for every failed attempt to sign in: callers must not
// learn why it failed.
func errSignIn() error {
	rejected := lastmile.Unauthenticated()
	rejected.Message = "The phone number or the password is wrong, or the password has expired."
	return rejected
}

// SignIn starts a session of the worker with a phone number and password.
func (s *Sessions) SignIn(ctx context.Context, phone, password string) (SignedIn, error) {
	number, err := s.ParsePhone(phone, "")
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		return SignedIn{}, rejected.Because("give it in international form with a leading +")
	}
	if err != nil {
		return SignedIn{}, err
	}
	now := s.Now()
	var known []store.Credential
	err = s.Store.Read(ctx, func(r Reader) (err error) {
		known, err = r.CredentialsByPhone(ctx, number)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	if len(known) == 0 {
		// An unknown number must take as long as a wrong password.
		if _, err := s.Passwords.Hash(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	for _, c := range known {
		if denied(c, now) {
			continue
		}
		right, err := s.Passwords.Verify(ctx, password, c.Hash)
		if err != nil {
			return SignedIn{}, err
		}
		if right {
			return s.start(ctx, number, c, now)
		}
		if err := s.Store.Write(ctx, func(w Writer) error { return saveFailure(ctx, w, number, c, now) }); err != nil {
			return SignedIn{}, err
		}
	}
	return SignedIn{}, errSignIn()
}

// denied reports whether a password is not even verified: a temporary one that
// has expired or was guessed at, or another that is locked after guesses.
func denied(c store.Credential, now time.Time) bool {
	if c.Temporary {
		return now.After(c.Expires) || c.Failures >= maxSignInFailures
	}
	return now.Before(c.LockedUntil)
}

// saveFailure counts a wrong password. After a few, the password is locked, each
// time for twice as long.
func saveFailure(ctx context.Context, w Writer, number lastmile.Phone, c store.Credential, now time.Time) error {
	c, err := reload(ctx, w, number, c)
	if err != nil {
		return err
	}
	c.Failures++
	if over := c.Failures - maxSignInFailures; !c.Temporary && over >= 0 {
		c.LockedUntil = now.Add(min(time.Second<<min(over, 20), maxSignInWait))
	}
	return w.SaveCredential(ctx, c)
}

// reload reads a credential again, in a transaction. If its password has changed,
// the one that was verified is wrong.
func reload(ctx context.Context, r Reader, number lastmile.Phone, c store.Credential) (store.Credential, error) {
	known, err := r.CredentialsByPhone(ctx, number)
	if err != nil {
		return c, err
	}
	for _, k := range known {
		if k.Organization == c.Organization && k.Worker == c.Worker && k.Hash == c.Hash {
			return k, nil
		}
	}
	return c, errSignIn()
}

func (s *Sessions) start(ctx context.Context, number lastmile.Phone, c store.Credential, now time.Time) (SignedIn, error) {
	token := RandomSecret(sessionTokenLength)
	err := s.Store.Write(ctx, func(w Writer) error {
		fresh, err := reload(ctx, w, number, c)
		if err != nil {
			return err
		}
		fresh.Failures, fresh.LockedUntil = 0, time.Time{}
		if err := w.SaveCredential(ctx, fresh); err != nil {
			return err
		}
		return w.SaveSession(ctx, lastmile.Session{Hash: hashKey(token).String(), Organization: c.Organization, Worker: c.Worker, Created: now, Used: now})
	})
	return SignedIn{
		Token: token, MustSetPassword: c.Temporary, Principal: lastmile.Principal{Organization: c.Organization, Worker: c.Worker},
	}, err
}

// Authenticate returns the worker whose session has the token.
func (s *Sessions) Authenticate(ctx context.Context, token string) (lastmile.Principal, error) {
	if len(token) != sessionTokenLength {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	var session lastmile.Session
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		session, err = r.SessionByHash(ctx, hashKey(token).String())
		return err
	})
	if err != nil {
		return lastmile.Principal{}, err
	}
	now := s.Now()
	if now.Sub(session.Used) > SessionLifetime {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	if now.Sub(session.Used) > sessionUseRecorded {
		session.Used = now
		if err := s.Store.Write(ctx, func(w Writer) error { return w.SaveSession(ctx, session) }); err != nil {
			return lastmile.Principal{}, err
		}
	}
	return lastmile.Principal{
		Organization: session.Organization, Worker: session.Worker, MustSetPassword: session.Temporary, Session: session,
	}, nil
}

// checkNew rejects the temporary password as the new one: it was sent in a text
// message, which others may read.
func (s *Sessions) checkNew(ctx context.Context, who lastmile.Principal, password string) error {
	var known []store.Credential
	err := s.Store.Read(ctx, func(r Reader) error {
		worker, err := r.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		known, err = r.CredentialsByPhone(ctx, worker.Phone)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range known {
		if c.Organization != who.Organization || c.Worker != who.Worker || !c.Temporary {
			continue
		}
		same, err := s.Passwords.Verify(ctx, password, c.Hash)
		if err != nil {
			return err
		}
		if same {
			return lastmile.Invalid("password must not be the temporary one: choose another")
		}
	}
	return nil
}

// SetPassword sets the password of a worker, which accepts the invitation, and ends
// all other sessions of the worker.
func (s *Sessions) SetPassword(ctx context.Context, who lastmile.Principal, password string) error {
	switch n := len([]rune(password)); {
	case n < MinPassword || n > MaxPassword:
		return lastmile.Invalid("password must have %d to %d characters", MinPassword, MaxPassword)
	case strings.TrimSpace(password) == "":
		return lastmile.Invalid("password must not be blank")
	}
	if err := s.checkNew(ctx, who, password); err != nil {
		return err
	}
	hash, err := s.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	now := s.Now()
	return s.Store.Write(ctx, func(w Writer) error {
		worker, err := w.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		if events := worker.AcceptInvitation(who.Actor(), now); len(events) > 0 {
			if err := w.SaveWorker(ctx, worker); err != nil {
				return err
			}
			if err := s.Events.Append(ctx, w, events...); err != nil {
				return err
			}
		}
		if err := w.DeleteSessions(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		if err := w.SaveSession(ctx, who.Session); err != nil {
			return err
		}
		return w.SaveCredential(ctx, store.Credential{Organization: who.Organization, Worker: who.Worker, Hash: hash})
	})
}
