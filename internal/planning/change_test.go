package planning

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestShiftsThatAreLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	hours := func(ends ...int) (all []lastmile.Window) {
		for i := 0; i < len(ends); i += 2 {
			all = append(all, lastmile.Window{From: now.Add(time.Duration(ends[i]) * time.Hour), To: now.Add(time.Duration(ends[i+1]) * time.Hour)})
		}
		return all
	}
	for name, tt := range map[string]struct {
		planned, others []lastmile.Window
		want            bool
	}{
		"the same":                    {hours(1, 4), hours(1, 4), true},
		"began at another time":       {hours(-3, 4), hours(-1, 4), true},
		"a shift is over":             {hours(-3, -1, 1, 4), hours(1, 4), true},
		"a shift that is over is new": {hours(1, 4), hours(-3, 0, 1, 4), true},
		"ends earlier":                {hours(-1, 4), hours(-1, 3), false},
		"ends later":                  {hours(-1, 4), hours(-1, 5), false},
		"begins later":                {hours(-1, 4), hours(1, 4), false},
		"has a break":                 {hours(-1, 4), hours(-1, 1, 2, 4), false},
		"does not work":               {hours(-1, 4), nil, false},
		"both are over":               {hours(-3, -1), nil, true},
	} {
		if got := SameShifts(tt.planned, tt.others, now); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTaskThatEndedIsOneChange(t *testing.T) {
	t.Parallel()
	got := WithoutImplied([]Change{
		{What: WorkerOffDuty, Worker: "W1"},
		{What: TaskRemoved, Worker: "W1", Task: "T1"},
		{What: TaskRemoved, Worker: "W1", Task: "T2"},
		{What: TaskEnded, Worker: "W1", Task: "T1"},
		{What: TaskTeam, Task: "T1"},
	})
	want := []Change{{What: WorkerOffDuty, Worker: "W1"}, {What: TaskRemoved, Worker: "W1", Task: "T2"}, {What: TaskEnded, Worker: "W1", Task: "T1"}}
	if !slices.Equal(got, want) {
		t.Errorf("the changes are %v, want %v", got, want)
	}
}

func TestEveryDifferenceHasWords(t *testing.T) {
	t.Parallel()
	for _, what := range Difference("").Values() {
		got := Change{What: what, Task: "T1", Worker: "W1", Age: time.Minute}.String()
		if got == "" || strings.Contains(got, "{") || !strings.Contains(got, "T1") && !strings.Contains(got, "W1") {
			t.Errorf("%s is %q", what, got)
		}
	}
}
