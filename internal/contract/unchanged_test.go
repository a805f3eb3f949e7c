package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// TestUnchangedContract writes back what was read: nothing may change, and nothing
// may be reported, or an integration that writes on every event would never stop.
func TestUnchangedContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		r := newRoads(t, p, "Acme")
		t.Run("tasks", func(t *testing.T) { testUnchangedTasks(t, p, r) })
		t.Run("records", func(t *testing.T) { testUnchangedRecords(t, p, r) })
		t.Run("lists", func(t *testing.T) { testUnchangedLists(t, p, r) })
		t.Run("duty", func(t *testing.T) { testUnchangedDuty(t, p, r) })
		t.Run("references", func(t *testing.T) { testUnchangedReferences(t, p, r) })
	})
}

// untouched fails the test if do changes what is read at a path, or causes an event.
func untouched(t *testing.T, c *apptest.Client, path string, do func(read []byte)) {
	t.Helper()
	p := c.Platform
	before, reported := c.Call(t, http.MethodGet, path, nil).OK(t).Body, len(p.Events(t, c.Organization.ID))
	p.Advance(time.Minute)
	do(before)
	if after := c.Call(t, http.MethodGet, path, nil).OK(t).Body; !bytes.Equal(after, before) {
		t.Errorf("%s was\n%s\nand is\n%s", path, before, after)
	}
	for _, event := range p.Events(t, c.Organization.ID)[reported:] {
		t.Errorf("%s: the event log has %s", path, event)
	}
}

func testUnchangedTasks(t *testing.T, p *apptest.Platform, r roads) {
	defineFields(t, r.Client, `{"key":"floor","name":"Floor","type":"integer"}`)
	parent := r.task(t)
	full := func(t *testing.T, number, more string) string {
		t.Helper()
		return id(t, r.Client, "/tasks", `{"destination":{"address":{"name":"N","number":"1","street":"Main St","apartment":"2","city":"X","state":"S","postalCode":"12345","country":"Y"},
				"location":[-73.98,40.75],"notes":"d","metadata":[{"name":"m","type":"object","value":{"a":[1,null]}}]},
			"recipients":[{"name":"Eve","phone":"`+number+`","notes":"n","skipSMSNotifications":true,"metadata":[{"name":"m","type":"string","value":"x"}],"skipPhoneNumberValidation":true}],
			"completeAfter":1894021200000,"completeBefore":1894021300000,"notes":"n","dependencies":["`+parent+`"],"pickupTask":true,
			"barcodes":[{"data":"QQ==","blockCompletion":true},{},{}],"requirements":{"photo":true,"minimumAge":18},"quantity":2.5,"serviceTime":3,
			"recipientName":"E","recipientNotes":"o","recipientSkipSMSNotifications":true,"useMerchantForProxy":true,"scanOnlyRequiredBarcodes":true,
			"appearance":{"triangleColor":1},"additionalQuantities":{"quantityA":1},"metadata":[{"name":"a","type":"array","subtype":"number","value":[1]}],
			"customFields":[{"key":"floor","value":3}],"priority":4,"group":"g"`+more+`}`)
	}
	worker, mobile := driver(t, r.Client, r.north, "+12125550601")
	mobile.at(t, 40.7)
	first := taskOf(t, r.Client, worker, 40.71, nil)
	p.RefreshDue(t)
	mobile.do(t, "start", first, "s1", nil)
	done := taskOf(t, r.Client, r.ada, 40.71, nil)
	r.complete(t, done, true)
	p.RefreshDue(t)
	for name, task := range map[string]string{
		"in the organization's container": full(t, "+12125550602", ""),
		"of a team":                       full(t, "+12125550603", `,"container":{"type":"TEAM","team":"`+r.north+`"}`),
		"of a worker":                     full(t, "+12125550604", workers(r.bob)),
		"of a person with an odd number":  full(t, "+12345", ""),
		"with only the required fields":   r.task(t),
		"active":                          first,
		"completed":                       done,
	} {
		t.Run(name, func(t *testing.T) {
			path := "/tasks/" + task
			untouched(t, r.Client, path, func(read []byte) { send(t, r.Client, "PUT", path, string(read)).OK(t) })
			untouched(t, r.Client, path, func([]byte) { send(t, r.Client, "PUT", path, `{}`).OK(t) })
			untouched(t, r.Client, path, func([]byte) { r.Call(t, "PUT", path, `{"metadata":{"$pop":["unknown"]}}`).OK(t) })
			untouched(t, r.Client, path, func(read []byte) {
				var was struct{ Metadata []any }
				if err := json.Unmarshal(read, &was); err != nil {
					t.Fatal(err)
				}
				r.Call(t, "PUT", path, map[string]any{"metadata": map[string]any{"$set": was.Metadata}}).OK(t)
			})
		})
	}
	t.Run("what differs is a change", func(t *testing.T) {
		task := full(t, "+12125550605", "")
		before, reported := readTask(t, r.Client, task), len(p.Events(t, r.Organization.ID))
		p.Advance(time.Minute)
		sent := readTask(t, r.Client, task)
		sent["destination"].(map[string]any)["notes"] = "other"
		codes := func(task map[string]any) []map[string]any {
			return apptest.Response{Body: encode(t, task["barcodes"].(map[string]any)["required"])}.List(t)
		}
		sent["barcodes"] = []any{map[string]any{"data": "Qg=="}, codes(sent)[0]}
		after := send(t, r.Client, "PUT", "/tasks/"+task, string(encode(t, sent))).OK(t).Object(t)
		if was, is := ids(codes(before)), ids(codes(after)); len(is) != 2 || slices.Contains(was, is[0]) || is[1] != was[0] {
			t.Errorf("the ids of barcodes were %v and are %v", was, is)
		}
		if after["destination"].(map[string]any)["id"] == before["destination"].(map[string]any)["id"] || after["timeLastModified"] == before["timeLastModified"] {
			t.Errorf("the task is %v", after)
		}
		if events := p.Events(t, r.Organization.ID)[reported:]; len(events) != 1 || !bytes.Contains(events[0], []byte(`"taskUpdated"`)) {
			t.Errorf("the event log has %s", events)
		}
	})
}

