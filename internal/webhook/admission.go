package webhook

import (
	"cmp"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// maxCandidates bounds the due webhooks that the loop knows at a time.
const maxCandidates = 100_000

// admission admits a webhook when its pace has a slot for an attempt.
type admission struct{ *Sender }

// Admit implements work.Admission. It reserves the slot.
func (a admission) Admit(i work.Item) bool {
	p, now := a.profileOf(i), a.Now()
	if i.Failures > 0 {
		p.suspect()
	}
	denied := isAhead(p.blockedUntil, now, unsignedWait) || !a.limiter.acquire(p.slot)
	a.mu.Lock()
	defer a.mu.Unlock()
	if denied {
		p.denied = now
		return false
	}
	reserved := p.slot
	p.reserved = &reserved
	a.profiles[lastmile.WebhookID(i.ID)] = p // or it may have been removed meanwhile, with the slot
	a.use(p, now)
	return true
}

// Done implements work.Admission. It releases the slot of a webhook that could
// not be leased.
func (a admission) Done(i work.Item) {
	p := a.profileOf(i)
	a.mu.Lock()
	reserved := p.reserved
	p.reserved = nil
	a.mu.Unlock()
	if reserved != nil {
		a.limiter.release(*reserved)
	}
}

// profileOf returns the profile of a webhook. It also removes profiles that have not
// been used for profileTTL, except those with a reserved slot: the clock may have been set
// after the webhook was admitted.
func (s *Sender) profileOf(i work.Item) *profile {
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.purged).Abs() >= profileTTL {
		s.purged = now
		for id, p := range s.profiles {
			if p.delivery == nil && p.reserved == nil && now.Sub(p.used).Abs() >= profileTTL {
				delete(s.profiles, id)
			}
		}
	}
	id := lastmile.WebhookID(i.ID)
	p := s.profiles[id]
	if p == nil {
		p = &profile{slot: slot{organization: i.Organization}, used: now}
		s.profiles[id] = p
	}
	return p
}

// leastRecent orders webhooks by when they were last served, so that they take
// turns.
func (s *Sender) leastRecent(a, b work.Item) int { return cmp.Compare(s.lastTurn(a), s.lastTurn(b)) }

func (s *Sender) lastTurn(i work.Item) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.profiles[lastmile.WebhookID(i.ID)]; p != nil {
		return p.turn
	}
	return 0
}

// use records that a webhook has its turn. The caller holds the lock.
func (s *Sender) use(p *profile, now time.Time) {
	s.turns++
	p.used, p.turn = now, s.turns
}

// isAhead reports whether a time is ahead of now by at most a duration. A time that is
// further ahead was set before the clock was set back.
func isAhead(at, now time.Time, most time.Duration) bool {
	wait := at.Sub(now)
	return wait > 0 && wait <= most
}
