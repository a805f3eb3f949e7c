package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestGoingOnDutyHidesNoPosition(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	first, second := lastmile.Point{Lon: -74, Lat: 40.7}, lastmile.Point{Lon: -74.001, Lat: 40.7}
	at := lastmile.Whereabouts{OnDuty: true, LastSeen: now}
	at = at.See([]lastmile.Position{{Location: first, At: now.Add(-2 * time.Minute)}})
	at = at.See([]lastmile.Position{{Location: second, At: now.Add(-time.Minute)}})
	if *at.Location != second || !at.LastSeen.Equal(now) {
		t.Errorf("at %v, seen %v", at.Location, at.LastSeen)
	}
}