func testUnchangedRecords(t *testing.T, p *apptest.Platform, r roads) {
	metadata := `"metadata":[{"name":"m","type":"object","value":{"a":1}}]`
	worker := id(t, r.Client, "/workers", `{"name":"Ada","phone":"+12125550611","teams":["`+r.south+`","`+r.north+`"],"displayName":"A","capacity":2.5,
		"additionalCapacities":{"capacityB":1},"vehicle":{"type":"TRUCK","color":"red"},"timezone":"America/New_York",`+metadata+`,
		"addresses":{"routing":{"address":{"number":"1","street":"Main St","city":"X","country":"Y"},"location":[1,2],"notes":"n",`+metadata+`}}}`)
	admin := id(t, r.Client, "/admins", `{"name":"Ann","email":"ann@example.com","phone":"+12125550612","type":"standard","isReadOnly":true,`+metadata+`}`)
	team := id(t, r.Client, "/teams", `{"name":"East","workers":["`+r.bob+`","`+r.ada+`"],"managers":["`+admin+`"],"hub":"`+r.hub+`","enableSelfAssignment":true,`+metadata+`}`)
	recipient := id(t, r.Client, "/recipients", `{"name":"Eve","phone":"+12125550613","notes":"n","useLongCodeForText":true,`+metadata+`}`)
	hub := id(t, r.Client, "/hubs", `{"name":"Yard","phone":"+12125550614","address":{"number":"1","street":"Main St","city":"X","country":"Y"},"location":[1,2],"teams":["`+r.south+`","`+r.north+`"]}`)
	hook := string(r.Listen(t, lastmile.TriggerTaskEta, 300))
	plan := fmt.Sprint(r.plan(t, `,"color":"#AABBCC","endTime":1894035600000,"worker":"`+r.ada+`","tasks":`+idList(r.task(t), r.task(t))+`,"startAt":"HUB","startingHubId":"`+r.hub+`","timezone":"America/New_York"`)["id"])
	template := id(t, r.Client, "/cfGroups/task", `{"name":"T","contextSaveConditions":[],"fields":["floor"]}`)

	// Records that are only listed are found in the list.
	written := func(path, list, id string) func([]byte) {
		return func(read []byte) {
			t.Helper()
			if list != "" {
				var all []map[string]any
				if err := json.Unmarshal(read, &all); err != nil {
					t.Fatal(err)
				}
				read = encode(t, record(t, all, id))
			}
			send(t, r.Client, "PUT", path+"/"+id, string(read)).OK(t)
		}
	}
	p.RefreshDue(t) // route plans and workers show estimates
	for path, do := range map[string]func([]byte){
		"/workers/" + worker:         written("/workers", "", worker),
		"/teams/" + team:             written("/teams", "", team),
		"/recipients/" + recipient:   written("/recipients", "", recipient),
		"/admins":                    written("/admins", "/admins", admin),
		"/hubs":                      written("/hubs", "/hubs", hub),
		"/webhooks":                  written("/webhooks", "/webhooks", hook),
		"/routePlans/" + plan:        written("/routePlans", "", plan),
		"/cfGroups/task/" + template: written("/cfGroups/task", "", template),
		"/customFields/Task": func(read []byte) {
			var was struct{ Fields []any }
			if err := json.Unmarshal(read, &was); err != nil {
				t.Fatal(err)
			}
			send(t, r.Client, "PUT", "/customFields", string(encode(t, map[string]any{"model": "Task", "field": was.Fields}))).OK(t)
		},
	} {
		t.Run("PUT "+path, func(t *testing.T) { untouched(t, r.Client, path, do) })
	}
	t.Run("PUT with another order of teams", func(t *testing.T) {
		untouched(t, r.Client, "/hubs", func([]byte) { r.Call(t, "PUT", "/hubs/"+hub, `{"teams":["`+r.north+`","`+r.south+`"]}`).OK(t) })
	})
	t.Run("POST of a known recipient", func(t *testing.T) {
		untouched(t, r.Client, "/recipients/"+recipient, func(read []byte) { send(t, r.Client, "POST", "/recipients", string(read)).OK(t) })
	})
	t.Run("a schedule", func(t *testing.T) {
		path := "/workers/" + worker + "/schedule"
		r.Must(t, "POST", path, `{"entries":[{"date":"2030-01-07","timezone":"America/New_York","shifts":[[1894021200000,1894050000000]]}]}`)
		untouched(t, r.Client, path, func(read []byte) { send(t, r.Client, "POST", path, string(read)).OK(t) })
		untouched(t, r.Client, "/workers/"+worker, func([]byte) { r.Call(t, "POST", path, r.Must(t, "GET", path, nil)).OK(t) })
	})
	t.Run("tasks that a route plan has", func(t *testing.T) {
		tasks := r.read(t, "/routePlans", plan)["tasks"]
		untouched(t, r.Client, "/routePlans/"+plan, func([]byte) { r.Call(t, "PUT", "/routePlans/"+plan+"/tasks", map[string]any{"tasks": tasks}).OK(t) })
		untouched(t, r.Client, "/routePlans/"+plan, func([]byte) { r.Call(t, "PUT", "/routePlans/"+plan, map[string]any{"tasks": tasks}).OK(t) })
	})
}

