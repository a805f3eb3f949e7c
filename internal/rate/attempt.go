package rate

import (
	"context"
	"fmt"
	"math"
	"time"

	"dray/internal/lastmile"
)

// Limits of failed attempts to sign in. Attempts at an account are counted separately for each
// network and for each device with which its owner has signed in before, so that a stranger
// cannot use up the owner's attempts.
const (
	maxAttempts        = 5           // in a row, at an account from a network or a known device
	attemptEvery       = time.Minute // after which another attempt is allowed
	maxAccountAttempts = 100         // at an account, from all unknown devices
	accountEvery       = 5 * time.Minute
	maxNetworkAttempts = 200 // from a network, at all accounts
	networkEvery       = 3 * time.Second
	maxDeviceAttempts  = 1000 // from a network, with national phone numbers and invalid tokens of devices
	deviceEvery        = time.Second
)

// OfSource returns the allowance for attempts at an account from a source, which is a network
// or a known device.
func OfSource(account, source string) Allowance {
	return Allowance{Account: account, Source: source, Most: maxAttempts, Every: attemptEvery}
}

// OfAccount returns the allowance for attempts at an account from all unknown devices.
func OfAccount(account string) Allowance {
	return Allowance{Account: account, Most: maxAccountAttempts, Every: accountEvery}
}

// OfNetwork returns the allowance for attempts at all accounts from a network.
func OfNetwork(network string) Allowance {
	return Allowance{Source: network, Most: maxNetworkAttempts, Every: networkEvery}
}

// OfDevices returns the allowance for attempts from a network with national phone numbers and
// invalid tokens of devices. Before the account is known, a token cannot be verified.
func OfDevices(network string) Allowance {
	return Allowance{Source: "devices of " + network, Most: maxDeviceAttempts, Every: deviceEvery}
}

// Check returns how long to wait if an allowance is used up. news reports whether that was not
// in the cache, so that it should be logged. Check does not use an attempt. read runs a
// function in a transaction.
func (d *Denials) Check(ctx context.Context, all []Allowance, now time.Time, read func(func(AllowanceReader) error) error) (wait time.Duration, news bool, err error) {
	if wait := d.Find(all, now); wait > 0 {
		return wait, false, nil
	}
	var of Allowance
	err = read(func(r AllowanceReader) (err error) {
		_, wait, of, err = CheckAllowances(ctx, r, all, now)
		return err
	})
	if err != nil || wait == 0 {
		return 0, false, err
	}
	d.Add(of, wait, now)
	return wait, true, nil
}

// TooManyAttempts returns the error for an attempt to sign in when an allowance is used up. It
// is the same for known and unknown accounts. advice names an alternative to waiting.
func TooManyAttempts(wait time.Duration, advice string) error {
	seconds := math.Ceil(wait.Seconds())
	rejected := lastmile.TooMany()
	rejected.Message = fmt.Sprintf("There were too many attempts to sign in: wait %.0f seconds, %s.", seconds, advice)
	rejected.RetryAfter = time.Duration(seconds) * time.Second
	return rejected
}
