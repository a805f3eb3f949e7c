package mapdata_test

import (
	"testing"
	"time"

	"dray/internal/mapdata"
)

func TestNodes(t *testing.T) {
	now := time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)
	saved := mapdata.Nodes{
		"a":    {now, map[string]string{"milan": "1", "rome": "2"}},
		"b":    {now, map[string]string{"milan": "9", "paris": "3"}},
		"same": {now, map[string]string{"milan": "1", "rome": "2"}},
		"gone": {now.Add(-time.Hour), nil},
	}
	content, err := saved.Encode()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := mapdata.ParseNodes(content, now.Add(-time.Minute))
	if err != nil || len(nodes) != 3 {
		t.Fatalf("got %+v, %v", nodes, err)
	}
	for self, want := range map[string]string{
		"a": "b has another version of milan; b lacks rome; b has paris, which is missing here",
		"b": "a has another version of milan; a lacks paris; a has rome, which is missing here; same has another version of milan; same lacks paris; same has rome, which is missing here",
	} {
		if got := nodes.Differences(self); got != want {
			t.Errorf("%s: %s, want %s", self, got, want)
		}
	}
	delete(nodes, "b")
	if got := nodes.Differences("a"); got != "" {
		t.Errorf("equal maps differ: %s", got)
	}
	if nodes, err := mapdata.ParseNodes(nil, now); err != nil || len(nodes) != 0 {
		t.Errorf("nothing is %v, %v", nodes, err)
	}
	if _, err := mapdata.ParseNodes([]byte("{"), now); err == nil {
		t.Error("damaged content is accepted")
	}
}
