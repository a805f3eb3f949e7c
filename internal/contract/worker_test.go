package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dray/internal/cli"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// fleet is an organization with teams, for the tests of workers.
type fleet struct {
	*apptest.Client
	north, south string // ids of teams
}

func newFleet(t testing.TB, p *apptest.Platform, name string) fleet {
	t.Helper()
	f := fleet{Client: p.Organization(t, name)}
	f.north = id(t, f.Client, "/teams", `{"name":"North","workers":[],"managers":[]}`)
	f.south = id(t, f.Client, "/teams", `{"name":"South","workers":[],"managers":[]}`)
	return f
}

// worker creates a worker of the northern team and returns its id.
func (f fleet) worker(t testing.TB, phone string) string {
	t.Helper()
	return id(t, f.Client, "/workers", `{"name":"W","phone":"`+phone+`","teams":["`+f.north+`"]}`)
}

// read returns a worker without its eta, which lists do not have. It must be null, because
// there is no active task.
func (f fleet) read(t testing.TB, worker any) map[string]any {
	t.Helper()
	shown := f.Must(t, "GET", "/workers/"+fmt.Sprint(worker), nil)
	matches(t, shown["eta"], `null`)
	delete(shown, "eta")
	return shown
}

// place saves whether a worker is on duty, and where, as requests of the worker's app do.
func place[W interface {
	SaveWhereabouts(context.Context, lastmile.OrganizationID, lastmile.WorkerID, lastmile.Whereabouts) error
}](t testing.TB, write func(context.Context, func(W) error) error, c *apptest.Client, worker string, at lastmile.Whereabouts) {
	t.Helper()
	err := write(t.Context(), func(w W) error {
		return w.SaveWhereabouts(t.Context(), c.Organization.ID, lastmile.WorkerID(worker), at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// outbox returns the text messages to a number, as `dray outbox` prints them.
func outbox(t testing.TB, p *apptest.Platform, to string) []map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), []string{"outbox", "--json", "--to", to, "--data", p.Config.Data, "--database", p.Config.Database}, &out, &errs)
	var messages []map[string]any
	if err := json.Unmarshal(out.Bytes(), &messages); code != 0 || err != nil {
		t.Fatalf("dray outbox ended with %d: %v: %s%s", code, err, out.Bytes(), errs.Bytes())
	}
	return messages
}

// newWorker returns the response with a new worker that has only the required fields.
func newWorker(org, phone, teams string) string {
	return `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","organization":"` + org + `","name":"W","displayName":null,
		"phone":"` + phone + `","activeTask":null,"tasks":[],"onDuty":false,"timeLastSeen":null,"capacity":0,
		"additionalCapacities":{"capacityA":0,"capacityB":0,"capacityC":0},"userData":{},"accountStatus":"INVITED","metadata":[],
		"timezone":null,"teams":` + teams + `,"imageUrl":null,"delayTime":null,"location":null,"hasRecentlyUsedSpoofedLocations":false,
		"addresses":{"routing":null},"vehicle":null}`
}

func TestWorkerContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := newFleet(t, p, "Acme")
		org := string(c.Organization.ID)

		t.Run("a worker with only name, phone and teams is invited, off duty and on foot", func(t *testing.T) {
			made := c.Call(t, "POST", "/workers", `{"name":"W","phone":"(212) 555-0101","teams":["`+c.north+`"]}`).OK(t)
			matches(t, made.Object(t), newWorker(org, "+12125550101", `["`+c.north+`"]`))
			matches(t, c.read(t, made.Object(t)["id"]), string(made.Body))
			matches(t, send(t, c.Client, "POST", "/workers", `{"name":"W","phone":"2125550102","teams":["`+c.north+`","`+c.south+`","`+c.north+`"],"vehicle":null,
				"capacity":null,"displayName":null,"addresses":null,"address":null,"additionalCapacities":null,"timezone":null,"metadata":null,
				"onDuty":true,"accountStatus":"ACCEPTED","id":"x","tasks":["x"]}`).OK(t).Object(t),
				newWorker(org, "+12125550102", `["`+c.north+`","`+c.south+`"]`))
		})
		t.Run("the temporary password goes to the worker's phone and nowhere else", func(t *testing.T) {
			made := c.Call(t, "POST", "/workers", `{"name":"W","phone":"+12125550103","teams":["`+c.north+`"]}`).OK(t)
			sent := outbox(t, p, "+12125550103")
			if len(sent) != 1 {
				t.Fatalf("%d text messages: %v", len(sent), sent)
			}
			message := fmt.Sprint(sent[0]["body"])
			password := regexp.MustCompile(`password (\w{8,})`).FindStringSubmatch(message)
			if password == nil || !strings.Contains(message, "Acme") || !strings.Contains(message, "http") {
				t.Fatalf("the message lacks the organization, the address of the app or the password: %q", message)
			}
			if strings.Contains(string(made.Body), password[1]) {
				t.Error("the response holds the password")
			}
		})
		t.Run("every field is accepted", func(t *testing.T) { testWorkerFields(t, c) })
		t.Run("a routing address is an id, an object, or none", func(t *testing.T) { testWorkerRouting(t, c) })
		t.Run("an invalid worker is rejected, and no message is sent", func(t *testing.T) { testWorkerFaults(t, p, c) })
		t.Run("a phone belongs to one worker of the organization", func(t *testing.T) {
			c.worker(t, "+12125550110")
			cause := duplicate.check(t, c.Call(t, "POST", "/workers", `{"name":"Other","phone":"212-555-0110","teams":["`+c.south+`"]}`), "phone")
			matches(t, cause, `{"type":"duplicateKey","key":"phone","value":"+12125550110"}`)
			if sent := outbox(t, p, "+12125550110"); len(sent) != 1 {
				t.Errorf("%d messages were sent", len(sent))
			}
			newFleet(t, p, "Other").worker(t, "+12125550110")
		})
		t.Run("concurrent requests with one phone create one worker", func(t *testing.T) {
			var group sync.WaitGroup
			replies := make([]apptest.Response, 6)
			for i := range replies {
				group.Go(func() {
					replies[i] = send(t, c.Client, "POST", "/workers", `{"name":"W","phone":"+12125550111","teams":["`+c.north+`"]}`)
				})
			}
			group.Wait()
			done := 0
			for _, a := range replies {
				if a.Status == 200 {
					done++
				} else {
					duplicate.check(t, a)
				}
			}
			if done != 1 || len(outbox(t, p, "+12125550111")) != 1 {
				t.Errorf("%d workers, %d messages", done, len(outbox(t, p, "+12125550111")))
			}
		})
		t.Run("an update changes only what was sent, and never the phone", func(t *testing.T) { testWorkerUpdate(t, c) })
		t.Run("a deleted worker is gone, also from the teams", func(t *testing.T) {
			made := c.worker(t, "+12125550120")
			c.Must(t, "POST", "/workers/"+made+"/schedule", `{"entries":[]}`)
			if a := c.Call(t, "DELETE", "/workers/"+made, nil).OK(t); len(a.Body) > 0 {
				t.Errorf("responded with %q", a.Body)
			}
			notFound.check(t, c.Call(t, "GET", "/workers/"+made, nil), made)
			notFound.check(t, c.Call(t, "DELETE", "/workers/"+made, nil), made)
			notFound.check(t, c.Call(t, "PUT", "/workers/"+made, `{}`), made)
			notFound.check(t, c.Call(t, "GET", "/workers/"+made+"/schedule", nil), made)
			notFound.check(t, c.Call(t, "POST", "/workers/"+made+"/schedule", `{"entries":[]}`), made)
			if slices.Contains(ids(list(t, c.Client, "/workers")), made) || strings.Contains(string(c.Call(t, "GET", "/teams", nil).Body), made) {
				t.Error("it is still listed")
			}
			if again := c.worker(t, "+12125550120"); again == made {
				t.Error("the id is used again")
			}
		})
		t.Run("metadata", func(t *testing.T) {
			teams := map[string]string{}
			testMetadata(t, p, metadataOwner{"/workers", func(c *apptest.Client, n int, metadata string) string {
				if teams[c.Key] == "" {
					teams[c.Key] = id(t, c, "/teams", `{"name":"T","workers":[],"managers":[]}`)
				}
				return fmt.Sprintf(`{"name":"W","phone":"+1212555%04d","teams":["%s"],"metadata":%s}`, 1000+n, teams[c.Key], metadata)
			}, true})
		})
	})
}

