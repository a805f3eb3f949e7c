package app

import (
	"runtime"
	"testing"
)

func TestAddThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "1")
	if addThreads(); runtime.GOMAXPROCS(0) != before {
		t.Errorf("%d threads although GOMAXPROCS is set, before %d", runtime.GOMAXPROCS(0), before)
	}
	t.Setenv("GOMAXPROCS", "")
	processors := runtime.NumCPU()
	for allowed, want := range map[int]int{processors - 1: processors - 1, processors: processors + extraThreads} {
		if allowed == 0 {
			continue
		}
		runtime.GOMAXPROCS(allowed)
		if addThreads(); runtime.GOMAXPROCS(0) != want {
			t.Errorf("with %d of %d processors, there are %d threads, want %d", allowed, processors, runtime.GOMAXPROCS(0), want)
		}
	}
}