func testUnchangedLists(t *testing.T, p *apptest.Platform, r roads) {
	worker := r.driver(t, "+12125550621")
	a, b, c := r.task(t, workers(worker)), r.task(t, workers(worker)), r.task(t, workers(worker))
	x := r.task(t, `,"container":{"type":"TEAM","team":"`+r.south+`"}`)
	p.RefreshDue(t)
	for body, path := range map[string]string{
		`{"tasks":` + idList(a, b, c) + `}`:                               "workers/" + worker,
		`{"tasks":[-1,"` + b + `","` + c + `"]}`:                          "workers/" + worker,
		`{"tasks":[0,"` + a + `"]}`:                                       "workers/" + worker,
		`{"tasks":[1.0,"` + b + `","` + c + `"]}`:                         "workers/" + worker,
		`{"tasks":[9,"` + c + `"]}`:                                       "workers/" + worker,
		`{"tasks":[-1]}`:                                                  "workers/" + worker,
		`{"tasks":[0,"` + a + `"],"considerDependencies":true}`:           "workers/" + worker,
		`{"tasks":[-1,"` + x + `"]}`:                                      "teams/" + r.south,
		`{"tasks":[-1,"` + r.task(t) + `"],"considerDependencies":false}`: "organizations/" + string(r.Organization.ID),
	} {
		t.Run(path+" "+body, func(t *testing.T) {
			untouched(t, r.Client, "/containers/"+path, func(read []byte) {
				if got := send(t, r.Client, "PUT", "/containers/"+path, body).OK(t).Body; !bytes.Equal(got, read) {
					t.Errorf("the response is %s, want %s", got, read)
				}
			})
		})
	}
	before := r.Must(t, "GET", "/containers/workers/"+worker, nil)
	p.Advance(time.Minute)
	after := r.Must(t, "PUT", "/containers/workers/"+worker, `{"tasks":`+idList(c, b, a)+`}`)
	if matches(t, after["tasks"], idList(c, b, a)); after["timeLastModified"] == before["timeLastModified"] {
		t.Error("another order is no change")
	}
}

