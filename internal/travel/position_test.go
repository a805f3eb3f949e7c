package travel_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

func TestFilterPositions(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	home := lastmile.Point{Lon: -74, Lat: 40.7}
	at := func(ago time.Duration, p lastmile.Point) lastmile.Position {
		return lastmile.Position{Location: p, At: now.Add(-ago)}
	}
	near := lastmile.Point{Lon: -74.001, Lat: 40.7}
	tests := map[string]struct {
		last lastmile.Whereabouts
		sent []lastmile.Position
		want int
	}{
		"a first position":                   {lastmile.Whereabouts{}, []lastmile.Position{at(0, home)}, 1},
		"positions out of order":             {lastmile.Whereabouts{}, []lastmile.Position{at(0, near), at(time.Minute, home)}, 2},
		"the same time twice":                {lastmile.Whereabouts{}, []lastmile.Position{at(0, home), at(0, near)}, 1},
		"a little in the future":             {lastmile.Whereabouts{}, []lastmile.Position{at(-30*time.Second, home)}, 1},
		"far in the future":                  {lastmile.Whereabouts{}, []lastmile.Position{at(-time.Hour, home)}, 0},
		"from the day before yesterday":      {lastmile.Whereabouts{}, []lastmile.Position{at(48*time.Hour, home)}, 0},
		"a jump to another continent":        {lastmile.Whereabouts{LocatedAt: now.Add(-time.Second), Location: &home}, []lastmile.Position{at(0, lastmile.Point{Lon: 10, Lat: 10})}, 0},
		"another continent after hours":      {lastmile.Whereabouts{LocatedAt: now.Add(-9 * time.Hour), Location: &home}, []lastmile.Position{at(0, lastmile.Point{Lon: 10, Lat: 10})}, 1},
		"older than the last known location": {lastmile.Whereabouts{LocatedAt: now, Location: &home}, []lastmile.Position{at(time.Hour, near)}, 1},
		"a jump among older ones": {
			lastmile.Whereabouts{LocatedAt: now, Location: &home},
			[]lastmile.Position{at(time.Hour, near), at(time.Hour-time.Second, lastmile.Point{Lon: 10, Lat: 10}), at(time.Hour-2*time.Second, home)},
			2,
		},
		"the time of the last known location": {lastmile.Whereabouts{LocatedAt: now.Add(-time.Minute), Location: &home}, []lastmile.Position{at(time.Minute, near)}, 0},
		"a late one from another continent": {
			lastmile.Whereabouts{LocatedAt: now, Location: &home}, []lastmile.Position{at(time.Minute, lastmile.Point{Lon: 10, Lat: 10})}, 0,
		},
		"just accurate enough": {lastmile.Whereabouts{}, []lastmile.Position{{Location: home, At: now, Accuracy: new(1000.0)}}, 1},
		"too inaccurate":       {lastmile.Whereabouts{}, []lastmile.Position{{Location: home, At: now, Accuracy: new(1001.0)}}, 0},
		"a negative accuracy":  {lastmile.Whereabouts{}, []lastmile.Position{{Location: home, At: now, Accuracy: new(-1.0)}}, 0},
		"before going on duty": {
			lastmile.Whereabouts{LastSeen: now, LocatedAt: now.Add(-time.Hour), Location: &home},
			[]lastmile.Position{at(time.Minute, near)},
			1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := travel.FilterPositions(test.sent, test.last, now); len(got) != test.want {
				t.Errorf("%d positions accepted, want %d", len(got), test.want)
			}
		})
	}
}

func TestNewestPositionWins(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sent []lastmile.Position
		newest := lastmile.Position{}
		for range 20 {
			p := lastmile.Position{
				Location: lastmile.Point{Lon: -74 + random.Float64()/1e4, Lat: 40.7},
				At:       now.Add(-time.Duration(random.IntN(3600)) * time.Second),
			}
			sent = append(sent, p)
			if p.At.After(newest.At) {
				newest = p
			}
		}
		got := lastmile.Whereabouts{}.WithPositions(travel.FilterPositions(sent, lastmile.Whereabouts{}, now))
		if !got.LastSeen.Equal(newest.At) || *got.Location != newest.Location {
			t.Fatalf("worker seen at %v, want %v", got.LastSeen, newest.At)
		}
	}
}
