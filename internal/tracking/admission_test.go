package tracking_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/tracking"
	"dray/internal/travel"
)

// Limits of positions, as in docs/limits.md.
const (
	phoneBurst        = 20_000
	phoneRate         = 100
	organizationBurst = 50_000
)

// admission reports positions to a tracker that stores nothing.
type admission struct{ tracker *tracking.Tracker }

func newAdmission(now func() time.Time) admission {
	return admission{&tracking.Tracker{Store: &occupied{}, Now: now, Admission: tracking.NewAdmission(now)}}
}

// admit reports as many positions as fit into one report.
func (a admission) admit(t *testing.T, who lastmile.Principal) error {
	t.Helper()
	_, err := a.tracker.Report(t.Context(), who, make([]lastmile.Position, travel.MaxPositions))
	return err
}

func TestPositionsAreLimitedByPhoneAndOrganization(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	a := newAdmission(func() time.Time { return now })
	flood := func(who lastmile.Principal) (taken int) {
		for taken < 10*organizationBurst {
			err := a.admit(t, who)
			if err != nil {
				if e, ok := errors.AsType[*lastmile.Error](err); !ok || e.Code != lastmile.CodeTooMany {
					t.Fatal(err)
				}
				return taken
			}
			taken += travel.MaxPositions
		}
		return taken
	}
	phone := lastmile.Principal{Organization: "org", Worker: "worker"}
	if got := flood(phone); got != phoneBurst {
		t.Errorf("%d positions at once, want %d", got, phoneBurst)
	}
	now = now.Add(time.Minute)
	if got := flood(phone); got != 60*phoneRate {
		t.Errorf("%d positions in a minute, want %d", got, 60*phoneRate)
	}
	if got := flood(lastmile.Principal{Organization: "other", Worker: "worker"}); got != phoneBurst {
		t.Errorf("a worker of another organization can report %d positions, want %d", got, phoneBurst)
	}
	now = now.Add(time.Hour)
	all := 0
	for i := range 2 * organizationBurst / phoneBurst {
		all += flood(lastmile.Principal{Organization: "org", Worker: lastmile.WorkerID(fmt.Sprint(i))})
	}
	if all != organizationBurst {
		t.Errorf("%d positions of an organization at once, want %d", all, organizationBurst)
	}
	rejected := lastmile.Principal{Organization: "org", Worker: "late"}
	if flood(rejected) != 0 {
		t.Error("the organization can report more")
	}
	now = now.Add(time.Hour)
	if got := flood(rejected); got != phoneBurst {
		t.Errorf("a worker of a rejected report has %d left, want %d", got, phoneBurst)
	}
}

func TestAPhoneThatWasOfflineForADayCatchesUp(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	a := newAdmission(func() time.Time { return now })
	phone := lastmile.Principal{Organization: "org", Worker: "worker"}
	for range int(travel.MaxPositionAge/(5*time.Second)) / travel.MaxPositions {
		if err := a.admit(t, phone); err != nil {
			t.Fatal(err)
		}
	}
}

// occupied is a Store whose writes take as long as configured and store nothing.
type occupied struct {
	tracking.Store
	takes        time.Duration
	mu           sync.Mutex
	writes, most int
}

func (o *occupied) Write(context.Context, func(tracking.Writer) error) error {
	o.mu.Lock()
	o.writes++
	o.most = max(o.most, o.writes)
	o.mu.Unlock()
	time.Sleep(o.takes)
	o.mu.Lock()
	o.writes--
	o.mu.Unlock()
	return nil
}

func TestReportsOfAPhoneTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &occupied{takes: time.Second}
		tracker := &tracking.Tracker{Store: slow, Now: time.Now}
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				who := lastmile.Principal{Organization: "org", Worker: lastmile.WorkerID(fmt.Sprint(i % 3))}
				if _, err := tracker.Report(t.Context(), who, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if slow.most != 3 {
			t.Errorf("%d reports of 3 phones were saved at the same time", slow.most)
		}
	})
}
