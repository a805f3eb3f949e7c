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
	if addThreads(); runtime.GOMAXPROCS(0) != before+extraThreads {
		t.Errorf("%d threads, before %d", runtime.GOMAXPROCS(0), before)
	}
}
