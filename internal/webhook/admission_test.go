package webhook

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// TestTurnsSurviveAClockSetBack: a webhook that was used or blocked before the clock was set
// back does not wait until the clock reaches that time again.
func TestTurnsSurviveAClockSetBack(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s := &Sender{Now: func() time.Time { return now }, limiter: newLimiter(func() {}), profiles: map[lastmile.WebhookID]*profile{}}
	first, second := work.Item{ID: "first"}, work.Item{ID: "second"}
	admit := func(i work.Item) bool {
		ok := admission{s}.Admit(i)
		if ok {
			s.profileOf(i).release(s.limiter)
		}
		return ok
	}
	admit(first)
	s.profileOf(second).blockedUntil = now.Add(errorPause)
	if admit(second) {
		t.Error("a blocked webhook was admitted")
	}
	now = now.Add(-time.Hour)
	if !admit(second) {
		t.Error("a webhook is blocked for an hour")
	}
	if s.leastRecent(first, second) >= 0 {
		t.Error("it is not the turn of the webhook that was used first")
	}
}
