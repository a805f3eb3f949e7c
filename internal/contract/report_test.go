package contract_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/report"
	"dray/internal/store/sqlstore"
)

func init() {
	register("GET /workers/{id}/stops", [2]string{}, idPlace{field: "{id}", kind: "worker", missing: notFound})
	register("GET /workers/{id}/positions", [2]string{}, idPlace{field: "{id}", kind: "worker", missing: notFound})
}

func TestSearchContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := id(t, c, "/teams", `{"name":"T","workers":[],"managers":[]}`)
		ada := id(t, c, "/workers", `{"name":"Ada Lovelace","phone":"+12125550187","teams":["`+team+`"]}`)
		task := func(street, name, phone string) map[string]any {
			return c.Must(t, "POST", "/tasks", `{"destination":{"address":{"number":"350","street":"`+street+`","city":"New York","country":"US"},"location":[-73.98,40.74]},
				"recipients":[{"name":"`+name+`","phone":"`+phone+`"}]}`)
		}
		first, second := task("5th Avenue", "Märy Seacole", "+12125550142"), task("Broadway", "Grace Hopper", "+442079460123")
		search := func(q string) map[string]any {
			t.Helper()
			return c.Must(t, "GET", "/search?q="+url.QueryEscape(q), nil)
		}
		kind := func(found map[string]any, of string) (all []string) {
			for _, each := range found[of].([]any) {
				all = append(all, fmt.Sprint(each.(map[string]any)["id"]))
			}
			return all
		}
		one, two := fmt.Sprint(first["id"]), fmt.Sprint(second["id"])

		t.Run("shows the records it finds", func(t *testing.T) {
			recipient := `{"id":"<id>","name":"Märy Seacole","phone":"+12125550142"}`
			matches(t, search("  MÄRY s"), `{"tasks":[{"id":"`+one+`","shortId":"`+fmt.Sprint(first["shortId"])+`","state":0,"timeCreated":"<now>","worker":null,
				"recipient":`+recipient+`,"number":"350","street":"5th Avenue","city":"New York"}],"workers":[],"recipients":[`+recipient+`]}`)
			matches(t, search("ada"), `{"tasks":[],"workers":[{"id":"`+ada+`","name":"Ada Lovelace","phone":"+12125550187","onDuty":false}],"recipients":[]}`)
			matches(t, search("nobody"), `{"tasks":[],"workers":[],"recipients":[]}`)
			matches(t, search("100%_"), `{"tasks":[],"workers":[],"recipients":[]}`)
		})
		t.Run("finds beginnings of names, phone numbers, streets and short ids", func(t *testing.T) {
			for q, want := range map[string]string{
				"gr": two, "+44 20 79": two, "4420794": two, "212 555-0142": one, "(212) 555 014": one, "+1212555014": one, "5th a": one, "350 5th": one,
				"BROADWAY": two, "broadway 350": two, fmt.Sprint(second["shortId"]): two, fmt.Sprint(first["shortId"])[:7]: one,
			} {
				if got := kind(search(q), "tasks"); len(got) != 1 || got[0] != want {
					t.Errorf("%q finds %v, want %s", q, got, want)
				}
			}
			if got := kind(search("2125550"), "workers"); len(got) != 1 || got[0] != ada {
				t.Errorf("finds workers %v", got)
			}
			c.Must(t, "PUT", "/workers/"+ada, `{"name":"Augusta King"}`)
			if len(kind(search("ada"), "workers")) != 0 || len(kind(search("august"), "workers")) != 1 {
				t.Error("a worker is not found by the new name")
			}
		})
		t.Run("at most ten of each, the newest", func(t *testing.T) {
			var newest []string
			for i := range 12 {
				made := task("Wall Street", fmt.Sprintf("Wallace %02d", i), fmt.Sprintf("+1212555%04d", 3000+i))
				newest = append([]string{fmt.Sprint(made["id"])}, newest...)
			}
			found := search("wall")
			if got := kind(found, "tasks"); fmt.Sprint(got) != fmt.Sprint(newest[:10]) {
				t.Errorf("found %v, want %v", got, newest[:10])
			}
			if got := kind(found, "recipients"); len(got) != 10 {
				t.Errorf("found %d recipients", len(got))
			}
		})
		t.Run("finds neither other organizations' nor deleted records", func(t *testing.T) {
			for _, q := range []string{"gr", "broadway", fmt.Sprint(second["shortId"]), "2125550187", "augusta"} {
				matches(t, other.Must(t, "GET", "/search?q="+q, nil), `{"tasks":[],"workers":[],"recipients":[]}`)
			}
			c.Call(t, "DELETE", "/tasks/"+two, nil).OK(t)
			matches(t, search("broadway")["tasks"], `[]`)
		})
		t.Run("bad queries", func(t *testing.T) {
			for query, want := range map[string]rejection{
				"": malformed, "?q=": malformed, "?q=+++": malformed, "?q=a": invalid, "?q=" + strings.Repeat("x", 101): invalid, "?q=%ff%00": invalid,
			} {
				want.check(t, c.Call(t, "GET", "/search"+query, nil), "q")
			}
		})
	})
}

func TestPositionContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c, other := newFleet(t, p, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, c.Client, "Positions", true)
		worker, _ := driver(t, c.Client, team, "+12125550371")
		now := p.Now()
		var way []lastmile.Position
		for i := range 2_500 {
			way = append(way, lastmile.Position{At: now.Add(time.Duration(i-2_500) * time.Second), Location: lastmile.Point{Lon: 1 + float64(i)/1e4, Lat: 2}})
		}
		way[0].Accuracy, way[0].Speed, way[0].Heading = new(8.5), new(2.5), new(90.0)
		err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
			return tx.SavePositions(t.Context(), c.Organization.ID, lastmile.WorkerID(worker), way)
		})
		if err != nil {
			t.Fatal(err)
		}
		path := "/workers/" + worker + "/positions"
		ms := func(i int) string { return fmt.Sprint(way[i].At.UnixMilli()) }

		first := c.Must(t, "GET", path, nil)
		positions, _ := first["positions"].([]any)
		if len(positions) != 1_000 || fmt.Sprintf("%.0f", first["next"]) != ms(1_000) {
			t.Errorf("the first page has %d positions, and the next begins at %v", len(positions), first["next"])
		}
		matches(t, positions[:2], `[{"time":`+ms(0)+`,"location":[1,2],"accuracy":8.5,"speed":2.5,"heading":90},{"time":`+ms(1)+`,"location":[1.0001,2],"accuracy":null,"speed":null,"heading":null}]`)
		seen := 0
		for from := ms(0); from != ""; {
			page := c.Must(t, "GET", path+"?from="+from, nil)
			seen += len(page["positions"].([]any))
			if from = ""; page["next"] != nil {
				from = fmt.Sprintf("%.0f", page["next"])
			}
		}
		if seen != len(way) {
			t.Errorf("the pages have %d positions, want %d", seen, len(way))
		}
		if between := c.Must(t, "GET", path+"?from="+ms(10)+"&to="+ms(20), nil); len(between["positions"].([]any)) != 10 || between["next"] != nil {
			t.Errorf("between two times: %v", between)
		}
		if simple := c.Must(t, "GET", path+"?simplify=5", nil); len(simple["positions"].([]any)) > 12 || simple["next"] != nil {
			t.Errorf("simplified, %d positions", len(simple["positions"].([]any)))
		}
		matches(t, c.Must(t, "GET", path+"?to=1500000000000", nil), `{"positions":[],"next":null}`)
		outsideScope.check(t, other.Call(t, "GET", path, nil))
		for query, want := range map[string]rejection{
			"from=x": malformed, "to=-1": invalid, "from=2&to=1": invalid, "from=2&to=2": invalid, "from=1&to=2678400002": invalid, "simplify=-1": invalid, "simplify=10001": invalid, "simplify=far": malformed,
		} {
			want.check(t, c.Call(t, "GET", path+"?"+query, nil))
		}
		for _, id := range append(malformedIDs, unknownID) {
			notFound.check(t, c.Call(t, "GET", "/workers/"+id+"/positions", nil))
		}
	})
}

func TestAnalyticsContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, c, "North", true)
		worker, phone := driver(t, c, team, "+12125550371")
		task := func(window string) string {
			return driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}, "notes": window})
		}
		done, failed, open := task(""), task(""), task("")
		c.Must(t, "PUT", "/tasks/"+done, `{"completeBefore":1500000000000}`)
		c.Must(t, "PUT", "/tasks/"+failed, `{"completeAfter":1500000000000}`)
		phone.do(t, "start", done, "s1", nil)
		phone.do(t, "complete", done, "c1", map[string]any{"success": true})
		phone.do(t, "start", failed, "s2", nil)
		phone.do(t, "complete", failed, "c2", map[string]any{"success": false, "failureReason": "NO_ACCESS"})
		_ = open
		zone, err := time.LoadLocation(c.Organization.Timezone)
		if err != nil {
			t.Fatal(err)
		}
		today := p.Now().In(zone).Format(time.DateOnly)
		of := func(by string) map[string]any {
			t.Helper()
			return c.Must(t, "GET", "/analytics?by="+by, nil)
		}
		counts := func(group string) string {
			return `{` + group + `"completed":2,"succeeded":1,"failed":1,"failureReasons":{"NO_ACCESS":1},"onTime":1,"early":0,"late":1,"distance":0,"driveTime":0,"serviceTime":0,"arrivals":{"count":0,"close":0,"error":null,"delay":null},"feedback":{"count":0,"rating":null}}`
		}
		total := of("day")
		matches(t, total["total"], counts(`"created":3,`))
		days, _ := total["groups"].([]any)
		if len(days) < 7 || len(days) > 8 {
			t.Errorf("there are %d days", len(days))
		}
		matches(t, days[len(days)-1], counts(`"day":"`+today+`","created":3,`))
		matches(t, of("worker")["groups"], `[`+counts(`"worker":"`+worker+`",`)+`]`)
		matches(t, of("team")["groups"], `[`+counts(`"team":"`+team+`",`)+`]`)
		c.Must(t, "PUT", "/teams/"+team, `{"workers":[]}`)
		matches(t, of("team")["groups"], `[`+counts(``)+`]`)

		t.Run("records of an older version are filled in", func(t *testing.T) {
			err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
				for _, table := range []string{"task SET success = NULL, failure = NULL", "worker SET name = NULL", "destination SET street = NULL"} {
					if _, err := tx.Conn().Exec(t.Context(), "UPDATE "+table); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			matches(t, of("worker")["groups"], `[]`)
			for range 2 {
				if err := p.Reports.Fill(t.Context()); err != nil {
					t.Fatal(err)
				}
				matches(t, of("worker")["groups"], `[`+counts(`"worker":"`+worker+`",`)+`]`)
			}
			if found := c.Must(t, "GET", "/search?q=2125550371", nil); len(found["workers"].([]any)) != 1 {
				t.Errorf("found %v", found)
			}
		})
		t.Run("another organization has none", func(t *testing.T) {
			matches(t, other.Must(t, "GET", "/analytics?by=worker", nil)["groups"], `[]`)
		})
		t.Run("bad queries", func(t *testing.T) {
			for query, want := range map[string]rejection{
				"by=hour": malformed, "from=x": malformed, "to=-5": invalid, "from=9&to=3": invalid, "from=1&to=2682000002": invalid,
			} {
				want.check(t, c.Call(t, "GET", "/analytics?"+query, nil))
			}
			empty := c.Must(t, "GET", "/analytics?from=1500000000000&to=1500000000001", nil)
			matches(t, empty["total"], `{"created":0,"completed":0,"succeeded":0,"failed":0,"failureReasons":{},"onTime":0,"early":0,"late":0,"distance":0,"driveTime":0,"serviceTime":0,"arrivals":{"count":0,"close":0,"error":null,"delay":null},"feedback":{"count":0,"rating":null}}`)
		})
	})
}

