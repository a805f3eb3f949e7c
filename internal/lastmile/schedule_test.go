package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestLate(t *testing.T) {
	nine := time.Date(2026, time.May, 4, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return nine.Add(time.Duration(minutes) * time.Minute) }
	window := lastmile.Task{State: lastmile.TaskAssigned, CompleteAfter: nine, CompleteBefore: at(60)}
	arrived := func(minutes int) lastmile.Task {
		task := window
		task.State = lastmile.TaskActive
		task.Completion.Events = []lastmile.CompletionEvent{{Name: "start", At: at(-60)}, {Name: "arrival", At: at(minutes)}}
		return task
	}
	done := window
	done.State = lastmile.TaskCompleted
	for name, test := range map[string]struct {
		task lastmile.Task
		now  time.Time
		want time.Duration
	}{
		"before the window":                       {window, at(-30), 0},
		"at the end of the window":                {window, at(60), 0},
		"after the window":                        {window, at(67), 7 * time.Minute},
		"no window":                               {lastmile.Task{}, at(1000), 0},
		"a window that is open at the end":        {lastmile.Task{CompleteAfter: nine}, at(1000), 0},
		"arrived in the window, served after it":  {arrived(60), at(75), 0},
		"arrived before the window, waiting":      {arrived(-20), at(-10), 0},
		"arrived before the window, served after": {arrived(-20), at(75), 0},
		"arrived after the window":                {arrived(63), at(90), 3 * time.Minute},
		"completed":                               {done, at(90), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.task.Late(test.now); got != test.want {
				t.Errorf("late by %v, want %v", got, test.want)
			}
		})
	}
}

func TestExpectedTimeWaitsForTheWindow(t *testing.T) {
	nine := time.Date(2026, time.May, 4, 9, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		after, arrival, want time.Time
	}{
		"unknown":           {after: nine},
		"no window":         {arrival: nine, want: nine},
		"early":             {after: nine, arrival: nine.Add(-20 * time.Minute), want: nine},
		"when it opens":     {after: nine, arrival: nine, want: nine},
		"inside the window": {after: nine, arrival: nine.Add(time.Minute), want: nine.Add(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			task := lastmile.Task{CompleteAfter: test.after, Estimates: lastmile.Estimates{Arrival: test.arrival}}
			if got := task.Estimates.ServiceStart(task.Window()); !got.Equal(test.want) {
				t.Errorf("expected %v, want %v", got, test.want)
			}
		})
	}
}

func TestAnArrivalSettlesTheEstimates(t *testing.T) {
	nine := time.Date(2026, time.May, 4, 9, 0, 0, 0, time.UTC)
	task := lastmile.Task{
		State: lastmile.TaskActive, CompleteAfter: nine, CompleteBefore: nine.Add(time.Hour),
		Estimates: lastmile.Estimates{Arrival: nine.Add(65 * time.Minute), Completion: nine.Add(70 * time.Minute), ETA: new(4 * time.Minute), Delay: new(5 * time.Minute)},
	}
	visit := func(minutes int) {
		t.Helper()
		if _, err := task.Visit("arrival", lastmile.Action{At: nine.Add(time.Duration(minutes) * time.Minute)}, lastmile.Actor{}); err != nil {
			t.Fatal(err)
		}
	}
	visit(58)
	want := lastmile.Estimates{Arrival: nine.Add(58 * time.Minute), Completion: nine.Add(63 * time.Minute), ETA: new(time.Duration(0))}
	if !task.Estimates.Equal(want) {
		t.Errorf("after the arrival %+v, want %+v", task.Estimates, want)
	}
	visit(80) // coming back changes nothing: the first arrival counts
	if !task.Estimates.Equal(want) {
		t.Errorf("after the second arrival %+v, want %+v", task.Estimates, want)
	}
}

func TestShiftsOfADayAreLimited(t *testing.T) {
	day := time.Date(2026, time.May, 4, 0, 0, 0, 0, time.UTC)
	var shifts []lastmile.Shift
	for i := range lastmile.MaxShifts {
		start := day.Add(time.Duration(i) * time.Minute)
		shifts = append(shifts, lastmile.Shift{Start: start, End: start.Add(time.Minute)})
	}
	schedule := func(shifts ...lastmile.Shift) error {
		_, err := lastmile.NewSchedule([]lastmile.ScheduleEntry{{Date: "2026-05-04", Timezone: "UTC", Shifts: shifts}}, day)
		return err
	}
	if err := schedule(shifts...); err != nil {
		t.Error(err)
	}
	if err := schedule(append(shifts, lastmile.Shift{Start: day.Add(20 * time.Hour), End: day.Add(21 * time.Hour)})...); err == nil {
		t.Errorf("%d shifts were accepted", lastmile.MaxShifts+1)
	}
}

func TestADayIsKeptWhileOneOfItsShiftsLasts(t *testing.T) {
	evening := time.Date(2026, time.May, 4, 22, 0, 0, 0, time.UTC)
	entries := []lastmile.ScheduleEntry{{Date: "2026-05-04", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: evening, End: evening.Add(8 * time.Hour)}}}}
	for _, test := range []struct {
		after time.Duration
		kept  int
	}{{time.Hour, 1}, {7 * time.Hour, 1}, {8 * time.Hour, 0}, {26 * time.Hour, 0}} {
		kept, err := lastmile.NewSchedule(entries, evening.Add(test.after))
		if err != nil || len(kept) != test.kept {
			t.Errorf("%v after the start of a shift of 8 hours, %d days are kept (%v), want %d", test.after, len(kept), err, test.kept)
		}
	}
}
