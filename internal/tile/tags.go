package tile

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"dray/internal/osm"
)

// The lowest zoom levels at which features are drawn.
const (
	zoomCity     = 3
	zoomMotorway = 5
	zoomNature   = 6
	zoomRiver    = 8
	zoomBuilding = 13
	zoomNames    = 12 // of roads and waterways
	zoomDetails  = 13 // of roads: one-way streets, bridges and tunnels
)

// geometry is a kind of geometry, as tiles number them.
type geometry uint8

const (
	points   geometry = 1
	lines    geometry = 2
	polygons geometry = 3
)

// style determines how a feature is drawn.
type style struct {
	layer    layer
	geometry geometry
	minZoom  uint8
	// level is the priority of the feature. If a tile is too large, the lowest
	// level is dropped first.
	level uint8
	attributes
}

// attributes are the attributes of a feature in a tile.
type attributes struct {
	kind           string // for a road, its class
	name           string // for a house, its number
	ref            string
	oneway         int8 // -1 against the direction of the line
	bridge, tunnel bool
	rank           uint8 // of a place; 1 is the most important
}

// The priorities of features.
const (
	levelNumber uint8 = iota
	levelBuilding
	levelPath
	levelService
	levelLanduse
	levelStream
	levelMinor
	levelWater
	levelRoad  // plus 0 to 5 by the class of the road
	levelPlace = levelRoad + 10
)

// road determines how a class of roads is drawn.
type road struct {
	class   string
	minZoom uint8
	level   uint8
}

var highways = map[string]road{
	"motorway":       {"motorway", zoomMotorway, levelRoad + 5},
	"trunk":          {"trunk", 6, levelRoad + 4},
	"primary":        {"primary", 8, levelRoad + 3},
	"secondary":      {"secondary", 9, levelRoad + 2},
	"tertiary":       {"tertiary", 11, levelRoad + 1},
	"motorway_link":  {"motorway", 10, levelRoad + 1},
	"trunk_link":     {"trunk", 11, levelRoad + 1},
	"primary_link":   {"primary", 12, levelRoad + 1},
	"secondary_link": {"secondary", 12, levelRoad + 1},
	"tertiary_link":  {"tertiary", 12, levelRoad},
	"unclassified":   {"minor", 12, levelMinor},
	"residential":    {"minor", 12, levelMinor},
	"living_street":  {"minor", 12, levelMinor},
	"road":           {"minor", 12, levelMinor},
	"busway":         {"minor", 13, levelMinor},
	"service":        {"service", 13, levelService},
	"track":          {"service", 13, levelService},
	"pedestrian":     {"path", 13, levelService},
	"footway":        {"path", 14, levelPath},
	"path":           {"path", 14, levelPath},
	"cycleway":       {"path", 14, levelPath},
	"steps":          {"path", 14, levelPath},
	"bridleway":      {"path", 14, levelPath},
	"corridor":       {"path", 14, levelPath},
}

var railways = map[string]road{
	"rail":         {"rail", 10, levelRoad},
	"light_rail":   {"rail", 11, levelMinor},
	"narrow_gauge": {"rail", 11, levelMinor},
	"subway":       {"rail", 12, levelMinor},
	"tram":         {"rail", 13, levelService},
	"monorail":     {"rail", 13, levelService},
	"funicular":    {"rail", 13, levelService},
}

// areas are the kinds of land use, by key and value.
var areas = map[string]map[string]string{
	"landuse": {
		"forest": "forest", "grass": "grass", "meadow": "grass", "village_green": "grass", "recreation_ground": "grass", "greenfield": "grass",
		"farmland": "farmland", "farmyard": "farmland", "orchard": "farmland", "vineyard": "farmland", "allotments": "farmland", "plant_nursery": "farmland",
		"residential": "residential", "industrial": "industrial", "port": "industrial", "railway": "industrial", "quarry": "industrial", "landfill": "industrial",
		"construction": "industrial", "brownfield": "industrial", "garages": "industrial",
		"commercial": "commercial", "retail": "commercial", "cemetery": "cemetery", "military": "military", "education": "school",
	},
	"leisure": {
		"park": "park", "garden": "park", "playground": "park", "dog_park": "park", "nature_reserve": "park", "common": "grass", "golf_course": "grass",
		"pitch": "sport", "stadium": "sport", "sports_centre": "sport", "track": "sport",
	},
	"natural": {
		"wood": "forest", "scrub": "grass", "grassland": "grass", "heath": "grass", "wetland": "wetland", "beach": "sand", "sand": "sand",
		"bare_rock": "rock", "scree": "rock", "shingle": "rock", "glacier": "glacier",
	},
	"amenity": {
		"school": "school", "university": "school", "college": "school", "kindergarten": "school", "hospital": "hospital", "clinic": "hospital",
		"grave_yard": "cemetery", "parking": "parking", "marketplace": "pedestrian",
	},
	"aeroway": {"aerodrome": "airport"},
	"place":   {"square": "pedestrian", "islet": "", "island": ""},
}