// TestArrivalsAreComparedWithEstimates: arrivals are compared with the estimate at the
// start of the drive, not with later ones.
func TestArrivalsAreComparedWithEstimates(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "North", true)
		worker, phone := driver(t, c, team, "+12125550371")
		task := c.Must(t, "POST", "/tasks", inList(worker, -73.981, 40.751))["id"].(string)
		open := c.Must(t, "POST", "/tasks", inList(worker, -73.985, 40.755))["id"].(string)
		phone.do(t, "start", task, "s", map[string]any{"location": []float64{-73.98, 40.75}})
		estimated := int64(c.Must(t, "GET", "/tasks/"+task, nil)["estimatedArrivalTime"].(float64))
		p.Advance(10 * time.Minute)
		p.RefreshDue(t)
		late := float64(p.Now().UnixMilli()-estimated) / 1000
		phone.do(t, "arrive", task, "a", nil)
		p.Advance(time.Minute)
		phone.do(t, "complete", task, "c", map[string]any{"success": true})
		got := c.Must(t, "GET", "/analytics?by=worker", nil)["total"].(map[string]any)["arrivals"].(map[string]any)
		stops, _ := c.Must(t, "GET", fmt.Sprintf("/workers/%s/stops?to=%d", worker, p.Now().Add(time.Hour).UnixMilli()), nil)["stops"].([]any)
		if len(stops) != 2 {
			t.Fatalf("stops are %v", stops)
		}
		done, next := stops[0].(map[string]any), stops[1].(map[string]any)
		if done["task"] != task || done["success"] != true || !near(done["estimatedArrivalTime"], float64(estimated), 1) || !near(done["completionTime"], done["arrivalTime"].(float64)+60_000, 1) {
			t.Errorf("the completed stop is %v", done)
		}
		if next["task"] != open || next["state"] != 1.0 || next["success"] != nil || next["startTime"] != nil || next["arrivalTime"] != nil {
			t.Errorf("the open stop is %v", next)
		}
		if got := c.Must(t, "GET", "/workers/"+worker+"/stops", nil)["stops"].([]any); len(got) != 1 {
			t.Errorf("stops until now are %v", got)
		}
		past := c.Must(t, "GET", fmt.Sprintf("/workers/%s/stops?to=%d", worker, p.Now().Add(-30*time.Second).UnixMilli()), nil)
		if got := past["stops"].([]any); len(got) != 0 || past["next"] != nil {
			t.Errorf("stops of a period that has ended are %v", got)
		}
		malformed.check(t, c.Call(t, "GET", "/workers/"+worker+"/stops?from=x", nil))
		invalid.check(t, c.Call(t, "GET", "/workers/"+worker+"/stops?from=9&to=3", nil))
		if got["count"] != 1.0 || got["close"] != 0.0 || !near(got["error"], late, 0.01) || !near(got["delay"], late, 0.01) {
			t.Errorf("arrivals are %v, want a delay of %v", got, late)
		}
	})
}

// inList returns the body of a task in the list of a worker, at a location.
func inList(worker string, lon, lat float64) map[string]any {
	return map[string]any{
		"container": map[string]any{"type": "WORKER", "worker": worker}, "recipients": []any{},
		"destination": map[string]any{"address": map[string]any{"number": "1", "street": "Main Street", "city": "New York", "country": "US"}, "location": []float64{lon, lat}},
	}
}

// TestOpenStopsArePaged: a worker has more tasks than a page.
func TestOpenStopsArePaged(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		worker, phone := driver(t, c, driverTeam(t, c, "North", true), "+12125550381")
		task := string(encode(t, inList(worker, -73.981, 40.751)))
		var want []string
		for range report.MaxStops/100 + 1 {
			made := c.Must(t, "POST", "/tasks/batch", `{"tasks":[`+strings.Repeat(task+",", 99)+task+`]}`)
			for _, task := range made["tasks"].([]any) {
				want = append(want, task.(map[string]any)["id"].(string))
			}
		}
		phone.do(t, "start", want[0], "s", nil)
		phone.do(t, "complete", want[0], "c", map[string]any{"success": true})
		phone.do(t, "start", want[1], "s2", nil)
		path := fmt.Sprintf("/workers/%s/stops?to=%d&lastId=", worker, p.Now().Add(time.Hour).UnixMilli())
		var got []string
		pages := 0
		for last := any(""); last != nil; pages++ {
			page := c.Must(t, "GET", path+fmt.Sprint(last), nil)
			for _, stop := range page["stops"].([]any) {
				got = append(got, stop.(map[string]any)["task"].(string))
			}
			var more bool
			if last, more = page["lastId"]; page["next"] != nil || more && last == nil {
				t.Errorf("next is %v, and lastId %v", page["next"], last)
			}
		}
		if pages != 2 || !slices.Equal(got, want) {
			t.Errorf("%d pages have %d stops, want %d", pages, len(got), len(want))
		}
		open := c.Must(t, "GET", "/workers/"+worker+"/stops?lastId="+want[1], nil) // without the end of the period
		if n := len(open["stops"].([]any)); n != report.MaxStops {
			t.Errorf("without a period, a page has %d stops, want %d", n, report.MaxStops)
		}
		notFound.check(t, c.Call(t, "GET", path+want[0], nil)) // the worker no longer has it
		notFound.check(t, c.Call(t, "GET", path+unknownID, nil))
	})
}
