package optimize

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// cheapestChoice returns the least cost of at most a number of columns that contain every
// stop exactly once, by trying all sets of stops, and false if there is no such choice.
func cheapestChoice(stops, most int, columns []column) (int64, bool) {
	none := int64(math.MaxInt64)
	costs := make([][]int64, most+1) // by number of columns and set of stops
	for k := range costs {
		costs[k] = make([]int64, 1<<stops)
		for set := range costs[k] {
			costs[k][set] = none
		}
	}
	costs[0][0] = 0
	least := none
	for k := range most {
		for set, cost := range costs[k] {
			if cost == none {
				continue
			}
			x := bits.TrailingZeros(^uint(set)) // the next column contains the first stop that is left
			for i := range columns {
				c := &columns[i]
				if c.set[0]>>x&1 == 0 || int(c.set[0])&set != 0 {
					continue
				}
				next := &costs[k+1][set|int(c.set[0])]
				*next = min(*next, cost+c.cost)
			}
		}
		least = min(least, costs[k+1][1<<stops-1])
	}
	return least, least < none
}

// randomColumns returns different columns, some of which are cheap for their length.
func randomColumns(rng *rand.Rand, stops, n int) []column {
	var all []column
	for range n {
		var c []uint8
		for x := range stops {
			if rng.IntN(stops) < 3 {
				c = append(c, uint8(x))
			}
		}
		if len(c) > 0 {
			rng.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
			all = append(all, newColumn(int64(20+len(c)*(1+rng.IntN(30))), c))
		}
	}
	return all
}

// TestPartitionIsExact compares choices with the cheapest ones of all.
func TestPartitionIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for k := range 2000 {
		stops := 1 + rng.IntN(10)
		most := 1 + rng.IntN(stops)
		columns := randomColumns(rng, stops, rng.IntN(120))
		limit := int64(50 + rng.IntN(60*stops))
		want, ok := cheapestChoice(stops, most, columns)
		p := partition{stops: stops, columns: append([]column(nil), columns...), most: most, limit: limit, work: 1 << 40}
		chosen := p.solve()
		if ok = ok && want < limit; ok != (chosen != nil) {
			t.Fatalf("problem %d: found a choice: %v; there is one below %d: %v (%d)", k, chosen != nil, limit, ok, want)
		}
		if !ok {
			continue
		}
		found++
		var cost int64
		var covered stopSet
		for i := range chosen {
			if covered.meets(&chosen[i].set) {
				t.Fatalf("problem %d: a stop is served twice", k)
			}
			covered = covered.union(&chosen[i].set)
			cost += chosen[i].cost
		}
		if cost != want || len(chosen) > most || covered[0] != 1<<stops-1 {
			t.Fatalf("problem %d: %d routes cost %d, at most %d cost %d; stops %b of %d", k, len(chosen), cost, most, want, covered[0], stops)
		}
	}
	if found < 200 {
		t.Errorf("only %d problems have a choice below the limit", found)
	}
}

// TestPartitionIsBounded verifies that solving ends when its work is done, and that it finds
// a choice among many columns otherwise.
func TestPartitionIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const stops = 100
	columns := randomColumns(rng, stops, 2000)
	var limit int64
	for x := range stops {
		columns = append(columns, newColumn(60, []uint8{uint8(x)}))
		limit += 60
	}
	for _, work := range []int64{0, 1, 1000, 1_000_000, 100_000_000} {
		p := partition{stops: stops, columns: append([]column(nil), columns...), most: stops, limit: limit, work: work}
		chosen := p.solve()
		if p.work < -10_000_000 {
			t.Errorf("%d more than %d was done", -p.work, work)
		}
		if work >= 100_000_000 && chosen == nil {
			t.Errorf("nothing is cheaper than one route for each stop")
		}
	}
}
