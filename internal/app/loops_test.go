package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAPanicOfAStepIsLogged: the process goes on, and so do the step's next runs.
func TestAPanicOfAStepIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a, runs := &App{Log: slog.New(slog.NewTextHandler(&log, nil))}, 0
		ctx, cancel := context.WithCancel(t.Context())
		a.every(ctx, time.Second, "ring", func(context.Context) error {
			if runs++; runs == 1 {
				panic("out of tune")
			}
			return nil
		})
		time.Sleep(2500 * time.Millisecond)
		cancel()
		a.loops.Wait()
		if runs != 2 || !strings.Contains(log.String(), "out of tune") {
			t.Errorf("the step ran %d times, want 2; logged %s", runs, &log)
		}
	})
}
