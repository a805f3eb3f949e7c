package contract_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestWorkerListContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := newFleet(t, p, "Acme"), newFleet(t, p, "Zenith")
		matches(t, list(t, c.Client, "/workers"), `[]`)
		idle, off, both := c.worker(t, "+12125550101"), c.worker(t, "+12125550102"), c.worker(t, "+12125550103")
		theirs := stranger.worker(t, "+12125550101")
		c.Must(t, "PUT", "/workers/"+off, `{"teams":["`+c.south+`"]}`)
		c.Must(t, "PUT", "/workers/"+both, `{"teams":["`+c.south+`","`+c.north+`"]}`)
		now := app.Clock()
		place(t, p.Store.Write, c.Client, idle, lastmile.Whereabouts{OnDuty: true, LastSeen: now, Location: &lastmile.Point{Lon: -74, Lat: 40.7}})
		place(t, p.Store.Write, stranger.Client, theirs, lastmile.Whereabouts{OnDuty: true, LastSeen: now, Location: &lastmile.Point{Lon: -74, Lat: 40.7}})

		t.Run("workers are listed oldest first, by any of the filters", func(t *testing.T) {
			for query, want := range map[string][]string{
				"":                                  {idle, off, both},
				"?":                                 {idle, off, both},
				"?teams=":                           {idle, off, both},
				"?teams=" + c.north:                 {idle, both},
				"?teams=" + c.south:                 {off, both},
				"?teams=" + c.north + "," + c.south: {idle, off, both},
				"?teams=" + url.QueryEscape("["+c.north+" "+c.south+"]"): {idle, off, both},
				"?teams=" + url.QueryEscape(c.north+", "+unknownID):      {idle, both},
				"?teams=" + c.north + "%2C" + c.south + "&states=0":      {off, both},
				"?teams=" + unknownID:                   {},
				"?teams=" + stranger.north:              {},
				"?teams=short":                          {},
				"?states=0":                             {off, both},
				"?states=1":                             {idle},
				"?states=1.0":                           {idle},
				"?states=2":                             {},
				"?states=1,2":                           {idle},
				"?states=" + url.QueryEscape("0, 1, 2"): {idle, off, both},
				"?states=" + url.QueryEscape("[0 1]"):   {idle, off, both},
				"?states=2&states=1":                    {idle},
				"?states[]=0&states[]=2":                {off, both},
				"?states%5B0%5D=2&states%5B1%5D=1":      {idle},
				"?phones=%2B12125550101":                {idle},
				"?phones=" + url.QueryEscape("+12125550103,2125550102"): {off, both},
				"?phones=2125550199": {},
				"?phones=" + url.QueryEscape("[+12125550103 +12125550102]"):     {off, both},
				"?phones=" + url.QueryEscape("+1 212 555 0103, (212) 555-0102"): {off, both},
				"?phones=" + url.QueryEscape("+1 212 555 0103 +12125550102"):    {off, both},
				"?phones=+12125550103,+12125550102":                             {off, both},
				"?phones=2125550101&states=1&teams=" + c.north:                  {idle},
				"?phones=2125550101&states=0&teams=" + c.north:                  {},
				"?unknown=parameter&states=1":                                   {idle},
			} {
				if got := ids(list(t, c.Client, "/workers"+query)); !slices.Equal(got, want) {
					t.Errorf("%s listed %v, want %v", query, got, want)
				}
			}
		})
		t.Run("a list shows the same records as reading them", func(t *testing.T) {
			for _, listed := range list(t, c.Client, "/workers") {
				matches(t, c.read(t, listed["id"]), string(encode(t, listed)))
			}
			seen := c.read(t, idle)
			matches(t, map[string]any{"onDuty": seen["onDuty"], "timeLastSeen": seen["timeLastSeen"], "location": seen["location"]},
				fmt.Sprintf(`{"onDuty":true,"timeLastSeen":%d,"location":[-74,40.7]}`, now.UnixMilli()))
		})
		t.Run("a filter keeps the named fields, and the id always", func(t *testing.T) {
			for _, query := range []string{"name,onDuty", "name%2C%20onDuty", url.QueryEscape("[name onDuty]"), "onDuty,name,unknown,id"} {
				matches(t, c.Must(t, "GET", "/workers/"+idle+"?filter="+query, nil), `{"id":"`+idle+`","name":"W","onDuty":true}`)
				matches(t, list(t, c.Client, "/workers?states=1&filter="+query), `[{"id":"`+idle+`","name":"W","onDuty":true}]`)
			}
			matches(t, list(t, c.Client, "/workers?filter=unknown&states=1"), `[{"id":"`+idle+`"}]`)
			matches(t, list(t, c.Client, "/workers?filter=name&teams="+unknownID), `[]`)
		})
		t.Run("an invalid filter is rejected", func(t *testing.T) {
			for query, want := range map[string]struct {
				rejection
				word string
			}{
				"?states=3":          {invalid, "states"},
				"?states=idle":       {invalid, "states"},
				"?states=0,-1":       {invalid, "states"},
				"?phones=12":         {invalid, "phone"},
				"?teams=%00":         {invalid, "teams"},
				"?phones=%FF":        {invalid, "phones"},
				"?filter=%zz":        {malformed, "query"},
				"?teams=a;b&teams=c": {malformed, "query"},
			} {
				want.check(t, c.Call(t, "GET", "/workers"+query, nil), want.word)
			}
		})
		t.Run("workers on duty are found by location, nearest first", func(t *testing.T) { testWorkersNear(t, p, c, idle, both) })
	})
}

