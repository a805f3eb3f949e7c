package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// City is a city on a map, with its addresses and roads.
type City struct {
	Doors []Door // at least one
	// Route returns the way of a vehicle along roads and how long it takes; none if
	// there is no way. Without a vehicle, the way is on foot.
	Route func(by lastmile.VehicleType, from, to lastmile.Point) (line []lastmile.Point, takes time.Duration)
}

// Door is a location with its address.
type Door struct {
	At      lastmile.Point
	Address lastmile.Address
}

// mapped is the city of a day that is on a map.
type mapped struct {
	City
	origin axes
	crews  []team
}

// Where the depots are: one in the middle, the others some way from it.
const (
	depotDistance = 1200.0
	depotBearing  = 2 * math.Pi / 5
)

func newMapped(c *City) *mapped {
	m := &mapped{City: *c}
	lons, lats := make([]float64, len(c.Doors)), make([]float64, len(c.Doors))
	for i, d := range c.Doors {
		lons[i], lats[i] = d.At.Lon, d.At.Lat
	}
	slices.Sort(lons)
	slices.Sort(lats)
	// The median is in the densest part, wherever the map ends.
	m.origin = axes{lon: lons[len(lons)/2], lat: lats[len(lats)/2]}
	sin, cos := math.Sincos(depotBearing)
	for i, at := range []spot{{}, {depotDistance * sin, depotDistance * cos}, {-depotDistance * sin, -depotDistance * cos}} {
		name := []string{"Center", "North", "South"}[i]
		m.crews = append(m.crews, team{name, name + " Depot", m.nearest(at), i == 0})
	}
	return m
}

func (m *mapped) axes() axes { return m.origin }

func (m *mapped) teams() []team { return m.crews }

// doorOf returns a door in the form of the API.
func (m *mapped) doorOf(d Door) door {
	a := d.Address
	return door{at: m.origin.spot(d.At), address: address{
		Number: a.Number, Street: a.Street, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
	}}
}

// nearest returns the door nearest to a location.
func (m *mapped) nearest(to spot) door {
	best := slices.MinFunc(m.Doors, func(a, b Door) int {
		switch d := m.origin.spot(a.At).to(to) - m.origin.spot(b.At).to(to); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return strings.Compare(a.Address.Line(), b.Address.Line())
	})
	return m.doorOf(best)
}

// doorTries is the number of random doors that are considered.
const doorTries = 300

func (m *mapped) doorNear(random *rand.Rand, center spot, radius float64) door {
	for range doorTries {
		if d := m.Doors[random.IntN(len(m.Doors))]; m.origin.spot(d.At).to(center) <= radius {
			return m.doorOf(d)
		}
	}
	return m.nearest(center)
}

func (m *mapped) way(by lastmile.VehicleType, from, to spot) way {
	corners := []spot{from}
	line, takes := m.Route(by, m.origin.point(from), m.origin.point(to))
	for _, p := range line {
		corners = append(corners, m.origin.spot(p))
	}
	w := newWay(m.origin, append(corners, to))
	w.takes = takes
	return w
}
