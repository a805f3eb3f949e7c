package road

import (
	"regexp"
	"strconv"
	"strings"

	"dray/internal/osm"
)

// speeds are the speeds of the profiles along a way in km/h, 0 where it must not
// be used.
type speeds struct {
	forward, backward [profiles]float32
	posted            bool // a speed limit is posted
}

func (s speeds) usable() bool {
	return s.forward != [profiles]float32{} || s.backward != [profiles]float32{}
}

// pace is the default speed of each profile on a class of road, in km/h. If it is 0, the
// profile may use the road only with an explicit permission, at the speed that slowest
// returns.
type pace struct{ car, truck, bicycle, foot float32 }

const (
	walking = 5 // km/h
	riding  = 17
)

// classes are the values of highway that are roads.
var classes = map[string]pace{
	"motorway":       {car: 95, truck: 80},
	"motorway_link":  {car: 50, truck: 45},
	"trunk":          {80, 70, riding, walking},
	"trunk_link":     {45, 40, riding, walking},
	"primary":        {65, 55, riding, walking},
	"primary_link":   {40, 35, riding, walking},
	"secondary":      {55, 44, riding, walking},
	"secondary_link": {35, 30, riding, walking},
	"tertiary":       {40, 37, riding, walking},
	"tertiary_link":  {30, 25, riding, walking},
	"unclassified":   {30, 30, riding, walking},
	"residential":    {28, 21, riding, walking},
	"road":           {28, 21, riding, walking},
	"living_street":  {12, 10, 12, walking},
	"service":        {15, 12, 14, walking},
	"track":          {5, 2, 12, walking},
	"pedestrian":     {bicycle: 6, foot: walking},
	"cycleway":       {bicycle: 18, foot: walking},
	"path":           {bicycle: 11, foot: walking},
	"footway":        {bicycle: 0, foot: walking},
	"steps":          {bicycle: 0, foot: 3},
	"bridleway":      {bicycle: 0, foot: walking},
	"corridor":       {foot: walking},
	"busway":         {},
}

// firmTrack is the pace on a track that is known to be firm. Other tracks may be too soft or
// too narrow, and are slow enough to be used for the last meters only.
var firmTrack = pace{12, 8, 12, walking}

// firm reports whether a track is known to be firm.
func firm(tags osm.Tags) bool {
	switch tags.Get("surface") {
	case "paved", "asphalt", "concrete", "concrete:plates", "paving_stones", "compacted":
		return true
	}
	return tags.Get("tracktype") == "grade1"
}

// ferry is the speed on ferries without a duration.
const ferry = 15

// surfaces limit the speed, in km/h.
var surfaces = map[string]struct{ motor, bicycle float32 }{
	"cement": {80, 0}, "compacted": {70, 15}, "fine_gravel": {60, 13},
	"paving_stones": {50, 15}, "metal": {50, 13}, "bricks": {50, 14}, "wood": {40, 12}, "sett": {40, 12},
	"grass": {20, 8}, "unpaved": {40, 12}, "gravel": {40, 10}, "dirt": {25, 10}, "ground": {25, 10}, "earth": {25, 10},
	"grass_paver": {30, 10}, "cobblestone": {30, 9}, "unhewn_cobblestone": {25, 8}, "cobblestone:flattened": {40, 11},
	"pebblestone": {30, 8}, "clay": {20, 9}, "stone": {20, 8}, "rocky": {15, 6}, "sand": {12, 5}, "mud": {8, 4},
}

// tracktypes limit the speed of motor vehicles on tracks, in km/h.
var tracktypes = map[string]float32{"grade1": 40, "grade2": 25, "grade3": 15, "grade4": 10, "grade5": 6}

// hierarchies are the keys of access rules, the most specific first.
var hierarchies = [profiles][]string{
	Car:     {"motorcar", "motor_vehicle", "vehicle", "access"},
	Truck:   {"hgv", "goods", "motor_vehicle", "vehicle", "access"},
	Bicycle: {"bicycle", "vehicle", "access"},
	Foot:    {"foot", "access"},
}

// permission is the meaning of an access rule.
type permission uint8

const (
	unknown permission = iota
	allowed
	local // for those who have business there, such as a delivery
	forbidden
)

var permissions = map[string]permission{
	"yes": allowed, "permissive": allowed, "designated": allowed, "official": allowed, "public": allowed, "use_sidepath": allowed,
	"dismount": allowed, "destination": local, "delivery": local, "customers": local,
	"no": forbidden, "private": forbidden, "agricultural": forbidden, "forestry": forbidden, "emergency": forbidden,
	"psv": forbidden, "bus": forbidden, "military": forbidden, "permit": forbidden, "residents": forbidden, "use_sidewalk": allowed,
}

// access returns the most specific rule for a profile.
func access(tags osm.Tags, p Profile) permission {
	for _, key := range hierarchies[p] {
		if found := permissions[tags.Get(key)]; found != unknown {
			return found
		}
	}
	return unknown
}

