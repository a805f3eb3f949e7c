package app

import (
	"context"
	"errors"
	"testing"
)

// An interrupt that arrives before the server has said that it is ready ends it as
// cleanly as a later one; a failure is still reported.
func TestRunIsInterruptedBeforeItIsReady(t *testing.T) {
	c := DefaultConfig()
	c.Listen, c.AdminListen, c.Data = "127.0.0.1:0", "", t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	err := Run(ctx, c, func(ctx context.Context, _ *App) error {
		interrupt()
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Errorf("interrupted: %v", err)
	}
	broken := errors.New("broken")
	if err := Run(t.Context(), c, func(context.Context, *App) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
}
