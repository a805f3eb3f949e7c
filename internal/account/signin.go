package account

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
)

// Limits of the typed values, in bytes.
const (
	maxEmail = 254
	maxCode  = 64
)

// accountOf returns the name of an account in allowances and device tokens.
func accountOf(email string) string { return "admin " + email }

// throttle holds the allowances that an attempt uses.
type throttle struct {
	network string
	caller  string // key of the caller in the queue for hashing
	known   bool   // the browser has signed in before
	all     []rate.Allowance
}

// throttle returns the allowances of an attempt at an account.
func (a *Accounts) throttle(email string, b Browser) throttle {
	account := accountOf(email)
	if id, known := a.Vault.OpenDevice(account, b.Device); known {
		return throttle{network: b.Network, caller: "browser " + id, known: true, all: []rate.Allowance{
			rate.OfSource(account, "device "+id),
		}}
	}
	t := throttle{network: b.Network, caller: "network " + b.Network, all: []rate.Allowance{
		rate.OfSource(account, "network "+b.Network), rate.OfAccount(account),
	}}
	if b.Network == "" {
		t.caller = account
		return t
	}
	t.all = append(t.all, rate.OfNetwork("admin network "+b.Network))
	return t
}

// ofSession returns the allowance for passwords typed by a caller who is signed in.
func ofSession(admin lastmile.Admin, network string) throttle {
	return throttle{network: network, caller: accountOf(admin.Email), known: true, all: []rate.Allowance{
		rate.OfSource(accountOf(admin.Email), "admin "+string(admin.ID)),
	}}
}

// admit rejects an attempt if an allowance is used up. It does not count the attempt.
func (a *Accounts) admit(ctx context.Context, t throttle) error {
	wait, news, err := a.denials.Check(ctx, t.all, a.Now(), func(check func(rate.AllowanceReader) error) error {
		return a.Store.Read(ctx, func(r Reader) error { return check(r) })
	})
	if news {
		a.Log.Warn("sign-in of an administrator rejected: too many attempts", "address", cmp.Or(t.network, unknownAddress))
	}
	if err != nil || wait == 0 {
		return err
	}
	return tooMany(wait)
}

// reserve counts an attempt before anything is verified. Otherwise, concurrent attempts
// would not be counted in time.
func reserve(ctx context.Context, w Writer, t throttle, now time.Time) error {
	wait, err := rate.Reserve(ctx, w, t.all, now)
	if err == nil && wait > 0 {
		return tooMany(wait)
	}
	return err
}

// enter waits for a slot of the queue for hashing.
func (a *Accounts) enter(ctx context.Context, t throttle) (leave func(), err error) {
	leave, err = a.Passwords.Enter(ctx, t.caller, t.known)
	if full, ok := errors.AsType[*lastmile.Error](err); ok {
		return nil, tooMany(full.RetryAfter)
	}
	return leave, err
}

// unknownAddress is logged for callers on the machine itself, and for callers whose proxy
// does not pass on their address.
const unknownAddress = "unknown"

// tooMany returns the error for a rejected attempt.
func tooMany(wait time.Duration) error {
	return rate.TooManyAttempts(wait, "use a browser in which you have signed in before, or reset the password")
}

// errSignIn is the error for every failed attempt to sign in: callers must not learn
// why it failed.
func errSignIn() *lastmile.Error {
	rejected := lastmile.Unauthenticated()
	rejected.Message = "The e-mail address, the password or the code is wrong."
	return rejected
}

// SecondFactorRequired is the cause of the error for a correct password without a code.
const SecondFactorRequired = "secondFactorRequired"

// Attempted is the kind of an attempt at an account. It is only recorded in the audit log,
// because the caller may be a stranger.
type Attempted string

// The kinds of attempts.
const (
	WrongPassword   Attempted = "wrongPassword"
	WrongCode       Attempted = "wrongCode"       // wrong code of the second factor, after a correct password or link
	TooManyAttempts Attempted = "tooManyAttempts" // rejected after too many attempts
	ResetRequested  Attempted = "resetRequested"
)

// Failure is a failed attempt at an account, which may not exist. It wraps the error that
// the caller sees.
type Failure struct {
	Email string
	What  Attempted
	err   error
}

// Error returns the text of the error that the caller sees.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the error that the caller sees.
func (f *Failure) Unwrap() error { return f.err }

// attempted returns a *Failure for an error because of wrong credentials or too many
// attempts, and other errors unchanged.
func attempted(email string, err error) error {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok || rejected.Cause == SecondFactorRequired {
		return err
	}
	failure := &Failure{Email: email, What: WrongPassword, err: err}
	switch known, ok := errors.AsType[*Failure](err); {
	case ok:
		failure.What = known.What
	case rejected.Code == lastmile.CodeTooMany:
		failure.What = TooManyAttempts
	case rejected.Code != lastmile.CodeUnauthenticated:
		return err
	}
	return failure
}

func errCode() error { return &Failure{What: WrongCode, err: errSignIn()} }

func errFactor() error {
	rejected := lastmile.Unauthenticated()
	rejected.Message = "The code of the second factor is required."
	return rejected.Because(SecondFactorRequired)
}

