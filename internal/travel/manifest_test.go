package travel_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

func TestManifest(t *testing.T) {
	at := func(hours int) time.Time { return testNow.Add(time.Duration(hours) * time.Hour) }
	window := func(id lastmile.TaskID, after, by time.Time) lastmile.Task {
		return lastmile.Task{ID: id, CompleteAfter: after, CompleteBefore: by}
	}
	none := time.Time{}
	tasks := []lastmile.Task{window("early", at(1), at(2)), window("any", none, none), window("late", at(10), at(12))}
	tests := map[string]struct {
		within    lastmile.Window
		want      []lastmile.TaskID
		departure time.Time
	}{
		"all tasks":                   {lastmile.Window{}, []lastmile.TaskID{"early", "any", "late"}, at(1)},
		"without tasks that are over": {lastmile.Window{From: at(5)}, []lastmile.TaskID{"any", "late"}, testNow},
		"without future tasks":        {lastmile.Window{To: at(5)}, []lastmile.TaskID{"early", "any"}, at(1)},
		"tasks within the window":     {lastmile.Window{From: at(3), To: at(5)}, []lastmile.TaskID{"any"}, testNow},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := travel.NewManifest(lastmile.Worker{}, lastmile.Hub{}, tasks, test.within, testNow)
			var got []lastmile.TaskID
			for _, task := range m.Tasks {
				got = append(got, task.ID)
			}
			if len(got) != len(test.want) || got[0] != test.want[0] || got[len(got)-1] != test.want[len(got)-1] || !m.Departure.Equal(test.departure) {
				t.Errorf("%v from %v, want %v from %v", got, m.Departure, test.want, test.departure)
			}
		})
	}
}
