package rate

import (
	"context"
	"sync"
	"time"
)

// Allowance is a token bucket of attempts that all nodes share: its database row holds the time
// at which it will be full again.
type Allowance struct {
	Account string        // account at which attempts are made, such as a phone number; empty for all
	Source  string        // network or device of the caller; empty for all
	Most    int           // number of attempts in a full allowance
	Every   time.Duration // time after which one attempt is refilled
}

// AllowanceReader reads allowances in a transaction.
type AllowanceReader interface {
	// SignInAllowance returns the time at which an allowance of attempts to sign in is full
	// again, or the zero time if none was saved.
	SignInAllowance(ctx context.Context, account, source string) (time.Time, error)
}

// AllowanceWriter reads and saves allowances in a transaction.
type AllowanceWriter interface {
	AllowanceReader
	// SaveSignInAllowance saves the time at which an allowance of attempts to sign in is full
	// again.
	SaveSignInAllowance(ctx context.Context, account, source string, full time.Time) error
}

// take returns the time at which the allowance is full again after another attempt, and how
// long to wait for that attempt if none is left. full is the time at which it is full now.
func (a Allowance) take(full, now time.Time) (next time.Time, wait time.Duration) {
	whole := time.Duration(a.Most) * a.Every
	if full.Before(now) || full.Sub(now) > 2*whole { // the latter happens after the clock was set back
		full = now
	}
	next = full.Add(a.Every)
	return next, max(0, next.Sub(now)-whole)
}

// Reserve uses one attempt of each allowance. If one of them is used up, it uses
// none and returns how long to wait.
func Reserve(ctx context.Context, w AllowanceWriter, all []Allowance, now time.Time) (wait time.Duration, err error) {
	next, wait, _, err := CheckAllowances(ctx, w, all, now)
	if err != nil || wait > 0 {
		return wait, err
	}
	for i, a := range all {
		if err := w.SaveSignInAllowance(ctx, a.Account, a.Source, next[i]); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// CheckAllowances returns the times at which the allowances are full again after
// another attempt. If some are used up, it returns the longest time to wait and the
// allowance that requires it.
func CheckAllowances(ctx context.Context, r AllowanceReader, all []Allowance, now time.Time) (next []time.Time, longest time.Duration, of Allowance, err error) {
	next = make([]time.Time, len(all))
	for i, a := range all {
		full, err := r.SignInAllowance(ctx, a.Account, a.Source)
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

// Restore gives back the attempt that was used for the right password. An allowance for one
// source at one account becomes full; the others get one attempt back.
func Restore(ctx context.Context, w AllowanceWriter, all []Allowance, now time.Time) error {
	for _, a := range all {
		if a.Account == "" || a.Source == "" {
			if err := GiveBack(ctx, w, []Allowance{a}); err != nil {
				return err
			}
		} else if err := w.SaveSignInAllowance(ctx, a.Account, a.Source, now); err != nil {
			return err
		}
	}
	return nil
}

// GiveBack gives one attempt back to each allowance.
func GiveBack(ctx context.Context, w AllowanceWriter, all []Allowance) error {
	for _, a := range all {
		stored, err := w.SignInAllowance(ctx, a.Account, a.Source)
		if err != nil {
			return err
		}
		if err := w.SaveSignInAllowance(ctx, a.Account, a.Source, stored.Add(-a.Every)); err != nil {
			return err
		}
	}
	return nil
}

// Denials is a short-lived cache of allowances that are used up, so that not every attempt of a
// flood costs a query and a log line. The zero value is ready to use.
type Denials struct {
	mu  sync.Mutex
	all map[Allowance]denial
}

type denial struct {
	at   time.Time
	wait time.Duration
}

// Limits of Denials.
const (
	denialLifetime = time.Second
	maxDenials     = 4096
)

// Add records how long to wait for an allowance.
func (d *Denials) Add(a Allowance, wait time.Duration, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil || len(d.all) >= maxDenials {
		d.all = map[Allowance]denial{}
	}
	d.all[a] = denial{at: now, wait: wait}
}

// Find returns the longest recorded time to wait, or 0.
func (d *Denials) Find(all []Allowance, now time.Time) (wait time.Duration) {
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