// areaKeys are the keys of areas in order of precedence.
var areaKeys = []string{"amenity", "leisure", "landuse", "natural", "aeroway", "place"}

var waterways = map[string]style{
	"river":  {minZoom: zoomRiver, level: levelWater},
	"canal":  {minZoom: 10, level: levelWater},
	"stream": {minZoom: 12, level: levelStream},
	"drain":  {minZoom: 13, level: levelStream},
	"ditch":  {minZoom: 13, level: levelStream},
}

// styler returns the styles of elements. Styles are interned: equal ones are the same
// pointer.
type styler struct {
	styles map[style]*style
	texts  map[string]string
}

func newStyler() *styler { return &styler{styles: map[style]*style{}, texts: map[string]string{}} }

func (s *styler) intern(one style) *style {
	if known := s.styles[one]; known != nil {
		return known
	}
	s.styles[one] = &one
	return &one
}

// text returns a trimmed, truncated copy of a tag's value, which does not keep the
// file's block in memory; empty if it is not valid UTF-8.
func (s *styler) text(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxName {
		cut := maxName
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	if known, ok := s.texts[text]; ok {
		return known
	}
	if !utf8.ValidString(text) {
		return ""
	}
	text = strings.Clone(text)
	s.texts[text] = text
	return text
}

// yes reports whether the value of a tag means yes.
func yes(value string) bool { return value != "" && value != "no" && value != "0" && value != "false" }

// way returns the style of a way, or nil if it is not drawn. A closed way may be an area.
func (s *styler) way(tags osm.Tags, closed bool) *style {
	if len(tags) == 0 {
		return nil
	}
	if closed && tags.Get("area") != "no" {
		if found := s.area(tags); found != nil {
			return found
		}
	}
	return s.line(tags)
}

// line returns the style of a line, or nil if it is not drawn.
func (s *styler) line(tags osm.Tags) *style {
	if kind := tags.Get("waterway"); kind != "" {
		found, ok := waterways[kind]
		if !ok || yes(tags.Get("tunnel")) || yes(tags.Get("intermittent")) && kind != "river" {
			return nil
		}
		found.layer, found.geometry = layerWaterway, lines
		found.attributes = attributes{kind: s.text(kind), name: s.text(tags.Get("name"))}
		return s.intern(found)
	}
	way, ok := highways[tags.Get("highway")]
	if !ok && tags.Get("route") == "ferry" {
		way, ok = road{"ferry", 9, levelWater}, true
	}
	if rail := tags.Get("railway"); !ok && rail != "" {
		if way, ok = railways[rail]; ok && tags.Get("service") != "" {
			way.minZoom, way.level = 13, levelService
		}
	}
	if !ok || way.class == "path" && tags.Get("indoor") == "yes" {
		return nil
	}
	if service := tags.Get("service"); way.class == "service" && (service == "parking_aisle" || service == "driveway") {
		way.minZoom = 14
	}
	found := style{layer: layerRoad, geometry: lines, minZoom: way.minZoom, level: way.level}
	found.attributes = attributes{
		kind: way.class, name: s.text(tags.Get("name")), ref: s.text(firstOf(tags.Get("ref"))),
		bridge: yes(tags.Get("bridge")), tunnel: yes(tags.Get("tunnel")) || tags.Get("covered") == "yes",
	}
	switch oneway := tags.Get("oneway"); {
	case way.class == "rail" || way.class == "ferry":
	case oneway == "-1":
		found.oneway = -1
	case oneway == "yes" || oneway == "1" || oneway == "true" || oneway == "" && (way.class == "motorway" || tags.Get("junction") == "roundabout"):
		found.oneway = 1
	}
	return s.intern(found)
}

// firstOf returns the first of several values.
func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ";")
	return first
}

