package taskflow

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"dray/internal/lastmile"
)

func TestChunksOfLargeItemsAreDivided(t *testing.T) {
	for name, c := range map[string]struct{ sent, want []int }{
		"none":                   {nil, []int{0}},
		"small ones":             {[]int{1000, 1000, 1000}, []int{3}},
		"as much as fits":        {[]int{chunkBytes / 2, chunkBytes / 2}, []int{2}},
		"more than that":         {[]int{chunkBytes / 2, chunkBytes / 2, 1, 1}, []int{2, 2}},
		"one that is too large":  {[]int{1, 2 * chunkBytes, 1}, []int{1, 1, 1}},
		"nothing but large ones": {[]int{2 * chunkBytes, 2 * chunkBytes}, []int{1, 1}},
	} {
		var whole chunk
		for _, n := range c.sent {
			whole.items = append(whole.items, item{sent: make([]byte, n)})
		}
		var got []int
		for _, part := range whole.split() {
			got = append(got, len(part.items))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: parts of %v items, want %v", name, got, c.want)
		}
	}
	fields := chunk{items: []item{{sent: make([]byte, 60), added: chunkBytes / 2}, {sent: make([]byte, 60), added: chunkBytes / 2}}}
	if parts := fields.split(); len(parts) != 2 {
		t.Errorf("two small items with large custom fields are in %d parts", len(parts))
	}
	failed := errors.New("not read")
	if parts := (chunk{err: failed}).split(); len(parts) != 1 || !errors.Is(parts[0].err, failed) {
		t.Errorf("a chunk that was not read became %+v", parts)
	}
}

func TestRejectedItemsAreShownUpToALimit(t *testing.T) {
	rejected := func(sent string) lastmile.BatchResult {
		return lastmile.BatchResult{Err: lastmile.Internal(), Sent: []byte(sent)}
	}
	all := []lastmile.BatchResult{rejected(`{"a":1}`), {TaskID: "t", Shown: []byte(`{"id":"t"}`)}, rejected(`{"a":2}`), rejected(`{"a":"three"}`), rejected(`{}`)}
	for room, want := range map[int][]string{
		100: {`{"a":1}`, ``, `{"a":2}`, `{"a":"three"}`, `{}`},
		14:  {`{"a":1}`, ``, `{"a":2}`, `{}`, `{}`},
		1:   {`{}`, ``, `{}`, `{}`, `{}`},
	} {
		var got []string
		for _, r := range withoutLarge(all, room) {
			got = append(got, string(r.Sent))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d bytes: %q, want %q", room, got, want)
		}
	}
	if string(all[0].Sent) != `{"a":1}` {
		t.Error("the results that are stored have changed")
	}
}
