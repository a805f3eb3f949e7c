package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// admit rejects an attempt if an allowance is used up. It does not count the attempt.
func (s *Sessions) admit(ctx context.Context, t throttle) error {
	wait, news, err := s.denials.Check(ctx, t.always, s.Now(), func(check func(rate.AllowanceReader) error) error {
		return s.Store.Read(ctx, func(r Reader) error { return check(r) })
	})
	if news {
		s.Log.Warn("sign-in rejected: too many attempts", "address", cmp.Or(t.network, unknownAddress))
	}
	if err != nil || wait == 0 {
		return err
	}
	return tooManySignIns(wait)
}

// admitNational is nationalNumber for attempts that are admitted. It takes about as long as
// hashing, and the account is not known before: it has a slot for hashing, and attempts
// with numbers that are valid nowhere count as attempts of the network. A device that may have
// signed in before does not depend on the other attempts of its network; see throttle. If it
// turns out that it has not, the attempt counts as one of such devices.
func (s *Sessions) admitNational(ctx context.Context, attempt SignInAttempt) (lastmile.Phone, error) {
	t := throttle{network: attempt.Network, caller: "phone " + attempt.Phone}
	if t.network != "" {
		t.caller = "network " + t.network
		t.always = []rate.Allowance{rate.OfNetwork(t.caller)}
		if attempt.Device != "" {
			t.always = []rate.Allowance{rate.OfDevices(t.caller)}
		}
	}
	if err := s.admit(ctx, t); err != nil {
		return "", err
	}
	leave, err := s.Passwords.Enter(ctx, t.caller, false)
	if err != nil {
		return "", err
	}
	defer leave()
	number, err := s.nationalNumber(ctx, attempt.Phone)
	if err != nil {
		return "", err
	}
	if number != "" {
		if _, known := s.Vault.OpenDevice(string(number), attempt.Device); known || attempt.Device == "" {
			return number, nil // signIn counts it
		}
	}
	return number, s.Store.Write(ctx, func(w Writer) error {
		_, err := rate.Reserve(ctx, w, t.always, s.Now())
		return err
	})
}

// tooManySignIns returns the error for a rejected attempt to sign in.
func tooManySignIns(wait time.Duration) error {
	return rate.TooManyAttempts(wait, "or ask your dispatcher for a new invitation")
}

// throttle holds the allowances that an attempt to sign in uses.
type throttle struct {
	network string
	caller  string           // key of the caller in the queue for hashing
	known   bool             // the device has signed in before
	always  []rate.Allowance // if one is used up, the attempt is rejected
	own     []rate.Allowance // if one is used up, only temporary passwords are accepted, which cannot be guessed
}

// throttle returns the allowances of an attempt. network is empty if it is unknown.
func (s *Sessions) throttle(number lastmile.Phone, device, network string) throttle {
	if id, known := s.Vault.OpenDevice(string(number), device); known {
		return throttle{network: network, caller: "device " + id, known: true, always: []rate.Allowance{rate.OfSource(string(number), "device "+id)}}
	}
	t := throttle{
		network: network, caller: "network " + network,
		always: []rate.Allowance{rate.OfSource(string(number), "network "+network)}, own: []rate.Allowance{rate.OfAccount(string(number))},
	}
	if network == "" {
		t.caller = "account " + string(number)
		return t
	}
	t.always = append(t.always, rate.OfNetwork("network "+network))
	return t
}

// reserve counts an attempt. It reports whether only temporary passwords are accepted.
func (t throttle) reserve(ctx context.Context, w Writer, now time.Time) (temporaryOnly bool, err error) {
	wait, err := rate.Reserve(ctx, w, t.always, now)
	if err != nil {
		return false, err
	}
	if wait > 0 {
		return false, tooManySignIns(wait)
	}
	wait, err = rate.Reserve(ctx, w, t.own, now)
	return wait > 0, err
}

// deviceIDSize is the length of a device's id in bytes, and deviceTokenLength the length of
// its token in characters.
const (
	deviceIDSize      = 9
	deviceTokenLength = 50
)

// SealDevice returns a new token that proves that a device has signed in to an account. The
// token grants no access.
func (v Vault) SealDevice(account string) string {
	id := []byte(RandomSecret(deviceIDSize))
	return base64.RawURLEncoding.EncodeToString(v.aead.Seal(nil, nil, id, deviceContext(account)))
}

// OpenDevice verifies a token and returns the id of its device.
func (v Vault) OpenDevice(account, token string) (id string, ok bool) {
	if len(token) != deviceTokenLength {
		return "", false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	opened, err := v.aead.Open(nil, nil, sealed, deviceContext(account))
	return string(opened), err == nil
}

func deviceContext(account string) []byte { return []byte("device of " + account) }

// credentialOf finds the credential of a worker among those of a phone number.
func credentialOf(known []store.Credential, org lastmile.OrganizationID, worker lastmile.WorkerID) (store.Credential, bool) {
	for _, c := range known {
		if c.Organization == org && c.Worker == worker {
			return c, true
		}
	}
	return store.Credential{}, false
}