// Attempt is what a caller sends to sign in.
type Attempt struct {
	Email, Password string
	Code            string // code of the second factor, or a recovery code; may be empty
	Browser         Browser
}

func (t Attempt) check() error {
	switch {
	case t.Email == "":
		return lastmile.Missing("email")
	case t.Password == "":
		return lastmile.Missing("password")
	case len(t.Email) > maxEmail:
		return lastmile.Invalid("email must have at most %d characters", maxEmail)
	case utf8.RuneCountInString(t.Password) > identity.MaxPassword:
		return lastmile.Invalid("password must have at most %d characters", identity.MaxPassword)
	}
	return checkCode(t.Code)
}

func checkCode(code string) error {
	if len(code) > maxCode {
		return lastmile.Invalid("code must have at most %d characters", maxCode)
	}
	return nil
}

// SignIn starts a session of the administrator with an e-mail address and password. Known
// and unknown addresses take the same time and get the same errors, which are of type
// *Failure.
func (a *Accounts) SignIn(ctx context.Context, attempt Attempt) (begun SignedIn, err error) {
	if err := attempt.check(); err != nil {
		return begun, err
	}
	email := identity.Email(attempt.Email)
	begun, err = a.signIn(ctx, email, attempt)
	return begun, attempted(email, err)
}

func (a *Accounts) signIn(ctx context.Context, email string, attempt Attempt) (begun SignedIn, err error) {
	t := a.throttle(email, attempt.Browser)
	if err := a.admit(ctx, t); err != nil {
		return begun, err
	}
	leave, err := a.enter(ctx, t)
	if err != nil {
		return begun, err
	}
	defer leave()
	now := a.Now()
	var account identity.Account
	err = a.Store.Write(ctx, func(w Writer) error {
		if err := reserve(ctx, w, t, now); err != nil {
			return err
		}
		admin, err := w.AdminByEmail(ctx, email)
		if err != nil && !lastmile.IsNotFound(err) {
			return err
		}
		account, err = w.AdminAccount(ctx, admin.Organization, admin.ID)
		return err
	})
	if err != nil {
		return begun, err
	}
	right, outdated, err := a.Passwords.Verify(attempt.Password, account.Hash)
	if err != nil {
		return begun, err
	}
	if !right {
		a.logFailure(t)
		return begun, errSignIn()
	}
	verified := account.Hash
	if outdated {
		account.Hash = a.Passwords.Hash(attempt.Password)
	}
	renewed := account.Hash
	err = a.Store.Write(ctx, func(w Writer) error {
		admin, err := w.AdminByEmail(ctx, email)
		if err != nil {
			return orWrong(err)
		}
		current, err := w.AdminAccount(ctx, admin.Organization, admin.ID)
		if err != nil {
			return err
		}
		if admin.ID != account.Admin || current.Hash != verified { // the password was changed meanwhile
			return errSignIn()
		}
		current.Hash = renewed
		if err := a.acceptCode(ctx, w, &current, attempt.Code, now); err != nil {
			return err
		}
		if err := w.SaveAdminAccount(ctx, current); err != nil {
			return err
		}
		if err := rate.Restore(ctx, w, t.all, now); err != nil {
			return err
		}
		begun, err = a.start(ctx, w, admin, current, attempt.Browser, now)
		return err
	})
	return begun, a.failed(ctx, t, err)
}

// orWrong turns the error for a missing record into that of a failed attempt.
func orWrong(err error) error {
	if lastmile.IsNotFound(err) {
		return errSignIn()
	}
	return err
}

// failed handles the error of an attempt whose password was correct. If only the code is
// missing, the attempt is not counted. Previous attempts stay counted, or else the caller
// could guess codes.
func (a *Accounts) failed(ctx context.Context, t throttle, err error) error {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	switch {
	case !ok:
		return err
	case rejected.Cause == SecondFactorRequired:
		return cmp.Or(a.Store.Write(ctx, func(w Writer) error { return rate.GiveBack(ctx, w, t.all) }), err)
	}
	a.logFailure(t)
	return err
}

func (a *Accounts) logFailure(t throttle) {
	a.Log.Warn("sign-in of an administrator failed", "address", cmp.Or(t.network, unknownAddress))
}

// acceptCode verifies the code of the second factor, if the account has one, and
// records that it was used.
func (a *Accounts) acceptCode(ctx context.Context, w Writer, account *identity.Account, typed string, now time.Time) error {
	if account.Factor == nil {
		return nil
	}
	if typed == "" {
		return errFactor()
	}
	code, oneTime := identity.OneTimeCode(typed)
	if !oneTime {
		known, err := w.UseRecoveryCode(ctx, account.Organization, account.Admin, identity.HashRecoveryCode(account.Admin, typed))
		if err == nil && !known {
			return errCode()
		}
		return err
	}
	secret, err := a.Vault.Open(account.Organization, account.Factor)
	if err != nil {
		return err
	}
	step, ok := identity.AcceptCode(secret, code, account.Step, now)
	if !ok {
		return errCode()
	}
	account.Step = step
	return nil
}