func testWorkerFields(t *testing.T, c fleet) {
	made := c.Must(t, "POST", "/workers", `{"name":"Walt Whitman","displayName":"Walt","phone":"+442071838750","teams":["`+c.south+`","`+c.north+`"],
		"vehicle":{"type":"CAR","description":"Tesla Model S","licensePlate":"FKNS9A","color":"purple"},"capacity":12.5,
		"additionalCapacities":{"capacityA":10,"capacityC":0.5},"timezone":"Europe/London",
		"addresses":{"routing":{"address":{"city":"London","country":"United Kingdom"},"location":[-0.12,51.5],"notes":"home"}},
		"metadata":[{"name":"n","type":"number","value":1}]}`)
	want := map[string]string{
		"name": `"Walt Whitman"`, "displayName": `"Walt"`, "phone": `"+442071838750"`, "teams": `["` + c.south + `","` + c.north + `"]`,
		"vehicle":              `{"id":"<id>","type":"CAR","description":"Tesla Model S","licensePlate":"FKNS9A","color":"purple","timeLastModified":"<now>"}`,
		"capacity":             `12.5`,
		"additionalCapacities": `{"capacityA":10,"capacityB":0,"capacityC":0.5}`,
		"timezone":             `"Europe/London"`,
		"addresses": `{"routing":{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[-0.12,51.5],
			"address":{"number":"","street":"","apartment":"","city":"London","state":"","postalCode":"","country":"United Kingdom"},
			"notes":"home","metadata":[],"googlePlaceId":null,"warnings":[],"useGPS":true}}`,
		"metadata": `[{"name":"n","type":"number","value":1,"visibility":["api"]}]`,
	}
	for field, value := range want {
		matches(t, made[field], value)
	}
	matches(t, c.read(t, made["id"]), string(encode(t, made)))
	for _, kind := range []string{"CAR", "MOTORCYCLE", "BICYCLE", "TRUCK"} {
		updated := c.Must(t, "PUT", "/workers/"+fmt.Sprint(made["id"]), `{"vehicle":{"type":"`+kind+`"}}`)
		matches(t, updated["vehicle"].(map[string]any)["type"], text(kind))
	}
	bare := c.Must(t, "POST", "/workers", `{"name":"W","phone":"+12125550130","teams":["`+c.north+`"],"vehicle":{"type":"BICYCLE","color":null}}`)
	matches(t, bare["vehicle"], `{"id":"<id>","type":"BICYCLE","description":null,"licensePlate":null,"color":null,"timeLastModified":"<now>"}`)
}