func testWorkersNear(t *testing.T, p *apptest.Platform, c fleet, near, far string) {
	now := app.Clock()
	// A thousandth of a degree of latitude is 111 metres.
	place(t, p.Store.Write, c.Client, near, lastmile.Whereabouts{OnDuty: true, LastSeen: now, Location: &lastmile.Point{Lon: -74, Lat: 40.704}})
	place(t, p.Store.Write, c.Client, far, lastmile.Whereabouts{OnDuty: true, LastSeen: now.Add(-time.Hour), Location: &lastmile.Point{Lon: -74, Lat: 40.708}})
	offDuty, lost := c.worker(t, "+12125550104"), c.worker(t, "+12125550105")
	place(t, p.Store.Write, c.Client, offDuty, lastmile.Whereabouts{LastSeen: now, Location: &lastmile.Point{Lon: -74, Lat: 40.7}})
	place(t, p.Store.Write, c.Client, lost, lastmile.Whereabouts{OnDuty: true})
	find := func(query string) []map[string]any {
		t.Helper()
		var found struct{ Workers []map[string]any }
		if err := json.Unmarshal(c.Call(t, "GET", "/workers/location?"+query, nil).OK(t).Body, &found); err != nil {
			t.Fatal(err)
		}
		return found.Workers
	}
	for query, want := range map[string][]string{
		"longitude=-74&latitude=40.7":                     {near, far},
		"longitude=-74.0&latitude=4.07e1&radius=500":      {near},
		"longitude=-74&latitude=40.7&radius=500.5":        {near},
		"longitude=-74&latitude=40.7&radius=100":          {},
		"longitude=-74&latitude=40.708&radius=10000":      {far, near},
		"longitude=-74&latitude=40.709":                   {far, near},
		"longitude=0&latitude=0&radius=10000":             {},
		"longitude=-74&latitude=40.7&radius=1e3":          {near, far},
		"longitude=-74&latitude=40.7&radius=&other=thing": {near, far},
	} {
		if got := ids(find(query)); !slices.Equal(got, want) {
			t.Errorf("%s found %v, want %v", query, got, want)
		}
	}
	for _, found := range find("longitude=-74&latitude=40.7") {
		responding := found["isResponding"]
		delete(found, "isResponding")
		matches(t, c.read(t, found["id"]), string(encode(t, found)))
		if responding != (found["id"] == near) {
			t.Errorf("%v is responding: %v", found["id"], responding)
		}
	}
	for query, want := range map[string]struct {
		rejection
		word string
	}{
		"":                                          {malformed, "longitude"},
		"latitude=40.7":                             {malformed, "longitude"},
		"longitude=-74":                             {malformed, "latitude"},
		"longitude=&latitude=40":                    {malformed, "longitude"},
		"longitude=-74&latitude=forty":              {malformed, "latitude"},
		"longitude=-74&latitude=NaN":                {malformed, "latitude"},
		"longitude=-74&latitude=40&radius=Inf":      {malformed, "radius"},
		"longitude=-181&latitude=40":                {invalid, "longitude"},
		"longitude=-74&latitude=90.5":               {invalid, "latitude"},
		"longitude=-74&latitude=40&radius=-1":       {invalid, "radius"},
		"longitude=-74&latitude=40&radius=10000.01": {invalid, "radius"},
		"longitude=1e999&latitude=40":               {malformed, "longitude"},
	} {
		want.check(t, c.Call(t, "GET", "/workers/location?"+query, nil), want.word)
	}
}
