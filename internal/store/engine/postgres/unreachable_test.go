package postgres

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// TestClientsLearnNothingOfTheDatabase: the driver's error names hosts and users.
func TestClientsLearnNothingOfTheDatabase(t *testing.T) {
	var log bytes.Buffer
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	engine := &Engine{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }}
	cause := errors.New("failed to connect to `user=dray database=prod`: dial db.internal:5432")
	var shown *lastmile.Error
	for range 3 {
		var ok bool
		if shown, ok = errors.AsType[*lastmile.Error](engine.unreachable(cause)); !ok || shown.Code != lastmile.CodeOverloaded {
			t.Fatalf("got %v", shown)
		}
	}
	if strings.Contains(shown.Error(), "dray") || strings.Contains(shown.Error(), "db.internal") {
		t.Errorf("clients see %q", shown.Error())
	}
	if n := strings.Count(log.String(), "db.internal"); n != 1 {
		t.Errorf("the log has the cause %d times in a second:\n%s", n, log.String())
	}
}

func TestErrorsAfterTheEndOfAnOperation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	failed := errors.New("write failed: i/o timeout")
	if err := ended(ctx, failed); !errors.Is(err, failed) || givenUp(err) {
		t.Errorf("before the end: %v", err)
	}
	cancel()
	if err := ended(ctx, failed); !errors.Is(err, failed) || !errors.Is(err, context.Canceled) {
		t.Errorf("after it: %v", err)
	}
}
