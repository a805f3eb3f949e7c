package sqlstore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

func TestShownTasksAreBounded(t *testing.T) {
	var p taskCache
	doc := make([]byte, 10_000)
	key := func(n int) taskKey { return taskKey{"acme", fmt.Sprint(n)} }
	const added = 4 * cachedBytes / 10_000
	for n := range added {
		p.add(key(n), cachedTask{destination: fmt.Sprint(n), doc: doc})
		if got := p.find(key(0)); got.destination != "0" { // it is in use all the time
			t.Fatalf("after %d others the first is %q", n, got.destination)
		}
	}
	kept := 0
	for n := range added {
		if p.young[key(n)].destination != "" || p.old[key(n)].destination != "" {
			kept++
		}
	}
	if most := cachedBytes / len(doc); kept > most || kept < most/4 {
		t.Errorf("%d tasks are kept, at most %d fit", kept, most)
	}
	if got := p.find(key(1)); got.destination != "" {
		t.Errorf("a task that was not used is kept: %q", got.destination)
	}
	if got := p.find(key(added - 1)); got.destination != fmt.Sprint(added-1) {
		t.Errorf("the last task is %q", got.destination)
	}
}

func TestRepliesReplaceOneAnother(t *testing.T) {
	var p taskCache
	key := taskKey{"acme", "t"}
	for n := range 3 * cachedBytes / 10_000 {
		p.add(key, cachedTask{destination: "d", reply: make([]byte, 10_000), revision: engine.Revision{uint64(n) + 1}})
		p.add(taskKey{"acme", "other"}, cachedTask{destination: "d"})
	}
	if len(p.old) != 0 || p.youngBytes != 10_000+2*entryBytes {
		t.Errorf("two tasks are counted as %d bytes, with %d old ones", p.youngBytes, len(p.old))
	}
}

func TestAReplyIsKeptUntilTheDelayGrows(t *testing.T) {
	closes := time.UnixMilli(1_800_000_000_000).UTC()
	before, eta, delay := closes.UnixMilli(), int64(60_000), int64(5_000)
	rows := []taskRow{{}, {completeBefore: &before}, {completeBefore: &before, eta: &eta, delay: &delay}, {completeBefore: &before, eta: new(int64), arrival: &before}}
	for _, row := range rows {
		for state := range lastmile.TaskCompleted + 1 {
			row.state = int64(state)
			for _, at := range []time.Duration{-time.Hour, -time.Millisecond, 0, time.Millisecond, time.Hour} {
				now := closes.Add(at)
				until, fixed := row.fixedUntil(now)
				if !fixed {
					continue
				}
				reply := cachedTask{reply: []byte("{}"), revision: engine.Revision{1}, until: until}
				for _, later := range []time.Duration{0, time.Millisecond, time.Second, time.Minute, 24 * time.Hour} {
					then := now.Add(later)
					if reply.replyAt(engine.Revision{1}, then) != nil && !reflect.DeepEqual(row.estimates(now), row.estimates(then)) {
						t.Errorf("state %d, %v before the end: the reply is kept for %v", state, -at, later)
					}
				}
				if reply.replyAt(engine.Revision{2}, now) != nil || reply.replyAt(engine.Revision{}, now) != nil {
					t.Error("a reply is returned at another revision")
				}
			}
		}
	}
}
