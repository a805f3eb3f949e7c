package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"sync"
	"time"

	"dray/internal/lastmile"
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

// allowance is a number of attempts that is refilled over time, as in a token
// bucket. Its database row holds the time at which it will be full again.
type allowance struct {
	account string        // the phone number; empty for all
	source  string        // the network, the device or the worker; empty for all
	most    int           // attempts when it is full
	every   time.Duration // after which one attempt is refilled
}

// ofNetwork is for attempts at an account from a network.
func ofNetwork(number lastmile.Phone, network string) allowance {
	return allowance{string(number), "network " + network, maxAttempts, attemptEvery}
}

// ofDevice is for attempts at an account from a known device.
func ofDevice(number lastmile.Phone, device string) allowance {
	return allowance{string(number), "device " + device, maxAttempts, attemptEvery}
}

// ofWorker is for guesses of the old password by a worker who is signed in.
func ofWorker(number lastmile.Phone, worker lastmile.WorkerID) allowance {
	return allowance{string(number), "worker " + string(worker), maxAttempts, attemptEvery}
}

// ofAccount is for attempts at an account from all unknown devices.
func ofAccount(number lastmile.Phone) allowance {
	return allowance{string(number), "", maxAccountAttempts, accountEvery}
}

// ofNetworkTotal is for attempts at all accounts from a network.
func ofNetworkTotal(network string) allowance {
	return allowance{"", "network " + network, maxNetworkAttempts, networkEvery}
}

// take returns the time at which the allowance is full again after another attempt,
// or how long to wait for an attempt if none is left.
func (a allowance) take(full, now time.Time) (next time.Time, wait time.Duration) {
	whole := time.Duration(a.most) * a.every
	if full.Before(now) || full.Sub(now) > 2*whole { // the latter happens after the clock was set back
		full = now
	}
	next = full.Add(a.every)
	return next, max(0, next.Sub(now)-whole)
}

// reserve uses one attempt of each allowance. If one of them is used up, it uses
// none and returns how long to wait.
func reserve(ctx context.Context, w Writer, all []allowance, now time.Time) (wait time.Duration, err error) {
	next, wait, _, err := check(ctx, w, all, now)
	if err != nil || wait > 0 {
		return wait, err
	}
	for i, a := range all {
		if err := w.SaveSignInAllowance(ctx, a.account, a.source, next[i]); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// check returns the times at which the allowances are full again after another
// attempt. If some are used up, it returns the longest time to wait and the
// allowance that requires it.
func check(ctx context.Context, r Reader, all []allowance, now time.Time) (next []time.Time, longest time.Duration, of allowance, err error) {
	next = make([]time.Time, len(all))
	for i, a := range all {
		full, err := r.SignInAllowance(ctx, a.account, a.source)
		if err != nil {
			return nil, 0, of, err
		}
		var wait time.Duration
		if next[i], wait = a.take(full, now); wait > longest {
			longest, of = wait, a
		}
	}
	return next, longest, of, nil
}

// admit rejects an attempt if an allowance is used up. It does not use an attempt.
func (s *Sessions) admit(ctx context.Context, t throttle) error {
	now := s.Now()
	if wait := s.denials.find(t.always, now); wait > 0 {
		return tooManySignIns(wait)
	}
	var (
		wait time.Duration
		of   allowance
	)
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		_, wait, of, err = check(ctx, r, t.always, now)
		return err
	})
	if err != nil || wait == 0 {
		return err
	}
	s.denials.add(of, wait, now)
	s.Log.Warn("sign-in rejected: too many attempts", "address", cmp.Or(t.network, unknownAddress))
	return tooManySignIns(wait)
}

// denials caches for a moment which allowances are used up, so that each attempt of
// a flood costs neither a query nor a log line.
type denials struct {
	mu  sync.Mutex
	all map[allowance]denial
}

type denial struct {
	at   time.Time
	wait time.Duration
}

// Limits of denials.
const (
	denialLifetime = time.Second
	maxDenials     = 4096
)

func (d *denials) add(a allowance, wait time.Duration, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil || len(d.all) >= maxDenials {
		d.all = map[allowance]denial{}
	}
	d.all[a] = denial{at: now, wait: wait}
}

// find returns the longest cached time to wait, or 0.
func (d *denials) find(all []allowance, now time.Time) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range all {
		found, ok := d.all[a]
		if passed := now.Sub(found.at); ok && passed >= 0 && passed < denialLifetime {
			wait = max(wait, found.wait-passed)
		}
	}
	return wait
}

// restore returns the attempt that was used for the right password. An allowance of
// one network or device at one account becomes full again; the others get one
// attempt back.
func restore(ctx context.Context, w Writer, all []allowance, now time.Time) error {
	for _, a := range all {
		full := now
		if a.account == "" || a.source == "" {
			stored, err := w.SignInAllowance(ctx, a.account, a.source)
			if err != nil {
				return err
			}
			full = stored.Add(-a.every)
		}
		if err := w.SaveSignInAllowance(ctx, a.account, a.source, full); err != nil {
			return err
		}
	}
	return nil
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
	caller  string      // key of the caller in the queue for hashing
	known   bool        // the device has signed in before
	always  []allowance // if one is used up, the attempt is rejected
	own     []allowance // if one is used up, only temporary passwords are accepted, which cannot be guessed
}

// throttle returns the allowances of an attempt. network is empty if it is unknown.
func (s *Sessions) throttle(number lastmile.Phone, device, network string) throttle {
	if id, known := s.Vault.openDevice(number, device); known {
		return throttle{network: network, caller: "device " + id, known: true, always: []allowance{ofDevice(number, id)}}
	}
	t := throttle{
		network: network, caller: "network " + network,
		always: []allowance{ofNetwork(number, network)}, own: []allowance{ofAccount(number)},
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
	wait, err := reserve(ctx, w, t.always, now)
	if err != nil {
		return false, err
	}
	if wait > 0 {
		return false, tooManySignIns(wait)
	}
	wait, err = reserve(ctx, w, t.own, now)
	return wait > 0, err
}

// deviceIDSize is the length of the id of a device in bytes, and deviceTokenLength
// that of its token in characters.
const (
	deviceIDSize      = 9
	deviceTokenLength = 50
)

// sealDevice returns a new token that proves that a device has signed in to an
// account. It grants no access.
func (v Vault) sealDevice(number lastmile.Phone) string {
	id := []byte(RandomSecret(deviceIDSize))
	return base64.RawURLEncoding.EncodeToString(v.aead.Seal(nil, nil, id, deviceContext(number)))
}

// openDevice verifies a token and returns the id of its device.
func (v Vault) openDevice(number lastmile.Phone, token string) (id string, ok bool) {
	if len(token) != deviceTokenLength {
		return "", false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	opened, err := v.aead.Open(nil, nil, sealed, deviceContext(number))
	return string(opened), err == nil
}

func deviceContext(number lastmile.Phone) []byte { return []byte("device of " + number) }

// credentialOf finds the credential of a worker among those of a phone number.
func credentialOf(known []store.Credential, org lastmile.OrganizationID, worker lastmile.WorkerID) (store.Credential, bool) {
	for _, c := range known {
		if c.Organization == org && c.Worker == worker {
			return c, true
		}
	}
	return store.Credential{}, false
}
