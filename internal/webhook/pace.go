package webhook

import (
	"sync"
	"time"

	"dray/internal/lastmile"
)

// pace classifies a webhook by how soon its server responds. Each pace has its
// own limits, so that slow servers delay only each other.
type pace int

const (
	unknown pace = iota // this process has made no attempt yet
	quick               // the last attempt ended soon, whether it succeeded or not
	slow                // the last attempt took long, or the current one is taking long
	dead                // the last attempt took long and failed
)

// limits bound the attempts under way at one pace.
type limits struct{ total, organization, host, webhook int }

var paceLimits = [...]limits{
	unknown: {total: 256, organization: 16, host: 4, webhook: 1},
	quick:   {total: 256, organization: 16, host: 4, webhook: 4},
	slow:    {total: 64, organization: 8, host: 4, webhook: 2},
	dead:    {total: 64, organization: 8, host: 2, webhook: 1},
}

// maxInFlight bounds the attempts of all paces together; quick attempts are
// exempt. It exceeds the sum of the limits because an attempt that takes long
// becomes slow even when the limit of slow attempts is reached.
const maxInFlight = 1024

// profile has what this process knows about a webhook. It outlives the
// webhook's leases. It belongs to the delivery of the webhook while there is
// one, and to the loop otherwise.
type profile struct {
	slot         slot          // slot that an attempt needs
	reserved     *slot         // slot for the next attempt; guarded by Sender.mu while there is no delivery
	usual        time.Duration // moving average of the quick attempts
	blockedUntil time.Time     // set when no secret was found or the database failed

	// Guarded by Sender.mu.
	delivery *delivery
	denied   time.Time // when the loop last found the webhook due and had no slot for it
	used     time.Time // when the webhook was last admitted, or its delivery ended
	turn     int64     // value of Sender.turns at that time; unlike a clock, it is never set back
}

// release gives up the reserved slot.
func (p *profile) release(l *limiter) {
	if p.reserved != nil {
		l.release(*p.reserved)
		p.reserved = nil
	}
}

// patience returns how long an attempt may take before it counts as slow.
func (p *profile) patience() time.Duration {
	if p.slot.pace == unknown {
		return slowAfter / 4
	}
	return min(max(slowAfter/10, 8*p.usual), slowAfter)
}

// suspect marks a failing webhook as dead if its pace is not known.
func (p *profile) suspect() {
	if p.slot.pace == unknown {
		p.slot.pace = dead
	}
}

// update adjusts the pace after an attempt.
func (p *profile) update(a lastmile.Attempt) {
	switch {
	case a.Took < slowAfter:
		p.slot.pace, p.usual = quick, (3*p.usual+a.Took)/4
	case a.Delivered():
		p.slot.pace = slow
	default:
		p.slot.pace = dead
	}
}

// slot is the right to make one attempt.
type slot struct {
	pace         pace
	organization lastmile.OrganizationID
	host         string // empty when it is not known yet
}

// quota is one limit that applies to a slot. Its key is the slot with some fields
// empty: it has only the pace, or also the organization or the host.
type quota struct {
	key   slot
	limit int
}

func (s slot) quotas() []quota {
	most := paceLimits[s.pace]
	all := []quota{{slot{pace: s.pace}, most.total}, {slot{pace: s.pace, organization: s.organization}, most.organization}}
	if s.host != "" {
		all = append(all, quota{slot{pace: s.pace, host: s.host}, most.host})
	}
	return all
}

// limiter admits attempts within the limits of their paces.
type limiter struct {
	freed func() // called after a slot was released that another attempt was denied

	mu     sync.Mutex
	total  int
	used   map[slot]int
	denied map[slot]bool // keys whose limits denied an attempt since the last release
}

func newLimiter(freed func()) *limiter {
	return &limiter{freed: freed, used: map[slot]int{}, denied: map[slot]bool{}}
}

// acquire takes a slot and reports whether the limits permit it.
func (l *limiter) acquire(s slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range s.quotas() {
		if l.used[q.key] >= q.limit || (s.pace != quick && l.total >= maxInFlight) {
			l.denied[q.key] = true
			return false
		}
	}
	l.count(s, 1)
	return true
}

// release returns a slot.
func (l *limiter) release(s slot) {
	if l.exchange(s, 0) {
		l.freed()
	}
}

// demote turns a slot into one of the slow pace, without regard to its limits.
func (l *limiter) demote(s slot) slot {
	if l.exchange(s, 1) {
		l.freed()
	}
	s.pace = slow
	return s
}

// exchange replaces a slot by n slow ones, and reports whether an attempt
// waits for it.
func (l *limiter) exchange(s slot, n int) (wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(s, -1)
	for _, q := range s.quotas() {
		wanted = wanted || l.denied[q.key]
		delete(l.denied, q.key)
	}
	s.pace = slow
	l.count(s, n)
	return wanted
}

// contended reports whether another attempt was denied for lack of this slot.
func (l *limiter) contended(s slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range s.quotas() {
		if l.denied[q.key] {
			return true
		}
	}
	return false
}

func (l *limiter) inFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// count adds n slots.
func (l *limiter) count(s slot, n int) {
	l.total += n
	for _, q := range s.quotas() {
		if l.used[q.key] += n; l.used[q.key] == 0 {
			delete(l.used, q.key)
		}
	}
}
