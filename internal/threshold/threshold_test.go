package threshold_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/threshold"
)

func TestThresholds(t *testing.T) {
	hook := func(trigger lastmile.Trigger, threshold float64) lastmile.Webhook {
		return lastmile.Webhook{Trigger: trigger, Threshold: &threshold}
	}
	eta := func(d time.Duration) threshold.Measurement { return threshold.Measurement{ETA: &d} }
	away := func(m lastmile.Meters) threshold.Measurement { return threshold.Measurement{Distance: &m} }
	late := func(d time.Duration) threshold.Measurement { return threshold.Measurement{Delay: &d} }
	tests := map[string]struct {
		hook lastmile.Webhook
		by   threshold.Measurement
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
			if got := test.by.Reaches(test.hook); got != test.want {
				t.Errorf("met: %v", got)
			}
		})
	}
}
