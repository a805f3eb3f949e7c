package access

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// The limits of workers' sessions and passwords.
const (
	SessionLifetime    = 30 * 24 * time.Hour // time since the last use after which a session ends
	MaxSessions        = 20                  // maximum sessions of a worker; the oldest end
	MinPassword        = 8                   // characters
	MaxPassword        = 200
	maxPhone           = 64 // maximum characters of a phone number as typed
	sessionUseRecorded = time.Hour
	sessionTokenLength = 43
)

// Sessions signs workers in and authenticates them.
type Sessions struct {
	Store      store.Transactor[Reader, Writer]
	Finder     SessionFinder
	Events     *events.Log
	Passwords  *Passwords
	Vault      Vault
	Now        func() time.Time
	NewID      func() string
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Countries  []string // countries whose numbering plans ParsePhone knows
	Log        *slog.Logger

	denials rate.Denials
}

// SignInAttempt is what a caller sends to sign in.
type SignInAttempt struct {
	Phone, Password string
	Device          string // from an earlier SignedIn; may be empty
	Network         string // network of the caller; empty if unknown
}

// SignedIn is a new session. The token is never shown again.
type SignedIn struct {
	Token           string
	Device          string // proves later that the device has signed in before
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

// Failure is a failed attempt to sign in to, or change the password of, the accounts of the
// workers with a phone number. There may be no such worker. It wraps the error that the
// caller sees.
type Failure struct {
	Phone        lastmile.Phone
	Organization lastmile.OrganizationID // organization of the signed-in worker; empty if there is none
	TooMany      bool                    // rejected without verification, after too many attempts
	err          error
}

// Error returns the text of the error that the caller sees.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the error that the caller sees.
func (f *Failure) Unwrap() error { return f.err }

// SignIn starts a session of the worker with a phone number and password. Known and unknown
// numbers take the same time and get the same errors, which are of type *Failure.
func (s *Sessions) SignIn(ctx context.Context, attempt SignInAttempt) (SignedIn, error) {
	number, err := s.parseAttempt(ctx, attempt)
	if err != nil {
		return SignedIn{}, err
	}
	begun, err := s.signIn(ctx, number, attempt)
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok && (rejected.Code == lastmile.CodeUnauthenticated || rejected.Code == lastmile.CodeTooMany) {
		err = &Failure{Phone: number, TooMany: rejected.Code == lastmile.CodeTooMany, err: err}
	}
	return begun, err
}

func (s *Sessions) signIn(ctx context.Context, number lastmile.Phone, attempt SignInAttempt) (SignedIn, error) {
	t := s.throttle(number, attempt.Device, attempt.Network)
	if err := s.admit(ctx, t); err != nil {
		return SignedIn{}, err
	}
	leave, err := s.Passwords.Enter(ctx, t.caller, t.known)
	if err != nil {
		return SignedIn{}, err
	}
	defer leave()
	now := s.Now()
	var (
		known         []store.Credential
		temporaryOnly bool
	)
	// The attempt is counted before the password is verified. Otherwise, concurrent
	// attempts would not be counted in time.
	err = s.Store.Write(ctx, func(w Writer) (err error) {
		if temporaryOnly, err = t.reserve(ctx, w, now); err != nil {
			return err
		}
		known, err = w.CredentialsByPhone(ctx, number)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	found, err := s.Passwords.match(attempt.Password, known, temporaryOnly, now)
	switch {
	case err != nil:
		return SignedIn{}, err
	case found != nil:
		if temporaryOnly {
			t.own = nil // the attempt did not use them
		}
		return s.start(ctx, number, attempt, t, *found, s.Passwords.sharedSalt(known), now)
	}
	s.Log.Warn("sign-in failed", "address", cmp.Or(t.network, unknownAddress))
	if temporaryOnly {
		return SignedIn{}, tooManySignIns(rate.OfAccount("").Every)
	}
	return SignedIn{}, errSignIn()
}

// parseAttempt rejects invalid values before a password is hashed, and returns the phone
// number. It queries the database only for a number without a country code.
func (s *Sessions) parseAttempt(ctx context.Context, attempt SignInAttempt) (lastmile.Phone, error) {
	switch {
	case attempt.Phone == "":
		return "", lastmile.Missing("phone")
	case attempt.Password == "":
		return "", lastmile.Missing("password")
	case len(attempt.Phone) > maxPhone:
		return "", lastmile.Invalid("phone must have at most %d characters", maxPhone)
	case characters(attempt.Password) > MaxPassword:
		return "", lastmile.Invalid("password must have at most %d characters", MaxPassword)
	}
	number, err := s.ParsePhone(attempt.Phone, "")
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		if number, err := s.admitNational(ctx, attempt); number != "" || err != nil {
			return number, err
		}
		return "", rejected.Because("give it in international form with a leading +, or as it is dialed in the country of the organization")
	}
	return number, err
}

// nationalNumber returns the phone number for one that was typed without a country code, as
// it is dialed in the country of the worker's organization. The organization is not known
// yet: it must have a worker with the number that results from its country. If there is no
// such organization, the number is that of any country, so that the attempt fails like any
// other. It returns "" if the number is valid in no country.
func (s *Sessions) nationalNumber(ctx context.Context, raw string) (lastmile.Phone, error) {
	dialed := map[string]lastmile.Phone{}
	var numbers []lastmile.Phone
	for _, country := range s.Countries {
		number, err := s.ParsePhone(raw, country)
		if err != nil {
			continue
		}
		dialed[country] = number
		numbers = append(numbers, number)
	}
	if len(numbers) == 0 {
		return "", nil
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var known map[lastmile.Phone][]string
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		known, err = r.CountriesByPhone(ctx, numbers)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, number := range numbers {
		if slices.ContainsFunc(known[number], func(country string) bool { return dialed[country] == number }) {
			return number, nil
		}
	}
	return numbers[0], nil
}

func characters(text string) int { return len([]rune(text)) }

// match returns the credential that the password matches, or nil.
func (p *Passwords) match(password string, known []store.Credential, temporaryOnly bool, now time.Time) (*store.Credential, error) {
	v := verifier{password: password}
	for _, c := range known {
		if (c.Temporary && now.After(c.Expires)) || (temporaryOnly && !c.Temporary) {
			continue
		}
		right, err := v.matches(c)
		if err != nil {
			return nil, err
		}
		if right {
			return &c, nil
		}
	}
	v.equalize(p.Cost)
	return nil, nil
}

// reload reads a credential again, in a transaction, and returns an error if its password
// has changed since it was verified.
func reload(ctx context.Context, r Reader, number lastmile.Phone, c store.Credential) error {
	known, err := r.CredentialsByPhone(ctx, number)
	if err != nil {
		return err
	}
	if fresh, ok := credentialOf(known, c.Organization, c.Worker); !ok || fresh.Hash != c.Hash {
		return errSignIn()
	}
	return nil
}

// start starts a session. If the password hash has another cost than new ones, it is
// replaced.
func (s *Sessions) start(
	ctx context.Context, number lastmile.Phone, attempt SignInAttempt, t throttle, c store.Credential, salt []byte, now time.Time,
) (SignedIn, error) {
	begun := SignedIn{
		Token: RandomSecret(sessionTokenLength), Device: attempt.Device, MustSetPassword: c.Temporary,
		Principal: lastmile.Principal{Organization: c.Organization, Worker: c.Worker},
	}
	if !t.known {
		begun.Device = s.Vault.SealDevice(string(number))
	}
	renewed := c
	if s.Passwords.outdated(c, salt) {
		renewed.Hash = s.Passwords.Cost.hash(attempt.Password, salt).String()
	}
	err := s.Store.Write(ctx, func(w Writer) error {
		if err := reload(ctx, w, number, c); err != nil {
			return err
		}
		if renewed.Hash != c.Hash {
			if err := w.SaveCredential(ctx, renewed); err != nil {
				return err
			}
		}
		for _, all := range [][]rate.Allowance{t.always, t.own} {
			if err := rate.Restore(ctx, w, all, now); err != nil {
				return err
			}
		}
		session := lastmile.Session{Hash: hashKey(begun.Token).String(), Organization: c.Organization, Worker: c.Worker, Created: now, Used: now}
		if err := w.SaveSession(ctx, session); err != nil {
			return err
		}
		return w.DeleteOldSessions(ctx, c.Organization, c.Worker, MaxSessions)
	})
	if err == nil {
		s.Log.Info("signed in", "address", cmp.Or(t.network, unknownAddress), "organization", c.Organization, "worker", c.Worker)
	}
	return begun, err
}

// outdated reports whether the hash of a password that a worker chose differs from
// a new one in cost or salt.
func (p *Passwords) outdated(c store.Credential, salt []byte) bool {
	h, err := parseHash(c.Hash)
	return err == nil && !c.Temporary && (h.Cost != p.Cost || len(h.sum) != hashSize || string(h.salt) != string(salt))
}

// Authenticate returns the worker whose session has the token.
func (s *Sessions) Authenticate(ctx context.Context, token string) (lastmile.Principal, error) {
	if len(token) != sessionTokenLength {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	hash := hashKey(token).String()
	session, err := s.Finder.FindSession(ctx, hash)
	if err != nil {
		return lastmile.Principal{}, err
	}
	now := s.Now()
	if now.Sub(session.Used) > SessionLifetime {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	if now.Sub(session.Used) > sessionUseRecorded {
		session.Used = now
		err := s.Store.Write(ctx, func(w Writer) error {
			if _, err := w.SessionByHash(ctx, hash); err != nil { // the session may have ended meanwhile
				return err
			}
			return w.SaveSession(ctx, session)
		})
		if err != nil {
			return lastmile.Principal{}, err
		}
	}
	return lastmile.Principal{
		Organization: session.Organization, Worker: session.Worker, MustSetPassword: session.Temporary, Session: session,
	}, nil
}

// SignOut ends the session of the caller.
func (s *Sessions) SignOut(ctx context.Context, who lastmile.Principal) error {
	return s.Store.Write(ctx, func(w Writer) error { return w.DeleteSession(ctx, who.Session.Hash) })
}

// SignOutEverywhere ends all sessions of the calling worker, and the token of the
// worker's tracker app.
func (s *Sessions) SignOutEverywhere(ctx context.Context, who lastmile.Principal) error {
	return s.Store.Write(ctx, func(w Writer) error {
		if err := w.DeleteSessions(ctx, who.Organization, who.Worker, ""); err != nil {
			return err
		}
		return w.DeleteTracker(ctx, who.Organization, who.Worker)
	})
}

// unknownAddress is logged for callers on the machine itself, and for callers whose proxy
// does not pass on their address.
const unknownAddress = "unknown"

// SetPassword sets the password of a worker, which accepts the invitation, and ends all
// other sessions of the worker. The old password is required unless it is a temporary one,
// because a stolen token must not suffice. The error for a wrong old password is a *Failure,
// and is logged with the network of the caller.
func (s *Sessions) SetPassword(ctx context.Context, who lastmile.Principal, network, old, password string) error {
	// Without the old password, this may be a repetition of a request whose response was
	// lost. In that case, the new password is already the current one.
	repeated := old == "" && !who.MustSetPassword
	if repeated {
		old = password
	}
	if err := checkPasswords(who, old, password); err != nil {
		return err
	}
	var number lastmile.Phone
	err := s.Store.Read(ctx, func(r Reader) error {
		worker, err := r.Worker(ctx, who.Organization, who.Worker)
		number = worker.Phone
		return err
	})
	if err != nil {
		return err
	}
	leave, err := s.Passwords.Enter(ctx, "worker "+string(who.Worker), true)
	if err != nil {
		return err
	}
	defer leave()
	now := s.Now()
	guesses := []rate.Allowance{rate.OfSource(string(number), "worker "+string(who.Worker))}
	var (
		known []store.Credential
		wait  time.Duration
	)
	err = s.Store.Write(ctx, func(w Writer) (err error) {
		if wait, err = rate.Reserve(ctx, w, guesses, now); err == nil && wait > 0 {
			err = tooManySignIns(wait)
		}
		if err != nil {
			return err
		}
		known, err = w.CredentialsByPhone(ctx, number)
		return err
	})
	if err != nil {
		if wait > 0 {
			s.Log.Warn("change of a password rejected: too many attempts", "address", cmp.Or(network, unknownAddress))
			return &Failure{Phone: number, Organization: who.Organization, TooMany: true, err: err}
		}
		return err
	}
	current, ok := credentialOf(known, who.Organization, who.Worker)
	if !ok {
		return lastmile.UnknownToken()
	}
	if err := checkChange(who, current, old, password); err != nil {
		if !current.Temporary {
			s.Log.Warn("change of a password failed", "address", cmp.Or(network, unknownAddress))
		}
		if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || current.Temporary || rejected.Code != lastmile.CodeInvalid {
			return err
		}
		if repeated {
			err = lastmile.Missing("oldPassword")
		}
		return &Failure{Phone: number, Organization: who.Organization, err: err}
	}
	hash := s.Passwords.Cost.hash(password, s.Passwords.sharedSalt(known)).String()
	return s.Store.Write(ctx, func(w Writer) error {
		if _, err := w.SessionByHash(ctx, who.Session.Hash); err != nil { // the session may have ended meanwhile
			return err
		}
		if err := reload(ctx, w, number, current); err != nil {
			return err
		}
		if err := rate.Restore(ctx, w, guesses, now); err != nil {
			return err
		}
		return s.savePassword(ctx, w, who, hash, now)
	})
}

// checkPasswords rejects invalid values before they cost anything.
func checkPasswords(who lastmile.Principal, old, password string) error {
	switch n := characters(password); {
	case n < MinPassword || n > MaxPassword:
		return lastmile.Invalid("password must have %d to %d characters", MinPassword, MaxPassword)
	case strings.TrimSpace(password) == "":
		return lastmile.Invalid("password must not be blank")
	case who.MustSetPassword:
		return nil
	case characters(old) > MaxPassword:
		return lastmile.Invalid("oldPassword must have at most %d characters", MaxPassword)
	}
	return nil
}

// checkChange compares the old password with the current one, unless that is temporary. The
// new password must not be the temporary one, which was sent in a text message that others
// may have read.
func checkChange(who lastmile.Principal, current store.Credential, old, password string) error {
	if current.Temporary != who.MustSetPassword {
		return lastmile.UnknownToken() // the password was changed meanwhile
	}
	v := verifier{password: old}
	if current.Temporary {
		v.password = password
	}
	same, err := v.matches(current)
	switch {
	case err != nil:
		return err
	case same && current.Temporary:
		return lastmile.Invalid("password must not be the temporary one: choose another")
	case !same && !current.Temporary:
		return lastmile.Invalid("oldPassword is not the current password")
	}
	return nil
}

// savePassword saves the password of a worker and ends all other sessions.
func (s *Sessions) savePassword(ctx context.Context, w Writer, who lastmile.Principal, hash string, now time.Time) error {
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
	if err := w.DeleteSessions(ctx, who.Organization, who.Worker, who.Session.Hash); err != nil {
		return err
	}
	return w.SaveCredential(ctx, store.Credential{Organization: who.Organization, Worker: who.Worker, Hash: hash})
}
