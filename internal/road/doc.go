// Package road finds the fastest ways on the roads of an extract of
// OpenStreetMap: matrices of travel times and routes with their geometry, for
// cars, trucks, bicycles and pedestrians.
//
// Build prepares one file from an extract. For every profile it contains a
// contraction hierarchy (Geisberger et al., 2008), so that a search visits a few
// hundred nodes instead of a whole city. Turn restrictions are part of the
// hierarchy: a junction has a separate node for every way to arrive at it that
// restricts how to go on. Open maps the file into memory and reads from it what a
// query needs.
//
// Weights are pairs of milliseconds and decimeters in one number, so that among
// equally fast ways the shortest is found, and equal queries have equal results.
package road

// Profile is a way to travel with its own rules.
type Profile uint8

// The profiles.
const (
	Car Profile = iota
	Truck
	Bicycle
	Foot
	profiles int = iota
)

// String returns the name of a profile.
func (p Profile) String() string {
	return [profiles]string{"car", "truck", "bicycle", "foot"}[p]
}

// Point is a location in degrees.
type Point struct{ Lon, Lat float64 }

// weight is a travel time in milliseconds, in the high half, and a distance in
// decimeters. Sums of weights are compared by time, then by distance.
type weight uint64

const (
	unreachable weight = 1<<64 - 1
	maxArcTime         = 1 << 30 // milliseconds, 12 days; sums of arcs stay far below 1<<32 in practice
)

func newWeight(ms, dm uint32) weight { return weight(ms)<<32 | weight(dm) }

func (w weight) ms() uint32 { return uint32(w >> 32) }
func (w weight) dm() uint32 { return uint32(w) }

// share returns a part of a weight, from 0 to 1.
func (w weight) share(part float64) weight {
	return newWeight(uint32(float64(w.ms())*part+0.5), uint32(float64(w.dm())*part+0.5))
}
