package gazetteer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func tableOf(keys []string) *table {
	t := &table{bounds: []uint32{0}}
	for _, key := range keys {
		t.text = append(t.text, key...)
		t.bounds = append(t.bounds, uint32(len(t.text)))
	}
	return t
}

// distance is the straightforward edit distance, the reference for near.
func distance(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return distance(a[1:], b[1:])
	}
	least := 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, 1+distance(a[2:], b[2:]))
	}
	return least
}

func TestNearFindsExactlyWhatIsNear(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	word := func() string {
		letters := make([]byte, 1+random.IntN(6))
		for i := range letters {
			letters[i] = "abc"[random.IntN(3)]
		}
		return string(letters)
	}
	for range 300 {
		keys := make([]string, 60)
		for i := range keys {
			keys[i] = word()
		}
		slices.Sort(keys)
		tbl := tableOf(keys)
		sought := word()
		for edits := 1; edits <= 2; edits++ {
			best := make(map[int]int)
			tbl.near([]byte(sought), edits, func(from, to, mistakes int) {
				for row := from; row < to; row++ {
					if before, ok := best[row]; !ok || mistakes < before {
						best[row] = mistakes
					}
				}
			})
			for row, key := range keys {
				got, found := best[row]
				want := distance(sought, key)
				due := want <= edits && (edits == 1 || key[0] == sought[0])
				if due && !found || found && got < want {
					t.Fatalf("%q within %d of %q: found %v with %d, distance %d", key, edits, sought, found, got, want)
				}
			}
		}
	}
}

func TestFindFindsAllEqualKeys(t *testing.T) {
	tbl := tableOf([]string{"a", "ab", "ab", "ab", "abc", "b", "b"})
	for key, want := range map[string][2]int{"a": {0, 1}, "ab": {1, 4}, "b": {5, 7}, "c": {7, 7}, "": {0, 0}} {
		if from, to := tbl.find([]byte(key)); from != want[0] || to != want[1] {
			t.Errorf("%q is at %d to %d, want %v", key, from, to, want)
		}
	}
	if from, to := tbl.startingWith([]byte("ab")); from != 1 || to != 5 {
		t.Errorf("keys with ab are at %d to %d", from, to)
	}
	if from, to := new(table).find([]byte("a")); from != to {
		t.Error("found in an empty table")
	}
}