func testWorkerRouting(t *testing.T, c fleet) {
	home := c.Call(t, "POST", "/destinations", `{"address":{"city":"X","country":"Y"},"location":[1,2]}`).OK(t)
	homeID := fmt.Sprint(home.Object(t)["id"])
	const object = `{"address":{"city":"Z","country":"Y"},"location":[3,4]}`
	routing := func(worker map[string]any) any { return worker["addresses"].(map[string]any)["routing"] }

	made := c.Must(t, "POST", "/workers", `{"name":"W","phone":"+12125550131","teams":["`+c.north+`"],"addresses":{"routing":"`+homeID+`"}}`)
	matches(t, routing(made), string(home.Body))
	path := "/workers/" + fmt.Sprint(made["id"])
	for _, step := range []struct{ name, body, want string }{
		{"absent leaves it", `{"addresses":{}}`, string(home.Body)},
		{"null addresses leave it", `{"addresses":null,"address":null}`, string(home.Body)},
		{"null removes it", `{"addresses":{"routing":null}}`, `null`},
		{"the other spelling sets it", `{"address":{"routing":"` + homeID + `"}}`, string(home.Body)},
		{"the other spelling removes it", `{"address":{"routing":null}}`, `null`},
	} {
		updated := send(t, c.Client, "PUT", path, step.body).OK(t).Object(t)
		for _, fault := range faults(t, routing(updated), step.want) {
			t.Errorf("%s: %s", step.name, fault)
		}
		matches(t, c.read(t, made["id"]), string(encode(t, updated)))
	}
	updated := c.Must(t, "PUT", path, `{"addresses":{"routing":`+object+`}}`)
	destination, _ := routing(updated).(map[string]any)
	matches(t, destination["location"], `[3,4]`)
	matches(t, c.Must(t, "GET", "/destinations/"+fmt.Sprint(destination["id"]), nil), string(encode(t, destination)))

	before := string(encode(t, c.read(t, made["id"])))
	for body, want := range map[string]struct {
		rejection
		word string
	}{
		`{"addresses":{"routing":7}}`:                                               {malformed, "addresses.routing"},
		`{"addresses":{"routing":["x"]}}`:                                           {malformed, "addresses.routing"},
		`{"addresses":"x"}`:                                                         {malformed, "addresses"},
		`{"addresses":{"routing":{"location":[1,2]}}}`:                              {malformed, "addresses.routing.address"},
		`{"addresses":{"routing":{"address":{"city":"X"},"location":[1,2]}}}`:       {malformed, "addresses.routing.address.country"},
		`{"addresses":{"routing":{"address":{"city":"X","country":"Y"}}}}`:          {malformed, "addresses.routing.address.number"},
		`{"addresses":{"routing":{"address":{"unparsed":"X"},"location":[1,2]}}}`:   {invalid, "addresses.routing.address.unparsed"},
		`{"addresses":{"routing":{"address":{"city":"X"},"location":[1,"west"]}}}`:  {malformed, "addresses.routing.location"},
		`{"address":{"routing":{"address":{"city":5,"country":"Y"}}}}`:              {malformed, "address.routing.address.city"},
		`{"addresses":{"routing":{"address":{"unparsed":"1 S, X, Y"}}}}`:            {invalid, "geocode"},
		`{"addresses":{"routing":{"address":{"city":"X"},"metadata":[{"a":"b"}]}}}`: {malformed, "addresses.routing.metadata[0].name"},
	} {
		want.check(t, c.Call(t, "PUT", path, body), want.word)
	}
	matches(t, c.read(t, made["id"]), before)
}

