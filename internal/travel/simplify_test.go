package travel

import (
	"testing"

	"dray/internal/lastmile"
)

func TestSimplifyKeepsTheWay(t *testing.T) {
	way := func(points ...lastmile.Point) (all []lastmile.Position) {
		for _, p := range points {
			all = append(all, lastmile.Position{Location: p})
		}
		return all
	}
	corner := way(lastmile.Point{}, lastmile.Point{Lat: 0.001}, lastmile.Point{Lat: 0.002}, lastmile.Point{Lat: 0.002, Lon: 0.001}, lastmile.Point{Lat: 0.002, Lon: 0.002})
	if got := Simplify(corner, 5); len(got) != 3 || got[1] != corner[2] || got[2] != corner[4] {
		t.Errorf("around a corner: %v", got)
	}
	if got := Simplify(corner, 0); len(got) != 5 {
		t.Errorf("without a tolerance: %v", got)
	}
	if got := Simplify(corner, 10_000); len(got) != 2 {
		t.Errorf("with a large tolerance: %v", got)
	}
	for _, n := range []int{0, 1, 2, simplifiedPart, simplifiedPart + 1, simplifiedPart + 2, 5*simplifiedPart + 7} {
		straight := make([]lastmile.Position, n)
		for i := range straight {
			straight[i].Location.Lon = float64(i) / 1e5
		}
		got := Simplify(straight, 1)
		if want := min(n, 2+max(0, n-2)/simplifiedPart); len(got) > want || n > 0 && (got[0] != straight[0] || got[len(got)-1] != straight[n-1]) {
			t.Errorf("%d positions on a line become %d, want at most %d", n, len(got), want)
		}
		for i := range straight {
			straight[i].Location.Lat = float64(i%2) / 100
		}
		if got := Simplify(straight, 1); len(got) != n {
			t.Errorf("%d positions of a zigzag become %d", n, len(got))
		}
	}
}
