package sqlite

import (
	"fmt"
	"sync"
	"testing"
)

func TestACommandGetsItsTurnBesideABusyServer(t *testing.T) {
	folder := t.TempDir()
	server, err := Open(t.Context(), options(folder))
	must(t, err)
	defer server.Close()
	ctx := t.Context()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := server.Write(ctx, put(ctx, fmt.Sprintf("%d-%d", w, i), 1)); err != nil {
					t.Errorf("server: %v", err)
					return
				}
			}
		})
	}
	o := options(folder)
	o.Serve = false
	for i := range 30 {
		tool, err := Open(ctx, o)
		must(t, err)
		err = tool.Write(ctx, put(ctx, fmt.Sprintf("tool-%d", i), 1))
		if err != nil {
			t.Errorf("command: %v", err)
		}
		must(t, tool.Close())
	}
	close(stop)
	wg.Wait()
}
