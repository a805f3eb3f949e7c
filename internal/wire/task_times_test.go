package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestAppendedTimesAreThoseEncoded(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_123)
	long, short, early := 90*time.Second, 499*time.Millisecond, -1500*time.Millisecond
	for name, e := range map[string]lastmile.Estimates{
		"unknown": {},
		"known":   {Arrival: at, Completion: at.Add(time.Minute), ETA: &long, Delay: &short},
		"early":   {Completion: at, Delay: &early},
	} {
		times := wire.NewTaskTimes(e)
		want, err := json.Marshal(times)
		if err != nil {
			t.Fatal(err)
		}
		if got := "{" + string(times.AppendMembers(nil)) + "}"; got != string(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