// truckSize is the size of a usual delivery truck, in meters and tonnes. Trucks do not use
// ways with a lower limit.
var truckSize = map[string]float64{"maxheight": 4, "maxwidth": 2.55, "maxlength": 12, "maxweight": 12, "maxaxleload": 8}

// localSpeed limits the speed where only local traffic may drive, so that it is
// used for the first and last meters rather than as a shortcut.
const localSpeed = 15

// roadSpeeds returns the speeds on a way.
func roadSpeeds(tags osm.Tags) (s speeds) {
	class := tags.Get("highway")
	base, known := classes[class]
	isFerry := !known && (tags.Get("route") == "ferry" || class == "ferry")
	if !known && !isFerry || tags.Get("area") == "yes" || tags.Get("impassable") == "yes" || tags.Get("status") == "impassable" {
		return s
	}
	switch {
	case isFerry:
		base = pace{ferry, ferry, ferry, ferry}
	case class == "track" && firm(tags):
		base = firmTrack
	}
	s.posted = maxspeed(tags.Get("maxspeed")) > 0
	for p, speed := range [profiles]float32{base.car, base.truck, base.bicycle, base.foot} {
		speed = profileSpeed(tags, Profile(p), class, speed, isFerry)
		if speed == 0 {
			continue
		}
		forward, backward := directions(tags, Profile(p), class)
		if forward {
			s.forward[p] = speed * directed(tags, Profile(p), "forward", speed)
		}
		if backward {
			s.backward[p] = speed * directed(tags, Profile(p), "backward", speed)
		}
	}
	return s
}

// profileSpeed returns the speed of a profile on a way, or 0 if it must not use it.
func profileSpeed(tags osm.Tags, p Profile, class string, speed float32, isFerry bool) float32 {
	rule := access(tags, p)
	switch {
	case rule == forbidden:
		return 0
	case rule == unknown && (p == Bicycle || p == Foot) && tags.Get("motorroad") == "yes":
		return 0
	case speed == 0 && explicit(tags, p):
		speed = slowest(p, class)
	case speed == 0:
		return 0
	}
	if isFerry || p == Foot {
		return speed
	}
	surface, tracktype := surfaces[tags.Get("surface")], tracktypes[tags.Get("tracktype")]
	if p == Bicycle {
		if tags.Get("bicycle") == "dismount" {
			return walking
		}
		return limited(speed, surface.bicycle)
	}
	if posted := maxspeed(tags.Get("maxspeed")); posted > 0 {
		speed = postedSpeed(speed, posted, p)
	}
	speed = limited(limited(speed, surface.motor), tracktype)
	if rule == local {
		speed = limited(speed, localSpeed)
	}
	if p == Truck && !trucksFit(tags) {
		return 0
	}
	return speed
}

// explicit reports whether a permission names the profile rather than all
// vehicles: a footway with access=yes is not a road for cars.
func explicit(tags osm.Tags, p Profile) bool {
	rule := permissions[tags.Get(hierarchies[p][0])]
	if p == Car || p == Truck {
		rule = max(rule, permissions[tags.Get("motor_vehicle")])
	}
	return rule == allowed || rule == local
}

// slowest returns the speed on a way that is not made for the profile.
func slowest(p Profile, class string) float32 {
	switch {
	case p == Foot:
		return walking
	case p == Bicycle && class == "steps":
		return 0
	case p == Bicycle:
		return 10
	}
	return 10
}

// postedSpeed returns the usual speed where a limit is posted: a little below the limit, but
// not much above the speed of the class of road.
func postedSpeed(speed, posted float32, p Profile) float32 {
	if p == Truck {
		posted = min(posted, 90)
	}
	return min(posted*0.9, max(speed*1.4, 12))
}

func limited(speed, most float32) float32 {
	if most > 0 {
		return min(speed, most)
	}
	return speed
}

// directed returns the factor by which a limit for one direction reduces the speed.
func directed(tags osm.Tags, p Profile, direction string, speed float32) float32 {
	if p != Car && p != Truck {
		return 1
	}
	if posted := maxspeed(tags.Get("maxspeed:" + direction)); posted > 0 {
		return min(postedSpeed(speed, posted, p)/speed, 1)
	}
	return 1
}

// maxspeed parses a speed limit, in km/h; 0 if it is not a number.
func maxspeed(value string) float32 {
	number, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
	factor := float32(1)
	if trimmed, ok := strings.CutSuffix(number, "mph"); ok || unit == "mph" {
		number, factor = trimmed, 1.609344
	}
	v, err := strconv.ParseFloat(number, 32)
	switch {
	case number == "walk":
		return 7
	case err != nil || !(v >= 3 && v <= 300):
		return 0
	}
	return float32(v) * factor
}

