package road

import (
	"testing"

	"dray/internal/osm"
)

func TestRoadSpeeds(t *testing.T) {
	mph := float32(20) * 1.609344
	mph *= 0.9
	type both = [2][profiles]float32 // forward, backward
	for name, test := range map[string]struct {
		tags osm.Tags
		want both
	}{
		"a street":                      {tags("highway", "residential"), both{{28, 21, 17, 5}, {28, 21, 17, 5}}},
		"a motorway":                    {tags("highway", "motorway"), both{{95, 80, 0, 0}, {}}},
		"a motorway in both directions": {tags("highway", "motorway", "oneway", "no"), both{{95, 80, 0, 0}, {95, 80, 0, 0}}},
		"a one-way street":              {tags("highway", "residential", "oneway", "yes"), both{{28, 21, 17, 5}, {0, 0, 0, 5}}},
		"one-way in reverse":            {tags("highway", "residential", "oneway", "-1"), both{{0, 0, 0, 5}, {28, 21, 17, 5}}},
		"a lane against one-way":        {tags("highway", "residential", "oneway", "yes", "cycleway:left", "opposite_lane"), both{{28, 21, 17, 5}, {0, 0, 17, 5}}},
		"a reversible lane":             {tags("highway", "primary", "oneway", "reversible"), both{{0, 0, 0, 5}, {0, 0, 0, 5}}},
		"a roundabout":                  {tags("highway", "tertiary", "junction", "roundabout"), both{{40, 37, 17, 5}, {0, 0, 0, 5}}},
		"a limit":                       {tags("highway", "primary", "maxspeed", "50"), both{{45, 45, 17, 5}, {45, 45, 17, 5}}},
		"a limit in miles":              {tags("highway", "residential", "maxspeed", "20 mph"), both{{mph, mph, 17, 5}, {mph, mph, 17, 5}}},
		"a limit that is not a number":  {tags("highway", "residential", "maxspeed", "IT:urban"), both{{28, 21, 17, 5}, {28, 21, 17, 5}}},
		"a limit in one direction":      {tags("highway", "secondary", "maxspeed:backward", "30"), both{{55, 44, 17, 5}, {27, 27, 17, 5}}},
		"a track of sand":               {tags("highway", "track", "surface", "sand", "tracktype", "grade4"), both{{5, 2, 5, 5}, {5, 2, 5, 5}}},
		"a track of concrete":           {tags("highway", "track", "surface", "concrete"), both{{12, 8, 12, 5}, {12, 8, 12, 5}}},
		"a footway":                     {tags("highway", "footway"), both{{0, 0, 0, 5}, {0, 0, 0, 5}}},
		"a footway for bicycles":        {tags("highway", "footway", "bicycle", "yes"), both{{0, 0, 10, 5}, {0, 0, 10, 5}}},
		"a footway open to all":         {tags("highway", "footway", "access", "yes"), both{{0, 0, 0, 5}, {0, 0, 0, 5}}},
		"steps with bicycles":           {tags("highway", "steps", "bicycle", "yes"), both{{0, 0, 0, 3}, {0, 0, 0, 3}}},
		"bicycles to be pushed":         {tags("highway", "pedestrian", "bicycle", "dismount"), both{{0, 0, 5, 5}, {0, 0, 5, 5}}},
		"a square for deliveries":       {tags("highway", "pedestrian", "motor_vehicle", "delivery"), both{{10, 10, 6, 5}, {10, 10, 6, 5}}},
		"a private road":                {tags("highway", "service", "access", "private"), both{}},
		"a private road for bicycles":   {tags("highway", "service", "access", "private", "bicycle", "yes"), both{{0, 0, 14, 0}, {0, 0, 14, 0}}},
		"no trucks":                     {tags("highway", "secondary", "hgv", "no"), both{{55, 0, 17, 5}, {55, 0, 17, 5}}},
		"a light bridge":                {tags("highway", "secondary", "maxweight", "3.5 t"), both{{55, 0, 17, 5}, {55, 0, 17, 5}}},
		"local traffic":                 {tags("highway", "residential", "motor_vehicle", "destination"), both{{15, 15, 17, 5}, {15, 15, 17, 5}}},
		"a motor road":                  {tags("highway", "primary", "motorroad", "yes"), both{{65, 55, 0, 0}, {65, 55, 0, 0}}},
		"a trunk road":                  {tags("highway", "trunk"), both{{80, 70, 17, 5}, {80, 70, 17, 5}}},
		"a trunk road for motors":       {tags("highway", "trunk", "motorroad", "yes"), both{{80, 70, 0, 0}, {80, 70, 0, 0}}},
		"a busway":                      {tags("highway", "busway"), both{}},
		"a ferry":                       {tags("route", "ferry"), both{{15, 15, 15, 15}, {15, 15, 15, 15}}},
		"a ferry without cars":          {tags("route", "ferry", "motor_vehicle", "no"), both{{0, 0, 15, 15}, {0, 0, 15, 15}}},
		"a square as an area":           {tags("highway", "pedestrian", "area", "yes"), both{}},
		"a river":                       {tags("waterway", "river"), both{}},
		"a road that is planned":        {tags("highway", "proposed"), both{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := roadSpeeds(test.tags); (both{got.forward, got.backward}) != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestTrucksFit(t *testing.T) {
	for key, values := range map[string]struct{ fit, tooLarge []string }{
		"maxheight": {
			[]string{"", "4", "4.0", "4.2 m", "420 cm", `13'6"`, `13'2"`, "14'", "13 ft 6 in", "16ft", "default", "none", "no_sign", "unsigned", "0", "high", "..", "3,8", "3.8;4.5", "3.8 x"},
			[]string{"3.8", "3.8m", "3.8 m", "380 cm", `10'6"`, `10' 6"`, "10'6", "13'", "10 ft 6 in", "10ft 6in", "12 ft", "below_default"},
		},
		"maxwidth":    {[]string{"2.6", `8'6"`, "9 ft"}, []string{"2", `6'6"`, "7'"}},
		"maxlength":   {[]string{"12", "40'", "18.75 m"}, []string{"10", "30'", "39 ft"}},
		"maxweight":   {[]string{"12", "18 t", "20t", "12000 kg", "15 st", "12 lt", "40000 lbs", "none"}, []string{"3.5", "7.5 t", "7.5t", "7500 kg", "3 st", "13 st", "11 lt", "16535 lbs", "6000 lb"}},
		"maxaxleload": {[]string{"10", "8 t", "9 st"}, []string{"6", "8 st", "4000 kg"}},
	} {
		for _, value := range values.fit {
			if !trucksFit(tags(key, value)) {
				t.Errorf("trucks do not fit %s=%s", key, value)
			}
		}
		for _, value := range values.tooLarge {
			if trucksFit(tags(key, value)) {
				t.Errorf("trucks fit %s=%s", key, value)
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	motor := uint8(1<<Car | 1<<Truck)
	for name, test := range map[string]struct {
		tags osm.Tags
		want uint8
	}{
		"nothing":                    {tags("highway", "crossing"), 0},
		"a bollard":                  {tags("barrier", "bollard"), motor},
		"a rising bollard":           {tags("barrier", "bollard", "bollard", "rising"), 0},
		"a bollard with access":      {tags("barrier", "bollard", "access", "yes"), 0},
		"a gate":                     {tags("barrier", "gate"), 0},
		"a private gate":             {tags("barrier", "gate", "access", "private", "foot", "yes"), motor | 1<<Bicycle},
		"a stile":                    {tags("barrier", "stile"), motor | 1<<Bicycle},
		"a toll booth":               {tags("barrier", "toll_booth"), 0},
		"no motor vehicles":          {tags("motor_vehicle", "no"), motor},
		"a barrier of unknown kind":  {tags("barrier", "yes"), motor | 1<<Bicycle},
		"a barrier that trucks pass": {tags("barrier", "lift_gate", "motor_vehicle", "no", "hgv", "yes"), 1 << Car},
	} {
		t.Run(name, func(t *testing.T) {
			if got := blocks(test.tags); got != test.want {
				t.Errorf("got %b, want %b", got, test.want)
			}
		})
	}
}
