package sqlstore

import (
	"fmt"
	"sync"
	"testing"
)

func TestACommandGetsItsTurnBesideABusyServer(t *testing.T) {
	folder := t.TempDir()
	server, err := openSQLite(t.Context(), sqliteOptions(folder))
	must(t, err)
	defer server.close()
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
				if err := server.write(ctx, put(ctx, fmt.Sprintf("%d-%d", w, i), 1)); err != nil {
					t.Errorf("server: %v", err)
					return
				}
			}
		})
	}
	o := sqliteOptions(folder)
	o.Serve = false
	for i := range 30 {
		tool, err := openSQLite(ctx, o)
		must(t, err)
		err = tool.write(ctx, put(ctx, fmt.Sprintf("tool-%d", i), 1))
		if err != nil {
			t.Errorf("command: %v", err)
		}
		must(t, tool.close())
	}
	close(stop)
	wg.Wait()
}
