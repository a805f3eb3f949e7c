package storetest

import (
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store"
)

func testMessages(t *testing.T, s store.Store) {
	ctx := t.Context()
	got := read(t, s, func(r store.Reader) (lastmile.NotificationThresholds, error) { return r.NotificationThresholds(ctx, acme) })
	same(t, "thresholds of an organization that has set none", got, lastmile.DefaultThresholds)
}
