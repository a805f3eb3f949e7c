package sqlstore

import (
	"fmt"
	"testing"
)

func TestPlacesAreBounded(t *testing.T) {
	var p destinationCache
	doc := make([]byte, 10_000)
	key := func(n int) taskKey { return taskKey{"acme", fmt.Sprint(n)} }
	const added = 4 * cachedBytes / 10_000
	for n := range added {
		p.add(key(n), cachedDestination{fmt.Sprint(n), doc})
		if got := p.find(key(0)); got.id != "0" { // it is in use all the time
			t.Fatalf("after %d others the first is %q", n, got.id)
		}
	}
	kept := 0
	for n := range added {
		if p.young[key(n)].id != "" || p.old[key(n)].id != "" {
			kept++
		}
	}
	if most := cachedBytes / len(doc); kept > most || kept < most/4 {
		t.Errorf("%d destinations are kept, at most %d fit", kept, most)
	}
	if got := p.find(key(1)); got.id != "" {
		t.Errorf("a place that was not used is kept: %q", got.id)
	}
	if got := p.find(key(added - 1)); got.id != fmt.Sprint(added-1) {
		t.Errorf("the last place is %q", got.id)
	}
}
