package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of failed attempts to sign in. Attempts at an account are counted
// separately for each network, so that a stranger cannot use up those of the
// worker, and a device that the worker has signed in with before has its own.
const (
	maxAttempts        = 5           // in a row, at an account from a network or a known device
	attemptEvery       = time.Minute // until another attempt is allowed
	maxAccountAttempts = 100         // at a password that a worker chose, from all other devices
	accountEvery       = 5 * time.Minute
	maxNetworkAttempts = 200 // from a network, at all accounts
	networkEvery       = 3 * time.Second
)

// ofNetwork is for attempts at an account from a network.
func ofNetwork(number lastmile.Phone, network string) rate.Allowance {
	return rate.Allowance{Account: string(number), Source: "network " + network, Most: maxAttempts, Every: attemptEvery}
}

// ofDevice is for attempts at an account from a known device.
func ofDevice(number lastmile.Phone, device string) rate.Allowance {
	return rate.Allowance{Account: string(number), Source: "device " + device, Most: maxAttempts, Every: attemptEvery}
}

// ofWorker is for guesses of the old password by a worker who is signed in.
func ofWorker(number lastmile.Phone, worker lastmile.WorkerID) rate.Allowance {
	return rate.Allowance{Account: string(number), Source: "worker " + string(worker), Most: maxAttempts, Every: attemptEvery}
}

// ofAccount is for attempts at an account from all unknown devices.
func ofAccount(number lastmile.Phone) rate.Allowance {
	return rate.Allowance{Account: string(number), Most: maxAccountAttempts, Every: accountEvery}
}

// ofNetworkTotal is for attempts at all accounts from a network.
func ofNetworkTotal(network string) rate.Allowance {
	return rate.Allowance{Source: "network " + network, Most: maxNetworkAttempts, Every: networkEvery}
}

// admit rejects an attempt if an allowance is used up. It does not use an attempt.
func (s *Sessions) admit(ctx context.Context, t throttle) error {
	now := s.Now()
	if wait := s.denials.Find(t.always, now); wait > 0 {
		return tooManySignIns(wait)
	}
	var (
		wait time.Duration
		of   rate.Allowance
	)
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		_, wait, of, err = rate.CheckAllowances(ctx, r, t.always, now)
		return err
	})
	if err != nil || wait == 0 {
		return err
	}
	s.denials.Add(of, wait, now)
	s.Log.Warn("sign-in rejected: too many attempts", "address", cmp.Or(t.network, unknownAddress))
	return tooManySignIns(wait)
}

// tooManySignIns rejects an attempt to sign in. The error is the same for known
// and unknown phone numbers.
func tooManySignIns(wait time.Duration) error {
	seconds := math.Ceil(wait.Seconds())
	rejected := lastmile.TooMany()
	rejected.Message = fmt.Sprintf("There were too many attempts to sign in: wait %.0f seconds, or ask your dispatcher for a new invitation.", seconds)
	rejected.RetryAfter = time.Duration(seconds) * time.Second
	return rejected
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
		return throttle{network: network, caller: "device " + id, known: true, always: []rate.Allowance{ofDevice(number, id)}}
	}
	t := throttle{
		network: network, caller: "network " + network,
		always: []rate.Allowance{ofNetwork(number, network)}, own: []rate.Allowance{ofAccount(number)},
	}
	if network == "" {
		t.caller = "account " + string(number)
		return t
	}
	t.always = append(t.always, ofNetworkTotal(network))
	return t
}

// reserve uses an attempt. It reports whether only temporary passwords are accepted.
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

// deviceIDSize is the length of the id of a device in bytes, and deviceTokenLength
// that of its token in characters.
const (
	deviceIDSize      = 9
	deviceTokenLength = 50
)

// SealDevice returns a new token that proves that a device has signed in to an
// account. It grants no access.
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
