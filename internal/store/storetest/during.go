package storetest

import (
	"context"
	"sync"
	"testing"
)

// During runs background loops while something happens. Then it ends them and waits until
// they have returned.
func During[L interface{ Run(ctx context.Context) }](t testing.TB, do func(), loops ...L) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, loop := range loops {
		running.Go(func() { loop.Run(ctx) })
	}
	do()
	end()
	running.Wait()
}