func testWorkerFaults(t *testing.T, p *apptest.Platform, c fleet) {
	before := len(list(t, c.Client, "/workers"))
	for name, tt := range map[string]struct {
		fields string // besides name, phone and teams, which come first
		want   rejection
		words  []string
	}{
		"a vehicle without a type":      {`"vehicle":{"color":"red"}`, malformed, []string{"vehicle.type"}},
		"an unknown vehicle":            {`"vehicle":{"type":"PLANE"}`, invalid, []string{"vehicle.type", "PLANE", "BICYCLE"}},
		"a vehicle in small letters":    {`"vehicle":{"type":"car"}`, invalid, []string{"vehicle.type"}},
		"a vehicle as a text":           {`"vehicle":"CAR"`, malformed, []string{"vehicle", "object"}},
		"a number for a plate":          {`"vehicle":{"type":"CAR","licensePlate":7}`, malformed, []string{"vehicle.licensePlate", "string"}},
		"a long color":                  {`"vehicle":{"type":"CAR","color":"` + strings.Repeat("x", 1001) + `"}`, invalid, []string{"vehicle.color", "1000"}},
		"a capacity below zero":         {`"capacity":-1`, invalid, []string{"capacity"}},
		"a capacity as a text":          {`"capacity":"seven"`, malformed, []string{"capacity", "number"}},
		"an additional one below zero":  {`"additionalCapacities":{"capacityB":-0.5}`, invalid, []string{"additionalCapacities.capacityB"}},
		"an additional one as a text":   {`"additionalCapacities":{"capacityC":"one"}`, malformed, []string{"additionalCapacities.capacityC"}},
		"additional ones as a list":     {`"additionalCapacities":[1,2,3]`, malformed, []string{"additionalCapacities", "object"}},
		"a long display name":           {`"displayName":"` + strings.Repeat("x", 1001) + `"`, invalid, []string{"displayName", "1000"}},
		"a number for a display name":   {`"displayName":1`, malformed, []string{"displayName", "string"}},
		"an unknown time zone":          {`"timezone":"Mars/Olympus"`, invalid, []string{"timezone", "Mars/Olympus"}},
		"a time zone outside the table": {`"timezone":"../../etc/passwd"`, invalid, []string{"timezone"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.Call(t, "POST", "/workers", `{"name":"W","phone":"+12125550140","teams":["`+c.north+`"],`+tt.fields+`}`)
			tt.want.check(t, a, tt.words...)
		})
	}
	for name, tt := range map[string]struct {
		body  string
		want  rejection
		words []string
	}{
		"no body":               {``, malformed, []string{"name"}},
		"no name":               {`{"phone":"+12125550140","teams":["` + c.north + `"]}`, malformed, []string{"name"}},
		"a blank name":          {`{"name":"  ","phone":"+12125550140","teams":["` + c.north + `"]}`, malformed, []string{"name"}},
		"no phone":              {`{"name":"W","teams":["` + c.north + `"]}`, malformed, []string{"phone"}},
		"not a phone number":    {`{"name":"W","phone":"617-34-2958","teams":["` + c.north + `"]}`, invalid, []string{"phone", "617-34-2958"}},
		"no teams":              {`{"name":"W","phone":"+12125550140"}`, malformed, []string{"teams"}},
		"null teams":            {`{"name":"W","phone":"+12125550140","teams":null}`, malformed, []string{"teams"}},
		"an empty list":         {`{"name":"W","phone":"+12125550140","teams":[]}`, malformed, []string{"teams"}},
		"one team as a text":    {`{"name":"W","phone":"+12125550140","teams":"` + c.north + `"}`, malformed, []string{"teams", "array"}},
		"an empty team":         {`{"name":"W","phone":"+12125550140","teams":[""]}`, malformed, []string{"teams[0]", "empty"}},
		"a number for a team":   {`{"name":"W","phone":"+12125550140","teams":[7]}`, malformed, []string{"teams[0]", "string"}},
		"a long name":           {`{"name":"` + strings.Repeat("x", 1001) + `","phone":"+12125550140","teams":["` + c.north + `"]}`, invalid, []string{"name", "1000"}},
		"a boolean for a phone": {`{"name":"W","phone":true,"teams":["` + c.north + `"]}`, malformed, []string{"phone", "string"}},
	} {
		t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/workers", tt.body), tt.words...) })
	}
	if after := len(list(t, c.Client, "/workers")); after != before {
		t.Errorf("there were %d workers and are %d", before, after)
	}
	if sent := outbox(t, p, "+12125550140"); len(sent) != 0 {
		t.Errorf("messages were sent: %v", sent)
	}
}

