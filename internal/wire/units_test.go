package wire_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// unitsBody has a field of every unit.
type unitsBody struct {
	Millis  wire.Millis                `json:"millis"`
	Unix    wire.UnixSeconds           `json:"unix"`
	Seconds wire.Seconds               `json:"seconds"`
	Minutes wire.Minutes               `json:"minutes"`
	Whole   wire.WholeMinutes          `json:"whole"`
	Place   wire.LonLat                `json:"place"`
	Flag    wire.Flag                  `json:"flag"`
	Maybe   wire.Optional[wire.Millis] `json:"maybe,omitzero"`
}

func TestUnitsAreRead(t *testing.T) {
	newYear := time.Date(2021, time.January, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		body string
		want unitsBody
	}{
		"milliseconds":                     {`{"millis":1609459200000}`, unitsBody{Millis: wire.Millis(newYear)}},
		"milliseconds as a float":          {`{"millis":1609459200000.0}`, unitsBody{Millis: wire.Millis(newYear)}},
		"a fraction of a millisecond":      {`{"millis":1609459200000.75}`, unitsBody{Millis: wire.Millis(newYear)}},
		"a fraction, as text":              {`{"millis":"1609459200000.75"}`, unitsBody{Millis: wire.Millis(newYear)}},
		"milliseconds, exponent":           {`{"millis":1.6094592e+12}`, unitsBody{Millis: wire.Millis(newYear)}},
		"milliseconds as text":             {`{"millis":"1609459200000"}`, unitsBody{Millis: wire.Millis(newYear)}},
		"the earliest time":                {`{"millis":946684800000}`, unitsBody{Millis: wire.Millis(time.UnixMilli(946684800000).UTC())}},
		"the latest time":                  {`{"millis":4102444799999}`, unitsBody{Millis: wire.Millis(time.UnixMilli(4102444799999).UTC())}},
		"no time":                          {`{"millis":null,"unix":null}`, unitsBody{}},
		"Unix seconds":                     {`{"unix":1609459200}`, unitsBody{Unix: wire.UnixSeconds(newYear)}},
		"seconds":                          {`{"seconds":90}`, unitsBody{Seconds: wire.Seconds(90 * time.Second)}},
		"seconds as text":                  {`{"seconds":"90"}`, unitsBody{Seconds: wire.Seconds(90 * time.Second)}},
		"negative seconds":                 {`{"seconds":-90.0}`, unitsBody{Seconds: wire.Seconds(-90 * time.Second)}},
		"minutes":                          {`{"minutes":4}`, unitsBody{Minutes: wire.Minutes(4 * time.Minute)}},
		"minutes with a fraction":          {`{"minutes":1.1}`, unitsBody{Minutes: wire.Minutes(66 * time.Second)}},
		"minutes as text":                  {`{"minutes":"0.5"}`, unitsBody{Minutes: wire.Minutes(30 * time.Second)}},
		"many minutes":                     {`{"minutes":1e11}`, unitsBody{Minutes: wire.Minutes(876_000 * time.Hour)}},
		"many negative minutes":            {`{"minutes":-1e11}`, unitsBody{Minutes: wire.Minutes(-876_000 * time.Hour)}},
		"whole minutes":                    {`{"whole":21.0}`, unitsBody{Whole: wire.WholeMinutes(21 * time.Minute)}},
		"whole minutes as text":            {`{"whole":"2.1e1"}`, unitsBody{Whole: wire.WholeMinutes(21 * time.Minute)}},
		"a location":                       {`{"place":[-122.4,37.8]}`, unitsBody{Place: wire.LonLat{Lon: -122.4, Lat: 37.8}}},
		"a location as strings":            {`{"place":["-122.4","37.8"]}`, unitsBody{Place: wire.LonLat{Lon: -122.4, Lat: 37.8}}},
		"the extremes of both coordinates": {`{"place":[180, -90]}`, unitsBody{Place: wire.LonLat{Lon: 180, Lat: -90}}},
		"no location":                      {`{"place":null}`, unitsBody{}},
		"no location, as the zero point":   {`{"place":[0,0]}`, unitsBody{}},
		"a flag":                           {`{"flag":true}`, unitsBody{Flag: true}},
		"a flag as text":                   {`{"flag":"true"}`, unitsBody{Flag: true}},
		"a false flag as text":             {`{"flag":"false"}`, unitsBody{}},
		"an optional time":                 {`{"maybe":1609459200000}`, unitsBody{Maybe: wire.Optional[wire.Millis]{Present: true, Value: wire.Millis(newYear)}}},
		"an optional null":                 {`{"maybe":null}`, unitsBody{Maybe: wire.Optional[wire.Millis]{Present: true, Null: true}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got, plain unitsBody
			if err := codec.Decode([]byte(test.body), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
			if err := json.Unmarshal([]byte(test.body), &plain); err != nil || !reflect.DeepEqual(plain, test.want) {
				t.Errorf("encoding/json reads %+v, %v", plain, err)
			}
		})
	}
}

func TestUnitsReject(t *testing.T) {
	const (
		malformed = lastmile.CodeMalformed
		invalid   = lastmile.CodeInvalid
	)
	tests := map[string]struct {
		body string
		code lastmile.Code
		want string
	}{
		"a date":                   {`{"millis":"2021-01-01T00:00:00Z"}`, malformed, `millis must be a time in Unix milliseconds, not "2021-01-01T00:00:00Z"`},
		"an object for a time":     {`{"millis":{"a":1}}`, malformed, "millis must be a time in Unix milliseconds, not an object"},
		"empty text for a time":    {`{"millis":""}`, malformed, `millis must be a time in Unix milliseconds, not ""`},
		"a time after a space":     {`{"millis":" 1609459200000"}`, malformed, `millis must be a time in Unix milliseconds, not " 1609459200000"`},
		"infinity":                 {`{"millis":"Inf"}`, malformed, `millis must be a time in Unix milliseconds, not "Inf"`},
		"hexadecimal":              {`{"millis":"0x10"}`, malformed, `millis must be a time in Unix milliseconds, not "0x10"`},
		"the epoch":                {`{"millis":0}`, invalid, "millis must be a time in Unix milliseconds between the years 2000 and 2100, not 0"},
		"before 2000":              {`{"millis":946684799999}`, invalid, "millis must be a time in Unix milliseconds between the years 2000 and 2100"},
		"after 2100":               {`{"millis":4102444800000}`, invalid, "millis must be a time in Unix milliseconds between the years 2000 and 2100"},
		"microseconds":             {`{"millis":1609459200000000}`, invalid, "millis must be a time in Unix milliseconds between the years 2000 and 2100"},
		"a huge number as text":    {`{"millis":"1e300"}`, invalid, `millis must be a time in Unix milliseconds between the years 2000 and 2100, not "1e300"`},
		"a number beyond float64":  {`{"millis":"1e999"}`, malformed, `millis must be a time in Unix milliseconds, not "1e999"`},
		"milliseconds for seconds": {`{"unix":1609459200000}`, invalid, "unix must be a time in Unix seconds between the years 2000 and 2100, not 1609459200000"},
		"true for a time":          {`{"unix":true}`, malformed, "unix must be a time in Unix seconds, not true"},
		"a fraction of a second":   {`{"seconds":0.5}`, malformed, "seconds must be a whole number of seconds, not 0.5"},
		"words for seconds":        {`{"seconds":"soon"}`, malformed, `seconds must be a whole number of seconds, not "soon"`},
		"too many seconds":         {`{"seconds":4000000000}`, invalid, "seconds must be a number of seconds of at most a hundred years, not 4000000000"},
		"an array for minutes":     {`{"minutes":[1]}`, malformed, "minutes must be a number of minutes, not an array"},
		"a fraction of a minute":   {`{"whole":1.5}`, malformed, "whole must be a whole number of minutes, not 1.5"},
		"a fraction as text":       {`{"whole":"1.5"}`, malformed, `whole must be a whole number of minutes, not "1.5"`},
		"words for whole minutes":  {`{"whole":"soon"}`, malformed, `whole must be a number of minutes, not "soon"`},
		"text for a location":      {`{"place":"-122.4,37.8"}`, malformed, "place must be an array of two numbers, [longitude, latitude], not a string"},
		"an object for a location": {`{"place":{"lat":1}}`, malformed, "place must be an array of two numbers, [longitude, latitude], not an object"},
		"one coordinate":           {`{"place":[1]}`, malformed, "place must be an array of two numbers, [longitude, latitude]"},
		"no coordinates":           {`{"place":[]}`, malformed, "place must be an array of two numbers, [longitude, latitude]"},
		"three coordinates":        {`{"place":[1,2,3]}`, malformed, "place must be an array of two numbers, [longitude, latitude]"},
		"null for a coordinate":    {`{"place":[null,2]}`, malformed, "place must be an array of two numbers, [longitude, latitude]"},
		"a word for a coordinate":  {`{"place":["1","west"]}`, malformed, "place must be an array of two numbers, [longitude, latitude]"},
		"latitude first":           {`{"place":[37.8,-122.4]}`, invalid, "place must be [longitude, latitude], in this order: latitude must be between -90 and 90, not -122.4"},
		"a longitude of 200":       {`{"place":[200,0]}`, invalid, "place must be [longitude, latitude], in this order: longitude must be between -180 and 180, not 200"},
		"another word for a flag":  {`{"flag":"yes"}`, malformed, `flag must be true or false, not "yes"`},
		"a number for a flag":      {`{"flag":1}`, malformed, "flag must be true or false, not 1"},
		"an invalid optional time": {`{"maybe":"x"}`, malformed, `maybe must be a time in Unix milliseconds, not "x"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var into unitsBody
			err := codec.Decode([]byte(test.body), &into)
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok || rejection.Code != test.code || !strings.HasPrefix(rejection.Message, test.want) {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
			if err := json.Unmarshal([]byte(test.body), &into); err == nil {
				t.Error("encoding/json reads it")
			}
		})
	}
}

func TestUnitsAreWritten(t *testing.T) {
	at := time.Date(2021, time.January, 1, 0, 0, 0, 1_999_999, time.FixedZone("", 3600))
	tests := map[string]struct {
		body unitsBody
		want string
	}{
		"nothing": {unitsBody{}, `{"millis":null,"unix":null,"seconds":0,"minutes":0,"whole":0,"place":[0,0],"flag":false}`},
		"values": {
			unitsBody{
				wire.Millis(at), wire.UnixSeconds(at), wire.Seconds(1500 * time.Millisecond), wire.Minutes(270 * time.Second), 0,
				wire.LonLat{Lon: -122.4, Lat: 37.8},
				true,
				wire.Optional[wire.Millis]{Present: true, Null: true},
			},
			`{"millis":1609455600001,"unix":1609455600,"seconds":2,"minutes":4.5,"whole":0,"place":[-122.4,37.8],"flag":true,"maybe":null}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(test.body)
			if err != nil || string(got) != test.want {
				t.Errorf("\n got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestUnitsComeBackAsTheyWere(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 5_000 {
		whole := 946684800 + random.Int64N(4102444800-946684800)
		want := unitsBody{
			Millis:  wire.Millis(time.UnixMilli(whole*1000 + random.Int64N(1000)).UTC()),
			Unix:    wire.UnixSeconds(time.Unix(whole, 0).UTC()),
			Seconds: wire.Seconds(time.Duration(random.Int64N(1e8)-5e7) * time.Second),
			Minutes: wire.Minutes(time.Duration(random.Int64N(1e8)) * time.Millisecond),
			Place:   wire.LonLat{Lon: random.Float64()*360 - 180, Lat: random.Float64()*180 - 90},
			Flag:    random.IntN(2) == 0,
			Maybe:   wire.Optional[wire.Millis]{Present: true, Value: wire.Millis(time.UnixMilli(whole * 1000).UTC())},
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got unitsBody
		if err := codec.Decode(data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v\n got %+v\nwant %+v", data, err, got, want)
		}
	}
}

func TestOptionalDistinguishesAbsentNullAndValue(t *testing.T) {
	type update struct {
		Name  wire.Optional[string]   `json:"name"`
		Teams wire.Optional[[]string] `json:"teams"`
		Place wire.Optional[*string]  `json:"place"`
	}
	var got update
	if err := codec.Decode([]byte(`{"name":"","teams":null}`), &got); err != nil {
		t.Fatal(err)
	}
	want := update{Name: wire.Optional[string]{Present: true}, Teams: wire.Optional[[]string]{Present: true, Null: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if !got.Name.Set() || got.Teams.Set() || got.Place.Set() {
		t.Error("Set is wrong")
	}
}
