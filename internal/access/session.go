package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// The terms of a worker's session and password.
const (
	SessionLifetime    = 30 * 24 * time.Hour // without being used
	MinPassword        = 8                   // characters
	MaxPassword        = 200
	maxSignInFailures  = 5 // of a temporary password
	sessionUseRecorded = time.Hour
	sessionTokenLength = 43
)

// Sessions are the workers who are signed in.
type Sessions struct {
	Store      store.Store
	Passwords  *Passwords
	Now        func() time.Time
	ParsePhone func(raw, country string) (lastmile.Phone, error)
}

// SignedIn is a session just begun. The token is never shown again.
type SignedIn struct {
	Token           string
	MustSetPassword bool
	Principal       Principal
}

// errSignIn is all that a caller learns of why signing in failed.
func errSignIn() error {
	refusal := lastmile.Unauthenticated()
	refusal.Message = "The phone number or the password is wrong, or the password has expired."
	return refusal
}

// SignIn begins a session for the worker with a phone number and password.
func (s *Sessions) SignIn(ctx context.Context, phone, password string) (SignedIn, error) {
	number, err := s.ParsePhone(phone, "")
	if err != nil {
		return SignedIn{}, err
	}
	now := s.Now()
	var known []store.Credential
	err = s.Store.Read(ctx, func(r store.Reader) (err error) {
		known, err = r.CredentialsByPhone(ctx, number)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	if len(known) == 0 {
		// Whoever guesses numbers waits as long as for a wrong password.
		if _, err := s.Passwords.Hash(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	for _, c := range known {
		if c.Temporary && (now.After(c.Expires) || c.Failures >= maxSignInFailures) {
			continue
		}
		right, err := s.Passwords.Verify(ctx, password, c.Hash)
		if err != nil {
			return SignedIn{}, err
		}
		if right {
			return s.begin(ctx, c, now)
		}
		c.Failures++
		if err := s.Store.Write(ctx, func(w store.Writer) error { return w.SaveCredential(ctx, c) }); err != nil {
			return SignedIn{}, err
		}
	}
	return SignedIn{}, errSignIn()
}

func (s *Sessions) begin(ctx context.Context, c store.Credential, now time.Time) (SignedIn, error) {
	token := RandomSecret(sessionTokenLength)
	c.Failures = 0
	err := s.Store.Write(ctx, func(w store.Writer) error {
		if err := w.SaveCredential(ctx, c); err != nil {
			return err
		}
		return w.SaveSession(ctx, store.Session{Hash: hashKey(token).String(), Organization: c.Organization, Worker: c.Worker, Created: now, Used: now})
	})
	return SignedIn{
		Token: token, MustSetPassword: c.Temporary, Principal: Principal{Organization: c.Organization, Worker: c.Worker},
	}, err
}

// Authenticate returns the worker whose session a token is.
func (s *Sessions) Authenticate(ctx context.Context, token string) (Principal, error) {
	if len(token) != sessionTokenLength {
		return Principal{}, lastmile.Unauthenticated()
	}
	var session store.Session
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		session, err = r.SessionByHash(ctx, hashKey(token).String())
		return err
	})
	if err != nil {
		return Principal{}, err
	}
	now := s.Now()
	if now.Sub(session.Used) > SessionLifetime {
		return Principal{}, lastmile.Unauthenticated()
	}
	if now.Sub(session.Used) > sessionUseRecorded {
		session.Used = now
		if err := s.Store.Write(ctx, func(w store.Writer) error { return w.SaveSession(ctx, session) }); err != nil {
			return Principal{}, err
		}
	}
	return Principal{Organization: session.Organization, Worker: session.Worker}, nil
}

// SetPassword replaces a worker's password by one of her own, which takes up
// the invitation.
func (s *Sessions) SetPassword(ctx context.Context, who Principal, password string) error {
	if n := len([]rune(password)); n < MinPassword || n > MaxPassword {
		return lastmile.Invalid("password must have %d to %d characters", MinPassword, MaxPassword)
	}
	hash, err := s.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	now := s.Now()
	return s.Store.Write(ctx, func(w store.Writer) error {
		worker, err := w.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		worker.Accept(now)
		if err := w.SaveWorker(ctx, worker); err != nil {
			return err
		}
		return w.SaveCredential(ctx, store.Credential{Organization: who.Organization, Worker: who.Worker, Hash: hash})
	})
}