func testUnchangedDuty(t *testing.T, p *apptest.Platform, r roads) {
	worker, mobile := driver(t, r.Client, r.north, "+12125550631")
	report := map[string]any{"onDuty": true, "userData": map[string]any{"appVersion": "1", "platform": "WEB", "batteryLevel": 0.5}}
	mobile.call(t, http.MethodPut, "/duty", report).OK(t)
	p.RefreshDue(t)
	untouched(t, r.Client, "/workers/"+worker, func([]byte) { mobile.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t) })
	before := r.Must(t, http.MethodGet, "/workers/"+worker, nil)["timeLastModified"]
	mobile.call(t, http.MethodPut, "/duty", report).OK(t)
	if after := r.Must(t, http.MethodGet, "/workers/"+worker, nil)["timeLastModified"]; after != before {
		t.Errorf("the same phone changed the worker from %v to %v", before, after)
	}
}

// testUnchangedReferences sends the ids of the destination and recipient that a record has.
func testUnchangedReferences(t *testing.T, p *apptest.Platform, r roads) {
	p.Book.Geocoder = &geocoder{found: foundHouse}
	const geocoded = `"destination":{"address":{"number":"12","street":"Elm Street","city":"Alderbrook","country":"US"}},"recipients":[{"name":"Eve","phone":"+12125550641"}]`
	m := newTrade(t, p, "Same")
	for name, tt := range map[string]struct {
		origin, executor *apptest.Client
	}{
		"of a task":        {r.Client, r.Client},
		"of a placed task": {m.shop, m.courier},
	} {
		t.Run(name, func(t *testing.T) {
			made := tt.origin.Must(t, "POST", "/tasks", `{`+geocoded+`,"executor":"`+of(tt.executor)+`"}`)
			path := "/tasks/" + fmt.Sprint(made["id"])
			sent := map[string]any{"destination": part(made, "destination", "id"), "recipients": []any{made["recipients"].([]any)[0].(map[string]any)["id"]}}
			for _, by := range []*apptest.Client{tt.origin, tt.executor} {
				for _, seenBy := range []*apptest.Client{tt.origin, tt.executor} {
					untouched(t, seenBy, path, func([]byte) { by.Call(t, "PUT", path, sent).OK(t) })
				}
			}
		})
	}
	t.Run("of an order", func(t *testing.T) {
		made := m.shop.Must(t, "POST", "/taskOrders", `{"pickupTask":{`+geocoded+`},"dropoffTask":{`+dropoffPlace+`}}`)
		path := "/taskOrders/" + fmt.Sprint(made["shortId"])
		ids := map[string]any{"dropoffTask": map[string]any{}, "pickupTask": map[string]any{
			"destination": part(made, "pickupTask", "destination", "id"), "recipients": []any{part(made, "pickupTask", "recipients").([]any)[0].(map[string]any)["id"]},
		}}
		for _, by := range []*apptest.Client{m.shop, m.courier} {
			for _, seenBy := range []*apptest.Client{m.shop, m.courier} {
				untouched(t, seenBy, path, func([]byte) { by.Call(t, "PUT", path, ids).OK(t) })
				untouched(t, seenBy, path, func([]byte) { by.Call(t, "PUT", path, made).OK(t) })
				untouched(t, seenBy, path, func([]byte) { by.Call(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{}}`).OK(t) })
			}
		}
	})
	t.Run("of a worker", func(t *testing.T) {
		where := id(t, r.Client, "/destinations", `{"address":{"number":"12","street":"Elm Street","city":"Alderbrook","country":"US"}}`)
		routing := map[string]any{"addresses": map[string]any{"routing": where}}
		r.Must(t, "PUT", "/workers/"+r.ada, routing)
		untouched(t, r.Client, "/workers/"+r.ada, func([]byte) { r.Call(t, "PUT", "/workers/"+r.ada, routing).OK(t) })
	})
}
