package simulate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// village returns a city of some streets in Denmark, with a road along each.
func village() *City {
	c := &City{}
	for street := range 20 {
		for house := range 30 {
			c.Doors = append(c.Doors, Door{
				At: lastmile.Point{Lon: 12.5 + float64(house)*0.002, Lat: 55.6 + float64(street)*0.0015},
				Address: lastmile.Address{
					Number: fmt.Sprint(house + 1), Street: fmt.Sprintf("Vej %d", street), City: "By", PostalCode: "1000", Country: "Denmark",
				},
			})
		}
	}
	c.Route = func(_ lastmile.VehicleType, from, to lastmile.Point) ([]lastmile.Point, time.Duration) {
		if from == to {
			return nil, 0
		}
		return []lastmile.Point{from, {Lon: to.Lon, Lat: from.Lat}, to}, 90 * time.Second
	}
	return c
}

func TestMappedCity(t *testing.T) {
	c := village()
	m := newMapped(c)
	known := map[lastmile.Point]bool{}
	for _, d := range c.Doors {
		known[d.At] = true
	}
	depots := map[spot]bool{}
	for _, team := range m.teams() {
		depots[team.door.at] = true
	}
	if len(m.teams()) != 3 || len(depots) != 3 {
		t.Errorf("the teams are %+v", m.teams())
	}
	random := rand.New(rand.NewPCG(1, 1))
	center := m.teams()[0].door.at
	for range 200 {
		d := m.doorNear(random, center, 700)
		if away := d.at.to(center); away > 700 {
			t.Fatalf("a door is %.0f m away", away)
		}
		if far := float64(m.axes().point(d.at).Distance(m.axes().point(center))) - d.at.to(center); far > 3 || far < -3 {
			t.Fatalf("distances differ by %.1f m from those on the earth", far)
		}
		if d.address.Number == "" || d.address.Street == "" || d.address.City != "By" || d.address.Country != "Denmark" {
			t.Fatalf("the address is %+v", d.address)
		}
	}
	if d := m.doorNear(random, spot{90_000, 0}, 10); d.address.Street == "" {
		t.Errorf("far from all doors: %+v", d)
	}
	w := m.way(lastmile.Car, center, m.teams()[1].door.at)
	if w.takes != 90*time.Second || len(w.corners) < 4 || w.corners[0] != center {
		t.Errorf("the way is %+v", w)
	}
	at, heading := w.at(w.length / 3)
	if at.to(center) > w.length || heading < 0 || heading >= 360 {
		t.Errorf("a third of the way is at %v, heading %.0f", at, heading)
	}
	if straight := m.way(lastmile.Car, center, center); straight.length != 0 || straight.takes != 0 {
		t.Errorf("no way is %+v", straight)
	}
}

func TestMappedPlan(t *testing.T) {
	p := plan{city: newMapped(village()), seed: 3, staffed: 3, radius: 1500}
	streets := map[string]bool{}
	for i := range uint64(200) {
		for _, s := range p.errand(i).stops {
			streets[s.door.address.Street] = true
		}
	}
	if len(streets) < 10 {
		t.Errorf("errands lead to %v", streets)
	}
	if len(p.crew(7, "+1646555", 0)) != 7 {
		t.Error("there is no crew")
	}
}

// Servers estimate by the same roads, from door to door.
func TestMappedDrivesTakeTheTimeOfTheRoads(t *testing.T) {
	for by := range gaits {
		for _, takes := range []time.Duration{20 * time.Second, time.Minute, 10 * time.Minute} {
			p := &phone{simulation: &simulation{speed: 4}, person: Person{vehicle: by}}
			path := newWay(axes{}, []spot{{}, {500, 0}})
			path.takes = takes
			moving, park := p.times(path)
			if got := p.duration(path); got != max(takes/4, park+500*time.Second/90) || moving < 0 {
				t.Errorf("%q: %v on the road take %v, of which %v moving", by, takes, got, moving)
			}
		}
	}
}
