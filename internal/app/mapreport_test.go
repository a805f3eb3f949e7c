package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestAProblemWithMapsIsLoggedOnce, even if it is found by several goroutines: a demo opens
// the maps while they are refreshed.
func TestAProblemWithMapsIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	m := &Maps{log: slog.New(slog.NewTextHandler(&log, nil))}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { m.report(errors.New("damaged")) })
	}
	group.Wait()
	m.report(nil)
	m.report(errors.New("damaged"))
	if n := strings.Count(log.String(), "damaged"); n != 2 {
		t.Errorf("logged %d times, want once for each time that the problem began:\n%s", n, &log)
	}
}