// trucksFit reports whether a truck may use a way according to its limits.
func trucksFit(tags osm.Tags) bool {
	for key, size := range truckSize {
		value := tags.Get(key)
		if value == "below_default" { // there is no sign, but vehicles of the maximum legal height are too high
			return false
		}
		if limit := measure(value); limit > 0 && limit < size {
			return false
		}
	}
	return true
}

// The forms of limits. Those without a unit are in meters and tonnes.
var (
	unitForm = regexp.MustCompile(`^([0-9.]+) ?(m|cm|t|kg|st|lt|lbs?|)$`)
	feetForm = regexp.MustCompile(`^([0-9.]+) ?(?:'|ft) ?(?:([0-9.]+) ?(?:"|in)?)?$`) // feet and inches
)

// units are the units of limits in meters and tonnes.
var units = map[string]float64{
	"": 1, "m": 1, "cm": 0.01, "t": 1, "kg": 0.001, "st": 0.90718474, "lt": 1.0160469088, "lb": 0.00045359237, "lbs": 0.00045359237,
}

// measure parses a limit of size or weight, in meters or tonnes; 0 if it is not a number.
func measure(value string) float64 {
	if m := unitForm.FindStringSubmatch(value); m != nil {
		return decimal(m[1]) * units[m[2]]
	}
	if m := feetForm.FindStringSubmatch(value); m != nil {
		return decimal(m[1])*0.3048 + decimal(m[2])*0.0254
	}
	return 0
}

// decimal parses a number; 0 if it is none.
func decimal(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}

// directions reports in which directions a profile may use a way.
func directions(tags osm.Tags, p Profile, class string) (forward, backward bool) {
	if p == Foot {
		return true, true
	}
	rule := tags.Get("oneway")
	if p == Bicycle {
		if own := tags.Get("oneway:bicycle"); own != "" {
			rule = own
		} else if oppositeLane(tags) {
			return true, true
		}
	}
	switch rule {
	case "yes", "true", "1":
		return true, false
	case "-1", "reverse":
		return false, true
	case "no", "false", "0":
		return true, true
	case "reversible":
		return false, false
	}
	implied := tags.Get("junction") == "roundabout" || tags.Get("junction") == "circular" || class == "motorway"
	return true, !implied
}

// oppositeLane reports whether bicycles may use a one-way street in both directions.
func oppositeLane(tags osm.Tags) bool {
	for _, key := range []string{"cycleway", "cycleway:left", "cycleway:right", "cycleway:both"} {
		if strings.HasPrefix(tags.Get(key), "opposite") {
			return true
		}
	}
	return false
}

// passable are barriers that stop no traffic, or are opened for deliveries.
var passable = map[string]bool{
	"cattle_grid": true, "border_control": true, "toll_booth": true, "sally_port": true, "gate": true, "lift_gate": true, "swing_gate": true,
	"sliding_gate": true, "no": true, "entrance": true, "height_restrictor": true, "arch": true, "kerb": true, "rope": true, "bump_gate": true,
}

// motorOnly are barriers that stop motor vehicles alone.
var motorOnly = map[string]bool{
	"bollard": true, "cycle_barrier": true, "block": true, "planter": true, "jersey_barrier": true, "bus_trap": true, "motorcycle_barrier": true,
	"log": true, "chain": true, "debris": true,
}

// footOnly are barriers that stop bicycles as well.
var footOnly = map[string]bool{"stile": true, "kissing_gate": true, "turnstile": true, "full-height_turnstile": true, "horse_stile": true}

// blocks returns the profiles that cannot pass a node, as a set of bits.
func blocks(tags osm.Tags) (set uint8) {
	barrier := tags.Get("barrier")
	if barrier == "" && tags.Get("access") == "" && tags.Get("motor_vehicle") == "" {
		return 0
	}
	for p := range Profile(profiles) {
		blocked := false
		switch {
		case barrier == "" || passable[barrier]:
		case barrier == "bollard" && tags.Get("bollard") == "rising":
		case motorOnly[barrier]:
			blocked = p == Car || p == Truck
		case footOnly[barrier]:
			blocked = p != Foot
		default: // walls, hedges and the like; across a road they are usually mistakes of the map
			blocked = p != Foot
		}
		switch access(tags, p) {
		case allowed, local:
			blocked = false
		case forbidden:
			blocked = true
		case unknown:
		}
		if blocked {
			set |= 1 << p
		}
	}
	return set
}

// Delays at nodes, in milliseconds, for vehicles on the carriageway.
const (
	signalDelay   = 3_000
	stopDelay     = 2_500
	giveWayDelay  = 1_200
	crossingDelay = 300
)

// delay returns how long vehicles wait at a node on average.
func delay(tags osm.Tags) uint16 {
	switch tags.Get("highway") {
	case "traffic_signals":
		return signalDelay
	case "stop":
		return stopDelay
	case "give_way", "mini_roundabout":
		return giveWayDelay
	case "crossing":
		if tags.Get("crossing") == "traffic_signals" {
			return signalDelay / 2
		}
		return crossingDelay
	}
	return 0
}
