package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"dray/internal/lastmile"
)

// spot is a location in a city's own axes, in meters from its origin.
type spot struct {
	across float64 // to the east; in Manhattan toward the East River, along streets
	up     float64 // to the north; in Manhattan uptown, along avenues
}

// axes are where a city's origin is, and the direction of its axes.
type axes struct {
	lon, lat float64
	bearing  float64 // direction of the second axis, east of north
}

// city is where a day takes place.
type city interface {
	axes() axes
	teams() []team
	// doorNear returns a random door within some meters of a location, or the nearest
	// in the city.
	doorNear(random *rand.Rand, center spot, radius float64) door
	// way returns the route of a vehicle between two locations.
	way(by lastmile.VehicleType, from, to spot) way
}

// grid is the part of Manhattan where the plan of 1811 was carried out without
// exception: numbered streets 14 to 59, from First to Tenth Avenue. It is derived from
// the measures of the plan, not from a map. Its origin is Fifth Avenue and 42nd Street.
type grid struct{}

func (grid) axes() axes { return axes{originLon, originLat, gridBearing} }

func (grid) teams() []team { return gridTeams }

func (grid) way(_ lastmile.VehicleType, from, to spot) way { return wayBetween(from, to) }

const (
	originLon, originLat = -73.9809, 40.7534
	gridBearing          = 29 * math.Pi / 180 // direction of the avenues, east of north
	metersPerLat         = 111_050.0
	streetSpacing        = 80.4
	firstStreet          = 14
	lastStreet           = 59
)

// avenues are where the avenues cross the streets, from west to east.
var avenues = []float64{
	-1400, -1120, -840, -560, -280, // Tenth to Sixth
	0, 130, 260, 385, 520, 720, 935, // Fifth, Madison, Park, Lexington, Third to First
}

// point returns a location in degrees.
func (a axes) point(s spot) lastmile.Point {
	sin, cos := math.Sincos(a.bearing)
	east, north := s.across*cos+s.up*sin, s.up*cos-s.across*sin
	return lastmile.Point{
		Lon: a.lon + east/(metersPerLat*math.Cos(a.lat*math.Pi/180)),
		Lat: a.lat + north/metersPerLat,
	}
}

// location returns a location in the form that the API accepts.
func (a axes) location(s spot) [2]float64 {
	at := a.point(s)
	return [2]float64{at.Lon, at.Lat}
}

// spot returns a location in the axes.
func (a axes) spot(p lastmile.Point) spot {
	sin, cos := math.Sincos(a.bearing)
	east := (p.Lon - a.lon) * metersPerLat * math.Cos(a.lat*math.Pi/180)
	north := (p.Lat - a.lat) * metersPerLat
	return spot{across: east*cos - north*sin, up: east*sin + north*cos}
}

// to returns the straight distance.
func (s spot) to(t spot) float64 { return math.Hypot(t.across-s.across, t.up-s.up) }

// jittered returns a location as measured by a receiver with the given
// accuracy.
func (s spot) jittered(random *rand.Rand, accuracy float64) spot {
	off, angle := accuracy*random.Float64(), 2*math.Pi*random.Float64()
	return spot{s.across + off*math.Cos(angle), s.up + off*math.Sin(angle)}
}

// address is a postal address as the API accepts it.
type address struct {
	Name       string `json:"name,omitempty"`
	Number     string `json:"number"`
	Street     string `json:"street"`
	Apartment  string `json:"apartment,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

// door is a location with its address.
type door struct {
	at      spot
	address address
}

func (grid) doorNear(random *rand.Rand, center spot, radius float64) door {
	away, angle := radius*math.Sqrt(random.Float64()), 2*math.Pi*random.Float64()
	street := 42 + int(math.Round((center.up+away*math.Sin(angle))/streetSpacing))
	street = min(max(street, firstStreet), lastStreet)
	across := min(max(center.across+away*math.Cos(angle), avenues[0]), avenues[len(avenues)-1])
	return doorAt(street, across, random.IntN(2))
}

// doorAt returns the door on a street, on the side of odd or even numbers.
func doorAt(street int, across float64, side int) door {
	name, number := "East ", 1+across*400/935
	if across < 0 {
		name, number = "West ", 1-across*100/280
	}
	house := int(number)/2*2 + 1 + side
	return door{
		at: spot{across: across, up: float64(street-42) * streetSpacing},
		address: address{
			Number: strconv.Itoa(house), Street: name + ordinal(street) + " Street", City: "New York", State: "New York",
			PostalCode: postalCode(street, across < 0), Country: "United States",
		},
	}
}

// postalCode returns the postal code of a block.
func postalCode(street int, west bool) string {
	districts := []struct {
		below      int
		west, east string
	}{
		{20, "10011", "10003"},
		{26, "10011", "10010"},
		{30, "10001", "10016"},
		{34, "10001", "10016"},
		{40, "10018", "10016"},
		{42, "10018", "10017"},
		{49, "10036", "10017"},
		{60, "10019", "10022"},
	}
	for _, d := range districts {
		if street < d.below && west {
			return d.west
		}
		if street < d.below {
			return d.east
		}
	}
	return ""
}

func ordinal(n int) string {
	ending := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return fmt.Sprint(n, ending)
}

// way is the route between two locations.
type way struct {
	corners []spot
	length  float64
	bearing float64       // direction of the second axis
	takes   time.Duration // how long a vehicle usually takes, with parking; 0 if it depends on the length alone
}

// newWay returns the route along some corners.
func newWay(a axes, corners []spot) way {
	w := way{corners: corners, bearing: a.bearing}
	for i := 1; i < len(w.corners); i++ {
		w.length += w.corners[i-1].to(w.corners[i])
	}
	return w
}

// wayBetween returns the route along the street to an avenue, along the avenue to the
// other street, and along that to the door.
func wayBetween(from, to spot) way {
	turn := avenues[0]
	for _, avenue := range avenues {
		if detour(avenue, from, to) < detour(turn, from, to) {
			turn = avenue
		}
	}
	if math.Abs(from.up-to.up) < streetSpacing/2 {
		return newWay(grid{}.axes(), []spot{from, to})
	}
	return newWay(grid{}.axes(), []spot{from, {turn, from.up}, {turn, to.up}, to})
}

func detour(avenue float64, from, to spot) float64 {
	return math.Abs(avenue-from.across) + math.Abs(avenue-to.across)
}

// at returns the location after some meters, and the direction of travel there
// in degrees from north.
func (w way) at(meters float64) (spot, float64) {
	for i := 1; i < len(w.corners); i++ {
		from, to := w.corners[i-1], w.corners[i]
		leg := from.to(to)
		if meters > leg && i < len(w.corners)-1 {
			meters -= leg
			continue
		}
		if leg == 0 {
			continue
		}
		part := min(meters/leg, 1)
		heading := math.Atan2(to.across-from.across, to.up-from.up) + w.bearing
		return spot{from.across + (to.across-from.across)*part, from.up + (to.up-from.up)*part},
			math.Mod(heading*180/math.Pi+360, 360)
	}
	return w.corners[len(w.corners)-1], 0
}
