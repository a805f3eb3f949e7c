package taskflow

import (
	"errors"
	"slices"
	"testing"
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
