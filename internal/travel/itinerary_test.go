package travel_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

func TestEstimate(t *testing.T) {
	const leg, service = 10 * time.Minute, 4 * time.Minute
	now := testNow
	task := func(state lastmile.TaskState, dueIn time.Duration) lastmile.Task {
		t := lastmile.Task{ID: "t", State: state, Destination: lastmile.Destination{Location: north(1000)}}
		if dueIn != 0 {
			t.CompleteBefore = now.Add(dueIn)
		}
		return t
	}
	arrived := task(lastmile.TaskActive, time.Minute)
	arrived.Completion.Events = []lastmile.CompletionEvent{{Name: "start", At: now.Add(-time.Hour)}, {Name: "arrival", At: now.Add(-time.Minute)}}
	lingering := task(lastmile.TaskActive, -2*time.Hour)
	lingering.Completion.Events = []lastmile.CompletionEvent{{Name: "arrival", At: now.Add(-time.Hour)}}
	inTime := lingering // arrived within a window that has closed since
	inTime.CompleteBefore = now.Add(-time.Minute)
	windowed, windowedActive, waiting := task(lastmile.TaskAssigned, 2*time.Hour), task(lastmile.TaskActive, 2*time.Hour), arrived
	windowed.CompleteAfter, windowedActive.CompleteAfter = now.Add(time.Hour), now.Add(time.Hour)
	waiting.CompleteAfter, waiting.CompleteBefore = now.Add(time.Hour), now.Add(2*time.Hour)
	quick := task(lastmile.TaskAssigned, 0)
	quick.ServiceTime, quick.PlannedService = new(time.Minute), new(3*time.Minute)
	planned := task(lastmile.TaskAssigned, 0)
	planned.PlannedService = new(3 * time.Minute)
	none := task(lastmile.TaskAssigned, 0)
	none.ServiceTime = new(time.Duration(0))
	legs := func(each ...time.Duration) []travel.Leg {
		var all []travel.Leg
		for _, d := range each {
			all = append(all, travel.Leg{Duration: d})
		}
		return all
	}
	after := func(d time.Duration) time.Time { return now.Add(d) }

	tests := map[string]struct {
		tasks []lastmile.Task
		legs  []travel.Leg
		want  []lastmile.Estimates
	}{
		"nothing to do": {},
		"an assigned task is done after travel and service": {
			[]lastmile.Task{task(lastmile.TaskAssigned, 0)},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + service)}},
		},
		"a service time of the task takes precedence": {
			[]lastmile.Task{quick},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + time.Minute)}},
		},
		"or else the one with which it was planned": {
			[]lastmile.Task{planned},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + 3*time.Minute)}},
		},
		"an active task also has an ETA": {
			[]lastmile.Task{task(lastmile.TaskActive, 0)},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + service), ETA: new(leg)}},
		},
		"a service time of zero counts": {
			[]lastmile.Task{none},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg)}},
		},
		"tasks come one after the other": {
			[]lastmile.Task{task(lastmile.TaskActive, 0), quick, task(lastmile.TaskAssigned, 0)},
			legs(leg, leg, leg),
			[]lastmile.Estimates{
				{Arrival: after(leg), Completion: after(leg + service), ETA: new(leg)},
				{Arrival: after(2*leg + service), Completion: after(2*leg + service + time.Minute)},
				{Arrival: after(3*leg + service + time.Minute), Completion: after(3*leg + 2*service + time.Minute)},
			},
		},
		"a task that is begun after completeBefore is late": {
			[]lastmile.Task{task(lastmile.TaskAssigned, leg-service)},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + service), Delay: new(service)}},
		},
		"a task that is begun in time has no delay, however long the service": {
			[]lastmile.Task{task(lastmile.TaskAssigned, leg)},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + service)}},
		},
		"an early worker waits, which delays the next task": {
			[]lastmile.Task{windowed, task(lastmile.TaskAssigned, time.Hour)},
			legs(leg, leg),
			[]lastmile.Estimates{
				{Arrival: after(leg), Completion: after(time.Hour + service)},
				{Arrival: after(time.Hour + service + leg), Completion: after(time.Hour + 2*service + leg), Delay: new(service + leg)},
			},
		},
		"the ETA is travel time without the wait": {
			[]lastmile.Task{windowedActive},
			legs(leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(time.Hour + service), ETA: new(leg)}},
		},
		"a worker who arrived early is waiting": {
			[]lastmile.Task{waiting, quick},
			legs(leg, leg),
			[]lastmile.Estimates{
				{Arrival: after(-time.Minute), Completion: after(time.Hour + service), ETA: new(time.Duration(0))},
				{Arrival: after(time.Hour + service + leg), Completion: after(time.Hour + service + leg + time.Minute)},
			},
		},
		"a worker who has arrived stays for the rest": {
			[]lastmile.Task{arrived, quick},
			legs(leg, leg),
			[]lastmile.Estimates{
				{Arrival: after(-time.Minute), Completion: after(3 * time.Minute), ETA: new(time.Duration(0))},
				{Arrival: after(3*time.Minute + leg), Completion: after(4*time.Minute + leg)},
			},
		},
		"a worker who stays longer than expected leaves now": {
			[]lastmile.Task{lingering, quick},
			legs(leg, leg),
			[]lastmile.Estimates{
				{Arrival: after(-time.Hour), Completion: now, ETA: new(time.Duration(0)), Delay: new(time.Hour)},
				{Arrival: after(leg), Completion: after(leg + time.Minute)},
			},
		},
		"without legs, only tasks that are late already have a delay": {
			[]lastmile.Task{task(lastmile.TaskAssigned, time.Hour), task(lastmile.TaskAssigned, -time.Hour)},
			nil,
			[]lastmile.Estimates{{}, {Delay: new(time.Hour)}},
		},
		"without legs, an arrival in the past is known": {
			[]lastmile.Task{inTime, quick},
			nil,
			[]lastmile.Estimates{{Arrival: after(-time.Hour), Completion: now, ETA: new(time.Duration(0))}, {}},
		},
		"a worker who has arrived needs no leg": {
			[]lastmile.Task{lingering, quick},
			legs(travel.Unreachable, leg),
			[]lastmile.Estimates{
				{Arrival: after(-time.Hour), Completion: now, ETA: new(time.Duration(0)), Delay: new(time.Hour)},
				{Arrival: after(leg), Completion: after(leg + time.Minute)},
			},
		},
		"nothing is known after an unreachable location": {
			[]lastmile.Task{quick, quick, quick},
			legs(leg, travel.Unreachable, leg),
			[]lastmile.Estimates{{Arrival: after(leg), Completion: after(leg + time.Minute)}, {}, {}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := travel.Itinerary{Tasks: test.tasks}.Estimate(test.legs, travel.Experience{Service: service}, now)
			if len(got) != len(test.want) {
				t.Fatalf("%d estimates, want %d", len(got), len(test.want))
			}
			for i, want := range test.want {
				if g := got[i]; !g.Arrival.Equal(want.Arrival) || !g.Completion.Equal(want.Completion) || !sameSpan(g.ETA, want.ETA) || !sameSpan(g.Delay, want.Delay) {
					t.Errorf("task %d: %v, want %v", i, g, want)
				}
			}
		})
	}
}

func sameSpan(a, b *time.Duration) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func TestLearnServiceTime(t *testing.T) {
	stays := func(n int, each time.Duration) []lastmile.Trip {
		trips := make([]lastmile.Trip, n)
		for i := range trips {
			trips[i].Service = each
		}
		return trips
	}
	tests := map[string]struct {
		trips []lastmile.Trip
		want  time.Duration
	}{
		"nothing known":                 {nil, travel.DefaultServiceTime},
		"too few":                       {stays(9, time.Minute), travel.DefaultServiceTime},
		"enough":                        {stays(10, 7*time.Minute), 7 * time.Minute},
		"the median":                    {append(stays(6, time.Minute), stays(5, time.Hour)...), time.Minute},
		"implausible ones are left out": {append(stays(9, time.Minute), stays(50, 9*time.Hour)...), travel.DefaultServiceTime},
		"unknown ones are left out":     {append(stays(10, time.Minute), stays(50, 0)...), time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := travel.Learn(test.trips, 1).Service; got != test.want {
				t.Errorf("learned %v, want %v", got, test.want)
			}
		})
	}
}
