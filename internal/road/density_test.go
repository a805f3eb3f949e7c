package road

import "testing"

// TestRoadsOutsideOfTowns compares equal roads in a town of 25 square kilometers and far
// from it.
func TestRoadsOutsideOfTowns(t *testing.T) {
	n := &network{speeds: []speeds{{}, {posted: true}, {}}}
	for i, kmh := range []float32{40, 40, minorSpeed} {
		n.speeds[i].forward = [profiles]float32{kmh, kmh, riding, walking}
	}
	add := func(lon, lat float64, set uint32) {
		at := uint32(len(n.points) / 2)
		n.points = append(n.points, int32(lon*1e7), int32(lat*1e7), int32(lon*1e7), int32((lat+0.009)*1e7))
		n.segments = append(n.segments, segment{from: at, to: at + 1, first: at, count: 2, length: 10_000, speeds: set})
		n.vertices += 2
	}
	for set := range uint32(3) {
		add(9.5, 47, set)
	}
	for set := range uint32(3) {
		add(8, 47, set)
	}
	for x := -2.0; x <= 2; x++ {
		for y := -2.0; y <= 2; y++ {
			for range 9 {
				add(9.5+x*0.0132, 47+y*0.009, 0)
			}
		}
	}
	for p, changes := range [profiles]bool{Car: true, Truck: true} {
		x := &expansion{n: n, profile: Profile(p)}
		x.weigh()
		for set, faster := range [3]bool{changes, false, false} {
			inside, outside := x.times[2*set], x.times[2*(set+3)]
			if (outside < inside) != faster || outside > inside {
				t.Errorf("%s takes %d ms in town, %d ms outside (set %d)", Profile(p), inside, outside, set)
			}
		}
	}
}
