package analytics_test

import (
	"errors"
	"testing"
	"time"

	"dray/internal/analytics"
	"dray/internal/lastmile"
)

var testNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

func TestAnalyticsWindow(t *testing.T) {
	now := testNow
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	none := time.Time{}
	tests := map[string]struct {
		from, to time.Time
		want     lastmile.Window
		code     lastmile.Code
	}{
		"the last seven days":             {none, none, lastmile.Window{From: ago(168), To: now}, 0},
		"a day":                           {ago(48), ago(24), lastmile.Window{From: ago(48), To: ago(24)}, 0},
		"a day from a time":               {ago(48), none, lastmile.Window{From: ago(48), To: ago(24)}, 0},
		"from a time until now":           {ago(5), none, lastmile.Window{From: ago(5), To: now}, 0},
		"the day before a time":           {none, ago(24), lastmile.Window{From: ago(48), To: ago(24)}, 0},
		"an end that is still to come":    {ago(1), ago(-1), lastmile.Window{From: ago(1), To: now}, 0},
		"more than a day":                 {ago(25), now, lastmile.Window{}, lastmile.CodeInvalid},
		"no time at all":                  {ago(1), ago(1), lastmile.Window{}, lastmile.CodeInvalid},
		"an end before the start":         {ago(1), ago(2), lastmile.Window{}, lastmile.CodeInvalid},
		"a day that is just long enough":  {ago(24), now, lastmile.Window{From: ago(24), To: now}, 0},
		"a day and a bit is already more": {ago(24).Add(-1), now, lastmile.Window{}, lastmile.CodeInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := analytics.NewWindow(test.from, test.to, now)
			rejection, _ := errors.AsType[*lastmile.Error](err)
			if (err != nil) != (test.code != 0) || rejection != nil && rejection.Code != test.code {
				t.Errorf("got %v, want code %v", err, test.code)
			}
			if err == nil && got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAnalyzeWork(t *testing.T) {
	at := func(minutes int) time.Time { return testNow.Add(time.Duration(minutes) * time.Minute) }
	hour := lastmile.Window{From: at(0), To: at(60)}
	task := func(start, end int, success bool) lastmile.Task {
		return lastmile.Task{State: lastmile.TaskCompleted, Completion: lastmile.Completion{
			Events: []lastmile.CompletionEvent{{Name: "start", At: at(start)}, {Name: "arrival", At: at(start + 1)}},
			At:     at(end), Success: success, Distance: 100,
		}}
	}
	active := lastmile.Task{State: lastmile.TaskActive, Completion: lastmile.Completion{Events: []lastmile.CompletionEvent{{Name: "start", At: at(50)}}}}
	unknown := lastmile.Task{State: lastmile.TaskCompleted, Completion: lastmile.Completion{At: at(30)}}
	on, off := func(m int) lastmile.DutyChange { return lastmile.DutyChange{At: at(m), OnDuty: true} }, func(m int) lastmile.DutyChange { return lastmile.DutyChange{At: at(m)} }
	tests := map[string]struct {
		duty              lastmile.Duty
		tasks             []lastmile.Task
		enroute, idle     int // minutes
		meters            lastmile.Meters
		succeeded, failed int
	}{
		"off duty all the time":           {},
		"on duty all the time":            {duty: lastmile.Duty{Before: true}, idle: 60},
		"on duty for a while":             {duty: lastmile.Duty{Changes: []lastmile.DutyChange{on(10), off(30)}}, idle: 20},
		"off duty in between":             {duty: lastmile.Duty{Before: true, Changes: []lastmile.DutyChange{off(10), on(50)}}, idle: 20},
		"two tasks":                       {lastmile.Duty{Before: true}, []lastmile.Task{task(5, 15, true), task(20, 35, false)}, 25, 35, 200, 1, 1},
		"a task begun before the window":  {lastmile.Duty{Before: true}, []lastmile.Task{task(-30, 15, true)}, 15, 45, 100, 1, 0},
		"a task still under way":          {lastmile.Duty{Before: true}, []lastmile.Task{active}, 10, 50, 0, 0, 0},
		"a task whose start is not known": {lastmile.Duty{Before: true}, []lastmile.Task{unknown}, 0, 60, 0, 0, 1},
		"work without duty is not idling": {lastmile.Duty{}, []lastmile.Task{task(5, 15, true)}, 10, 0, 100, 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := analytics.Summarize(hour, test.duty, test.tasks)
			if got.EnrouteTime != time.Duration(test.enroute)*time.Minute || got.IdleTime != time.Duration(test.idle)*time.Minute {
				t.Errorf("enroute %v, idle %v", got.EnrouteTime, got.IdleTime)
			}
			if got.EnrouteDistance != test.meters || got.Succeeded != test.succeeded || got.Failed != test.failed || len(got.Events) != len(test.duty.Changes) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
