package travel

import "dray/internal/lastmile"

// simplifiedPart is the maximum number of positions that are simplified together, so that the
// time grows linearly with their number.
const simplifiedPart = 256

// Simplify leaves out positions that are within a tolerance of the way between the others. The
// first and the last position remain. Without a tolerance, all positions remain.
func Simplify(positions []lastmile.Position, tolerance lastmile.Meters) []lastmile.Position {
	if tolerance <= 0 || len(positions) <= 2 {
		return positions
	}
	kept := []lastmile.Position{positions[0]}
	for len(positions) > 1 {
		last := min(simplifiedPart, len(positions)-1)
		kept = appendSimplified(kept, positions[:last+1], tolerance)
		positions = positions[last:]
	}
	return kept
}

// appendSimplified appends the positions of some that remain, except the first, by the
// algorithm of Ramer, Douglas and Peucker.
func appendSimplified(kept, some []lastmile.Position, tolerance lastmile.Meters) []lastmile.Position {
	first, last := some[0], some[len(some)-1]
	farthest, away := 0, tolerance
	for i := 1; i < len(some)-1; i++ {
		if d := fromSegment(some[i].Location, first.Location, last.Location); d > away {
			farthest, away = i, d
		}
	}
	if farthest == 0 {
		return append(kept, last)
	}
	kept = appendSimplified(kept, some[:farthest+1], tolerance)
	return appendSimplified(kept, some[farthest:], tolerance)
}

// fromSegment returns the distance of a point from a line between two others.
func fromSegment(p, a, b lastmile.Point) lastmile.Meters {
	dx, dy := b.Lon-a.Lon, b.Lat-a.Lat
	along := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		along = max(0, min(1, ((p.Lon-a.Lon)*dx+(p.Lat-a.Lat)*dy)/length))
	}
	return p.Distance(lastmile.Point{Lon: a.Lon + along*dx, Lat: a.Lat + along*dy})
}
