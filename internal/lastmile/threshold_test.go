package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestThresholds(t *testing.T) {
	hook := func(trigger lastmile.Trigger, threshold float64) lastmile.Webhook {
		return lastmile.Webhook{Trigger: trigger, Threshold: &threshold}
	}
	eta := func(d time.Duration) lastmile.Sighting { return lastmile.Sighting{ETA: &d} }
	away := func(m lastmile.Meters) lastmile.Sighting { return lastmile.Sighting{Distance: &m} }
	late := func(d time.Duration) lastmile.Sighting { return lastmile.Sighting{Delay: &d} }
	tests := map[string]struct {
		hook lastmile.Webhook
		by   lastmile.Sighting
		want bool
	}{
		"eta at the threshold":             {hook(lastmile.TriggerTaskEta, 300), eta(5 * time.Minute), true},
		"eta above it":                     {hook(lastmile.TriggerTaskEta, 300), eta(5*time.Minute + time.Second), false},
		"eta unknown":                      {hook(lastmile.TriggerTaskEta, 300), away(0), false},
		"distance at the threshold":        {hook(lastmile.TriggerTaskArrival, 150), away(150), true},
		"distance above it":                {hook(lastmile.TriggerTaskArrival, 150), away(150.1), false},
		"distance unknown":                 {hook(lastmile.TriggerTaskArrival, 150), eta(0), false},
		"delay at the threshold":           {hook(lastmile.TriggerTaskDelayed, 60), late(time.Minute), true},
		"delay below it":                   {hook(lastmile.TriggerTaskDelayed, 60), late(59 * time.Second), false},
		"not delayed":                      {hook(lastmile.TriggerTaskDelayed, 0), eta(0), false},
		"any delay without a threshold":    {lastmile.Webhook{Trigger: lastmile.TriggerTaskDelayed}, late(time.Millisecond), true},
		"another trigger has no threshold": {hook(lastmile.TriggerTaskStarted, 1e9), eta(0), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.hook.Met(test.by); got != test.want {
				t.Errorf("met: %v", got)
			}
		})
	}
}
