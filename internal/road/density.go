package road

import "math"

// Where there are few roads around, motor vehicles are faster than in town on roads of the
// same class.
const (
	ruralFactor  = 1.2
	ruralDensity = 8  // kilometers of roads per square kilometer
	minorSpeed   = 15 // km/h; slower ways do not count for the density, and are equally slow everywhere
)

// block is an area of one square kilometer.
type block struct{ x, y int32 }

func (n *network) blockOf(s segment) block {
	const kilometers = earthRadius * unitRadians / 1000
	lon, lat := float64(n.points[2*s.first]), float64(n.points[2*s.first+1])
	wide := math.Cos(math.Round(lat/1e7) * math.Pi / 180) // the same for neighbors
	return block{int32(math.Floor(lon * wide * kilometers)), int32(math.Floor(lat * kilometers))}
}

// rural reports for every segment whether it is outside of towns, where there are few roads
// within about two kilometers.
func (n *network) rural() []bool {
	lengths := map[block]float64{} // kilometers
	for _, s := range n.segments {
		if set := n.speeds[s.speeds]; max(set.forward[Car], set.backward[Car]) > minorSpeed {
			lengths[n.blockOf(s)] += float64(s.length) / 10_000
		}
	}
	known := map[block]bool{}
	all := make([]bool, len(n.segments))
	for i, s := range n.segments {
		at := n.blockOf(s)
		few, ok := known[at]
		if !ok {
			few = around(lengths, at) <= ruralDensity
			known[at] = few
		}
		all[i] = few
	}
	return all
}

// around returns the mean of a block and those within two blocks.
func around(lengths map[block]float64, at block) float64 {
	sum, count := 0.0, 0.0
	for x := int32(-2); x <= 2; x++ {
		for y := int32(-2); y <= 2; y++ {
			if x*x+y*y < 8 { // not the corners
				sum += lengths[block{at.x + x, at.y + y}]
				count++
			}
		}
	}
	return sum / count
}
