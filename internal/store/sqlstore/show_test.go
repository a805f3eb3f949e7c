package sqlstore

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

func TestKeptRecordsAreBounded(t *testing.T) {
	var p recordCache
	doc := make([]byte, 10_000)
	key := func(n int) recordKey { return destinationKey("acme", fmt.Sprint(n)) }
	const added = 4 * cachedBytes / 10_000
	for n := range added {
		p.add(key(n), keptRecord{doc: doc})
		if p.find(key(0)).doc == nil { // it is in use all the time
			t.Fatalf("after %d others the first is not kept", n)
		}
	}
	kept := 0
	for n := range added {
		if p.young[key(n)].doc != nil || p.old[key(n)].doc != nil {
			kept++
		}
	}
	if most := cachedBytes / len(doc); kept > most || kept < most/4 {
		t.Errorf("%d records are kept, at most %d fit", kept, most)
	}
	if p.find(key(1)).doc != nil {
		t.Error("a record that was not used is kept")
	}
	if p.find(key(added-1)).doc == nil {
		t.Error("the last record is not kept")
	}
}

// TestKeptRecordsDoNotKeepRequests: an id that is a part of a longer text, which a client chooses,
// would keep all of it in memory.
func TestKeptRecordsDoNotKeepRequests(t *testing.T) {
	var p recordCache
	tasks := recordSet{store.Tasks, "acme"}
	line := "GET /api/v2/tasks/task?" + strings.Repeat("x", 10_000)
	id := line[len("GET /api/v2/tasks/"):][:len("task")]
	p.add(recordKey{tasks, "task"}, keptRecord{doc: []byte("{}")})
	p.add(recordKey{tasks, "large"}, keptRecord{doc: make([]byte, cachedBytes/2)}) // makes the other one old
	if len(p.old) != 1 || p.find(recordKey{tasks, id}).doc == nil {
		t.Fatalf("%d records are old, want the first", len(p.old))
	}
	for key := range p.young {
		if unsafe.StringData(key.id) == unsafe.StringData(id) {
			t.Error("a record is kept with the request for it")
		}
	}
}

func TestRepliesReplaceOneAnother(t *testing.T) {
	var p recordCache
	tasks := recordSet{store.Tasks, "acme"}
	for n := range 3 * cachedBytes / 10_000 {
		p.add(recordKey{tasks, "t"}, keptRecord{doc: make([]byte, 10_000), revision: engine.Revision{uint64(n) + 1}})
		p.add(recordKey{tasks, "other"}, keptRecord{destination: "d"})
	}
	if len(p.old) != 0 || p.youngBytes != 10_000+2*entryBytes {
		t.Errorf("two tasks are counted as %d bytes, with %d old ones", p.youngBytes, len(p.old))
	}
}

func TestRecordsAreKeptByKindAndOrganization(t *testing.T) {
	var p recordCache
	kept := recordKey{recordSet{store.Recipients, "acme"}, "r"}
	p.add(kept, keptRecord{doc: []byte("{}")})
	for _, other := range []recordKey{
		{recordSet{store.Destinations, "acme"}, "r"}, {recordSet{store.Recipients, "other"}, "r"}, {recordSet{store.Recipients, "acme"}, "s"},
	} {
		if p.find(other).doc != nil {
			t.Errorf("%v is found as %v", kept, other)
		}
	}
	if p.find(kept).doc == nil {
		t.Errorf("%v is not found", kept)
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
				reply := keptRecord{doc: []byte("{}"), revision: engine.Revision{1}, until: until}
				for _, later := range []time.Duration{0, time.Millisecond, time.Second, time.Minute, 24 * time.Hour} {
					then := now.Add(later)
					if reply.at(engine.Revision{1}, then) != nil && !reflect.DeepEqual(row.estimates(now), row.estimates(then)) {
						t.Errorf("state %d, %v before the end: the reply is kept for %v", state, -at, later)
					}
				}
				if reply.at(engine.Revision{2}, now) != nil || reply.at(engine.Revision{}, now) != nil {
					t.Error("a reply is returned at another revision")
				}
			}
		}
	}
}