func testWorkerUpdate(t *testing.T, c fleet) {
	made := c.Must(t, "POST", "/workers", `{"name":"W","displayName":"D","phone":"+12125550150","teams":["`+c.north+`"],"capacity":5,"timezone":"Europe/London",
		"vehicle":{"type":"CAR","description":"d","licensePlate":"p","color":"c"},"additionalCapacities":{"capacityA":1,"capacityB":2,"capacityC":3},
		"metadata":[{"name":"n","type":"number","value":1}]}`)
	path := "/workers/" + fmt.Sprint(made["id"])
	vehicle := func(fields string) string {
		return `{"id":"` + fmt.Sprint(made["vehicle"].(map[string]any)["id"]) + `",` + fields + `,"timeLastModified":"<now>"}`
	}
	for _, step := range []struct{ name, body, field, want string }{
		{"nothing", ``, "name", `"W"`},
		{"null", `null`, "name", `"W"`},
		{"nulls that leave as it is", `{"name":null,"teams":null,"capacity":null,"additionalCapacities":null,"metadata":null}`, "capacity", `5`},
		{"the phone", `{"phone":"+12125550151"}`, "phone", `"+12125550150"`},
		{"what only the platform changes", `{"onDuty":true,"accountStatus":"ACCEPTED","organization":"x","tasks":["x"]}`, "onDuty", `false`},
		{"the name", `{"name":"New"}`, "name", `"New"`},
		{"the display name", `{"displayName":"Shown"}`, "displayName", `"Shown"`},
		{"no display name", `{"displayName":null}`, "displayName", `null`},
		{"an empty display name", `{"displayName":""}`, "displayName", `null`},
		{"the capacity", `{"capacity":0}`, "capacity", `0`},
		{"the additional capacities", `{"additionalCapacities":{"capacityA":7,"capacityB":8,"capacityC":9}}`, "additionalCapacities", `{"capacityA":7,"capacityB":8,"capacityC":9}`},
		{"the time zone", `{"timezone":"America/Denver"}`, "timezone", `"America/Denver"`},
		{"no time zone", `{"timezone":null}`, "timezone", `null`},
		{"a part of the vehicle", `{"vehicle":{"color":"green"}}`, "vehicle", vehicle(`"type":"CAR","description":"d","licensePlate":"p","color":"green"`)},
		{"nulls in the vehicle", `{"vehicle":{"type":"TRUCK","description":null}}`, "vehicle", vehicle(`"type":"TRUCK","description":"d","licensePlate":"p","color":"green"`)},
		{"no vehicle", `{"vehicle":null}`, "vehicle", `null`},
		{"the teams", `{"teams":["` + c.south + `"]}`, "teams", `["` + c.south + `"]`},
		{"the metadata", `{"metadata":{"$pop":["n"]}}`, "metadata", `[]`},
	} {
		before := c.read(t, made["id"])
		updated := send(t, c.Client, "PUT", path, step.body).OK(t).Object(t)
		for _, fault := range faults(t, updated[step.field], step.want) {
			t.Errorf("%s: %s", step.name, fault)
		}
		changed(t, step.name, before, updated, step.field)
		matches(t, c.read(t, made["id"]), string(encode(t, updated)))
	}
	workerID := fmt.Sprint(made["id"])
	if strings.Contains(string(c.Call(t, "GET", "/teams/"+c.north, nil).OK(t).Body), workerID) {
		t.Error("the team that the worker left still lists the worker")
	}
	if !strings.Contains(string(c.Call(t, "GET", "/teams/"+c.south, nil).OK(t).Body), workerID) {
		t.Error("the team that the worker joined does not list the worker")
	}
	before := string(encode(t, c.read(t, made["id"])))
	for body, want := range map[string]struct {
		rejection
		word string
	}{
		`{"name":" "}`:                                  {malformed, "name"},
		`{"name":"X","teams":[]}`:                       {malformed, "teams"},
		`{"name":"X","teams":"` + c.north + `"}`:        {malformed, "teams"},
		`{"name":"X","vehicle":{"color":"red"}}`:        {malformed, "vehicle.type"},
		`{"name":"X","vehicle":{"type":"PLANE"}}`:       {invalid, "vehicle.type"},
		`{"name":"X","capacity":-1}`:                    {invalid, "capacity"},
		`{"name":"X","timezone":"nowhere"}`:             {invalid, "timezone"},
		`{"name":"X","metadata":{"$set":[{}]}}`:         {malformed, "metadata.$set[0].name"},
		`{"name":"X","teams":["` + c.north + `",null]}`: {malformed, "teams[1] must be a string"},
		`{"name":"X","teams":["` + c.north + `",""]}`:   {malformed, "teams[1] must be an id"},
		`{"name":"X","addresses":{"routing":""}}`:       {malformed, "addresses.routing must be the id"},
	} {
		want.check(t, c.Call(t, "PUT", path, body), want.word)
	}
	matches(t, c.read(t, made["id"]), before)
}
