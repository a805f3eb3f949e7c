package account

import (
	"cmp"
	"context"
	"crypto/rand"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
)

// verifyOwn verifies the password of the caller, because a stolen session must not suffice.
// An account without a password has nothing to verify. If hashNew is not empty, it is a new
// password, whose hash is returned. The error for a wrong password is a *Failure.
func (a *Accounts) verifyOwn(ctx context.Context, who lastmile.Principal, field, password, network, hashNew string) (verified identity.Account, hashed string, t throttle, err error) {
	var admin lastmile.Admin
	err = a.Store.Read(ctx, func(r Reader) (err error) {
		admin, verified, err = own(ctx, r, who)
		return err
	})
	if err != nil {
		return verified, "", t, err
	}
	if password == "" && verified.Hash != "" {
		return verified, "", t, lastmile.Missing(field)
	}
	if hashNew != "" {
		if err := identity.CheckPassword("new", hashNew, admin.Email); err != nil {
			return verified, "", t, err
		}
	}
	t = ofSession(admin, network)
	if err := a.admit(ctx, t); err != nil {
		return verified, "", t, attempted(admin.Email, err)
	}
	leave, err := a.enter(ctx, t)
	if err != nil {
		return verified, "", t, attempted(admin.Email, err)
	}
	defer leave()
	now := a.Now()
	if err := a.Store.Write(ctx, func(w Writer) error { return reserve(ctx, w, t, now) }); err != nil {
		return verified, "", t, attempted(admin.Email, err)
	}
	if verified.Hash != "" {
		right, _, err := a.Passwords.Verify(password, verified.Hash)
		if err != nil {
			return verified, "", t, err
		}
		if !right {
			a.Log.Warn("password of an administrator is wrong", "address", cmp.Or(network, unknownAddress))
			wrong := lastmile.Invalid("%s is not the current password", field)
			return verified, "", t, &Failure{Email: admin.Email, What: WrongPassword, err: wrong}
		}
	}
	if hashNew != "" {
		hashed = a.Passwords.Hash(hashNew)
	}
	return verified, hashed, t, nil
}

// unchanged reads the caller's account again, in the transaction that changes it, and
// returns an error if the session has ended or the password has changed meanwhile.
func unchanged(ctx context.Context, w Writer, who lastmile.Principal, verified identity.Account) (identity.Account, error) {
	if _, err := w.AdminSession(ctx, who.Session.Hash); err != nil {
		return verified, err
	}
	_, current, err := own(ctx, w, who)
	if err == nil && current.Hash != verified.Hash {
		err = identity.SignedOut()
	}
	return current, err
}

// SetPassword sets the password of the caller, and ends all other sessions and links.
func (a *Accounts) SetPassword(ctx context.Context, who lastmile.Principal, network, old, password string) error {
	if password == "" {
		return lastmile.Missing("new")
	}
	verified, hashed, t, err := a.verifyOwn(ctx, who, "old", old, network, password)
	if err != nil {
		return err
	}
	return a.Store.Write(ctx, func(w Writer) error {
		account, err := unchanged(ctx, w, who, verified)
		if err != nil {
			return err
		}
		account.Hash = hashed
		if err := w.SaveAdminAccount(ctx, account); err != nil {
			return err
		}
		if err := w.DeleteOneTimeLinks(ctx, who.Organization, who.Admin); err != nil {
			return err
		}
		if err := rate.Restore(ctx, w, t.all, a.Now()); err != nil {
			return err
		}
		return endStreams(ctx, w)(w.EndAdminSessions(ctx, who.Organization, who.Admin, who.Session.Hash))
	})
}

// Factor is a second factor that is not confirmed yet. The secret is never shown again.
type Factor struct {
	Secret string // as people type it
	URI    string // as authenticator apps read it
}

// BeginFactor creates a second factor for the caller. It takes effect with ConfirmFactor.
func (a *Accounts) BeginFactor(ctx context.Context, who lastmile.Principal, network, password string) (f Factor, err error) {
	verified, _, t, err := a.verifyOwn(ctx, who, "password", password, network, "")
	if err != nil {
		return f, err
	}
	secret := random(identity.FactorSecretSize)
	sealed := a.Vault.Seal(who.Organization, secret)
	err = a.Store.Write(ctx, func(w Writer) error {
		account, err := unchanged(ctx, w, who, verified)
		if err != nil {
			return err
		}
		if account.Factor != nil {
			return lastmile.Conflict("There is a second factor already: remove it first.")
		}
		if err := rate.Restore(ctx, w, t.all, a.Now()); err != nil {
			return err
		}
		admin, err := w.Admin(ctx, who.Organization, who.Admin)
		if err != nil {
			return err
		}
		account.Pending = sealed
		f = Factor{Secret: identity.EncodeSecret(secret), URI: identity.FactorURI(secret, admin.Email)}
		return w.SaveAdminAccount(ctx, account)
	})
	return f, err
}

// ConfirmFactor makes the second factor of BeginFactor take effect, and returns recovery
// codes, which are never shown again. All other sessions of the caller end.
func (a *Accounts) ConfirmFactor(ctx context.Context, who lastmile.Principal, typed string) (codes []string, err error) {
	if typed == "" {
		return nil, lastmile.Missing("code")
	}
	now := a.Now()
	var hashes []string
	for range identity.RecoveryCodes {
		code := identity.RecoveryCode(random(identity.RecoveryCodeSize))
		codes, hashes = append(codes, code), append(hashes, identity.HashRecoveryCode(who.Admin, code))
	}
	err = a.Store.Write(ctx, func(w Writer) error {
		_, account, err := own(ctx, w, who)
		if err != nil {
			return err
		}
		if account.Pending == nil {
			return lastmile.Conflict("There is no second factor to confirm: POST /account/v1/secondFactor makes one.")
		}
		secret, err := a.Vault.Open(who.Organization, account.Pending)
		if err != nil {
			return err
		}
		code, _ := identity.OneTimeCode(typed)
		step, ok := identity.AcceptCode(secret, code, 0, now)
		if !ok {
			return lastmile.Invalid("code is not the one that the authenticator app shows now; check that the clock of the phone is right")
		}
		account.Factor, account.Pending, account.Step = account.Pending, nil, step
		if err := w.SaveAdminAccount(ctx, account); err != nil {
			return err
		}
		if err := w.ReplaceRecoveryCodes(ctx, who.Organization, who.Admin, hashes); err != nil {
			return err
		}
		return endStreams(ctx, w)(w.EndAdminSessions(ctx, who.Organization, who.Admin, who.Session.Hash))
	})
	return codes, err
}

// RemoveFactor removes the second factor of the caller.
func (a *Accounts) RemoveFactor(ctx context.Context, who lastmile.Principal, network, password string) error {
	verified, _, t, err := a.verifyOwn(ctx, who, "password", password, network, "")
	if err != nil {
		return err
	}
	return a.Store.Write(ctx, func(w Writer) error {
		account, err := unchanged(ctx, w, who, verified)
		if err != nil {
			return err
		}
		account.Factor, account.Pending = nil, nil
		if err := w.SaveAdminAccount(ctx, account); err != nil {
			return err
		}
		if err := rate.Restore(ctx, w, t.all, a.Now()); err != nil {
			return err
		}
		return w.ReplaceRecoveryCodes(ctx, who.Organization, who.Admin, nil)
	})
}

func random(size int) []byte {
	b := make([]byte, size)
	rand.Read(b)
	return b
}
