package town

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

var (
	trees = strings.Fields(`Maple Oak Elm Cedar Pine Walnut Chestnut Birch Willow Spruce Linden Hickory Sycamore Poplar Juniper Laurel Magnolia Hawthorn
		Aspen Hemlock Alder Beech Cherry Dogwood Holly Mulberry Redbud Tamarack`)
	persons = strings.Fields(`Adams Barlow Calloway Dawson Ellison Farragut Granger Harlan Ingram Jarvis Kendall Lawson Merritt Norwood Osborne Prescott
		Quincy Radford Sheridan Thornton Underwood Vaughn Whitaker Yardley Ashby Bancroft Crawford Dunmore Everett Fenwick Garrison Holcomb
		Irving Jennings Kimball Langdon Montrose Newell Overton Pemberton Ramsey Sinclair Tillman Winslow Abbott Bellamy Chandler Drummond
		Emerson Fairbanks Gladstone Hathaway Kingsley Lathrop Monroe Nichols Parrish Rutledge Stanton Tremont Upton Wexford Beaumont Clayton
		Danforth Ellsworth Fulton Hewitt Lockwood Marshall Perkins Rowland Selby Talbot Wadsworth`)
	features = strings.Fields(`Hill Meadow Spring Valley Orchard Garden Summit Prospect Highland Pleasant Grove Forest Lake Sunset Ridge Brook Mill
		Harvest Quarry Foundry Depot School Church Union Liberty Franklin Canal Ferry Granite Copper Harbor Heron Fox Deer Robin Falcon
		Lantern Cooper Weaver Potter Mason Saddler Chandlery Tannery`)
	ordinals = []string{"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th", "13th", "14th", "15th", "16th"}
)

// nameStreets names and classifies the streets.
func (n *network) nameStreets() {
	pool := slices.Concat(trees, persons, features)
	n.random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	lengths := map[*street]float64{}
	crosses := map[*street]bool{}
	for _, e := range n.edges {
		lengths[e.street] += e.length()
		crosses[e.street] = crosses[e.street] || e.bridge
	}
	given := map[string]bool{}
	give := func(s *street, name string) bool {
		if given[name] {
			return false
		}
		given[name], s.name = true, name
		return true
	}
	quays, numbered, next := 0, 0, 0
	for i, s := range n.streets {
		s.class = map[level]string{levelRing: "primary", levelMain: "secondary", levelMinor: "tertiary", levelHome: "residential"}[s.level]
		kind := "Street"
		if s.across {
			kind = "Avenue"
		}
		switch middle := s.points[len(s.points)/2]; {
		case s.level == levelRing:
			give(s, "Ring Road")
			continue
		case s.main:
			s.class = "primary"
			give(s, map[bool]string{true: "Main Street", false: "Market Street"}[s.across])
			continue
		case i < 2: // the quays were drawn first
			give(s, []string{"West Quay", "East Quay"}[quays])
			quays++
			continue
		case s.level == levelMain && crosses[s] && give(s, "Bridge Street"):
			continue
		case s.level == levelMain:
			kind = []string{"Boulevard", "Road"}[i%2]
		case n.industrial(middle):
			kind = "Way"
		case lengths[s] < 160:
			kind = []string{"Court", "Place", "Lane"}[i%3]
		case lengths[s] < 320:
			kind = []string{"Lane", "Place", "Terrace", kind}[i%4]
		case n.inside(middle) > 0.75:
			kind = []string{"Drive", "Road", kind}[i%3]
		case s.across && s.level == levelHome && numbered < len(ordinals) && math.Abs(middle.x-n.square.x) < 900:
			give(s, ordinals[numbered]+" Avenue")
			numbered++
			continue
		}
		for !give(s, fmt.Sprintf("%s %s", pool[next%len(pool)], kind)) {
			next++
		}
		next++
	}
}
