package webhook

import (
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// maxCandidates bounds the due webhooks that are known at a time.
const maxCandidates = 100_000

// admission admits a webhook when its pace has a slot for its first attempt.
type admission struct{ sender *Sender }

// Admit implements work.Admission. It reserves the slot.
func (a admission) Admit(i work.Item) bool {
	s, now := a.sender, a.sender.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profileOf(i, now)
	if i.Failures > 0 {
		p.suspect()
	}
	if now.Before(p.blockedUntil) || !s.limiter.acquire(p.slot) {
		return false
	}
	s.reserved[lastmile.WebhookID(i.ID)] = p.slot
	return true
}

// Done implements work.Admission. It releases the slot of a webhook that could
// not be leased.
func (a admission) Done(i work.Item) {
	if slot, ok := a.sender.takeReserved(lastmile.WebhookID(i.ID)); ok {
		a.sender.limiter.release(slot)
	}
}

func (s *Sender) takeReserved(id lastmile.WebhookID) (slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reserved, ok := s.reserved[id]
	delete(s.reserved, id)
	return reserved, ok
}

// profileOf returns the profile of a webhook, and removes those of webhooks that
// have not been used for a while. The caller holds the lock.
func (s *Sender) profileOf(i work.Item, now time.Time) *profile {
	if now.Sub(s.purged) >= profileTTL {
		s.purged = now
		for id, p := range s.profiles {
			if now.Sub(p.used) >= profileTTL {
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
func (s *Sender) leastRecent(a, b work.Item) int {
	return s.lastUsed(a).Compare(s.lastUsed(b))
}

func (s *Sender) lastUsed(i work.Item) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.profiles[lastmile.WebhookID(i.ID)]; p != nil {
		return p.used
	}
	return time.Time{}
}
