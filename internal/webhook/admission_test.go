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

// TestSlotsSurviveAChangeOfTheClock changes the clock between the admission of a webhook and
// its delivery. The profiles of webhooks that were not used for long are removed then.
func TestSlotsSurviveAChangeOfTheClock(t *testing.T) {
	for name, change := range map[string]time.Duration{"forward": 2 * profileTTL, "back": -2 * profileTTL} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			s := &Sender{Now: func() time.Time { return now }, limiter: newLimiter(func() {}), profiles: map[lastmile.WebhookID]*profile{}}
			first, second := work.Item{ID: "first"}, work.Item{ID: "second"}
			for _, i := range []work.Item{first, second} {
				if !(admission{s}).Admit(i) {
					t.Fatal("a webhook was not admitted")
				}
			}
			now = now.Add(change)
			for _, i := range []work.Item{first, second} {
				admission{s}.Done(i)
			}
			if n := s.limiter.inFlight(); n != 0 {
				t.Errorf("%d slots were not released", n)
			}
			now = now.Add(change)
			s.profileOf(work.Item{ID: "third"})
			if len(s.profiles) != 1 {
				t.Errorf("%d profiles are kept, want the latest", len(s.profiles))
			}
		})
	}
}

// TestProfilesStayWhileTheyAreAdmitted: a webhook that was not used for long is admitted while
// another goroutine removes such profiles.
func TestProfilesStayWhileTheyAreAdmitted(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s := &Sender{limiter: newLimiter(func() {}), profiles: map[lastmile.WebhookID]*profile{}}
	asked, item := 0, work.Item{ID: "first"}
	s.Now = func() time.Time {
		if asked++; asked == 2 { // after Admit has found the profile
			now = now.Add(2 * profileTTL)
			asked += 10
			s.profileOf(work.Item{ID: "other"})
		}
		return now
	}
	if !(admission{s}).Admit(item) {
		t.Fatal("the webhook was not admitted")
	}
	admission{s}.Done(item)
	if n := s.limiter.inFlight(); n != 0 {
		t.Errorf("%d slots were not released", n)
	}
}