// area returns the style of an area, or nil if it is not drawn.
func (s *styler) area(tags osm.Tags) *style {
	found := style{geometry: polygons}
	natural, waterway, landuse := tags.Get("natural"), tags.Get("waterway"), tags.Get("landuse")
	switch {
	case natural == "water" || waterway == "riverbank" || waterway == "dock" || landuse == "reservoir" || landuse == "basin":
		kind := cmp.Or(tags.Get("water"), map[bool]string{true: "river"}[waterway == "riverbank"], landuse, "lake")
		found.layer, found.minZoom, found.level, found.kind = layerWater, 0, levelWater, s.text(kind)
		return s.intern(found)
	case yes(tags.Get("building")) && tags.Get("location") != "underground":
		found.layer, found.minZoom, found.level = layerBuilding, zoomBuilding, levelBuilding
		return s.intern(found)
	case tags.Get("highway") == "pedestrian" || tags.Get("highway") == "footway" && tags.Get("area") == "yes":
		if tags.Get("area") != "yes" && tags.Get("type") != "multipolygon" {
			return nil // a circular street
		}
		found.kind = "pedestrian"
	default:
		for _, key := range areaKeys {
			if value := tags.Get(key); value != "" && areas[key][value] != "" {
				found.kind = areas[key][value]
				break
			}
		}
	}
	switch found.kind {
	case "":
		return nil
	case "forest", "grass", "farmland", "wetland", "park", "glacier", "rock", "sand":
		found.minZoom = zoomNature
	case "pedestrian", "parking", "sport":
		found.minZoom = 13
	default:
		found.minZoom = 8
	}
	found.layer, found.level = layerLanduse, levelLanduse
	return s.intern(found)
}

// place returns the style of the name of a place, or nil if it is not drawn.
func (s *styler) place(tags osm.Tags) *style {
	kind, name := tags.Get("place"), s.text(tags.Get("name"))
	if kind == "" || name == "" {
		return nil
	}
	people, _ := strconv.Atoi(strings.NewReplacer(",", "", " ", "").Replace(tags.Get("population")))
	found := style{layer: layerPlace, geometry: points, level: levelPlace}
	switch kind {
	case "city":
		found.minZoom, found.rank = 6, 3
		if people >= 300_000 {
			found.minZoom, found.rank = 4, 2
		}
		if people >= 1_000_000 {
			found.minZoom, found.rank = zoomCity, 1
		}
	case "town":
		found.minZoom, found.rank = 8, 5
		if people >= 50_000 {
			found.minZoom, found.rank = 7, 4
		}
	case "village":
		found.minZoom, found.rank = 10, 6
	case "suburb", "borough":
		kind, found.minZoom, found.rank = "suburb", 11, 7
	case "neighbourhood", "quarter":
		kind, found.minZoom, found.rank = "neighbourhood", 13, 8
	case "hamlet":
		kind, found.minZoom, found.rank = "village", 12, 9
	default:
		return nil
	}
	found.kind, found.name = s.text(kind), name
	return s.intern(found)
}

// number returns the style of the number of a house, or nil if it is not drawn.
func (s *styler) number(tags osm.Tags) *style {
	const longest = 12 // characters that fit a map
	number := tags.Get("addr:housenumber")
	if number == "" || utf8.RuneCountInString(number) > longest {
		return nil
	}
	return s.intern(style{layer: layerNumber, geometry: points, minZoom: MaxZoom, level: levelNumber, attributes: attributes{name: s.text(number)}})
}

// at returns the attributes that a feature has in tiles of a zoom level. At low levels
// the details of roads and waterways are omitted, so that features that differ only in
// them become equal.
func (a attributes) at(zoom int, l layer) attributes {
	if l != layerRoad && l != layerWaterway {
		return a
	}
	if zoom < zoomNames {
		a.name = ""
	}
	if zoom < zoomDetails {
		a.oneway, a.bridge, a.tunnel = 0, false, false
	}
	return a
}
