package contract_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// workers returns the field of a new task that puts it into the container of a worker.
func workers(worker string) string {
	return `,"container":{"type":"WORKER","worker":"` + worker + `"}`
}

func TestTaskUpdateContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		t.Run("an update changes what is sent and nothing else", func(t *testing.T) { testTaskUpdates(t, r) })
		t.Run("an update with all that was read changes nothing", func(t *testing.T) { testTaskReadBack(t, r) })
		t.Run("null removes a value", func(t *testing.T) { testTaskNulls(t, r) })
		t.Run("an update moves a task to the end of a container", func(t *testing.T) { testTaskMoves(t, r) })
		t.Run("a started task changes its notes and metadata, a completed one its metadata", func(t *testing.T) { testTaskStates(t, r) })
		t.Run("a rejected update changes nothing", func(t *testing.T) { testRejectedUpdates(t, r) })
		t.Run("a task is deleted unless it is started", func(t *testing.T) { testTaskDeletion(t, r) })
		t.Run("an active task is completed, with success or without", func(t *testing.T) { testTaskCompletion(t, r) })
	})
}

func testTaskUpdates(t *testing.T, r roads) {
	tomorrow := time.Now().Add(24 * time.Hour).UnixMilli()
	parent := r.task(t)
	person := r.Must(t, "POST", "/recipients", `{"name":"Ann","phone":"+12125550171"}`)
	elsewhere := r.Must(t, "POST", "/destinations", `{"address":{"city":"Z","country":"Y"},"location":[3,4]}`)
	tests := map[string]struct {
		sent    string
		fields  []string // other fields that may differ
		field   string
		becomes string
	}{
		"notes":                         {`{"notes":"new"}`, nil, "notes", `"new"`},
		"empty notes":                   {`{"notes":""}`, nil, "notes", `""`},
		"completeAfter":                 {fmt.Sprintf(`{"completeAfter":%d}`, tomorrow), nil, "completeAfter", fmt.Sprint(tomorrow)},
		"completeBefore":                {fmt.Sprintf(`{"completeBefore":%d}`, tomorrow+1), nil, "completeBefore", fmt.Sprint(tomorrow + 1)},
		"pickupTask":                    {`{"pickupTask":true}`, []string{"type"}, "pickupTask", `true`},
		"dependencies":                  {`{"dependencies":["` + parent + `"]}`, nil, "dependencies", `["` + parent + `"]`},
		"quantity":                      {`{"quantity":3}`, nil, "quantity", `3`},
		"additionalQuantities":          {`{"additionalQuantities":{"quantityA":1,"quantityB":2,"quantityC":3}}`, nil, "additionalQuantities", `{"quantityA":1,"quantityB":2,"quantityC":3}`},
		"serviceTime":                   {`{"serviceTime":7}`, nil, "serviceTime", `7`},
		"priority":                      {`{"priority":7}`, nil, "priority", `7`},
		"group":                         {`{"group":"g"}`, nil, "group", `"g"`},
		"requirements":                  {`{"requirements":{"photo":true}}`, nil, "requirements", `{"signature":false,"photo":true,"notes":false,"minimumAge":0}`},
		"scanOnlyRequiredBarcodes":      {`{"scanOnlyRequiredBarcodes":true}`, nil, "scanOnlyRequiredBarcodes", `true`},
		"appearance":                    {`{"appearance":{"triangleColor":0}}`, nil, "appearance", `{"triangleColor":0}`},
		"barcodes":                      {`{"barcodes":[{"data":"QQ=="}]}`, nil, "barcodes", `{"required":[{"data":"QQ==","blockCompletion":false,"id":"<id>"}],"captured":[]}`},
		"barcode":                       {`{"barcode":[{}]}`, nil, "barcodes", `{"required":[{"blockCompletion":false,"id":"<id>"}],"captured":[]}`},
		"recipientName":                 {`{"recipientName":"B"}`, nil, "overrides", `{"recipientSkipSMSNotifications":null,"recipientNotes":null,"recipientName":"B","useMerchantForProxy":null}`},
		"recipientNotes":                {`{"recipientNotes":"B"}`, nil, "overrides", `{"recipientSkipSMSNotifications":null,"recipientNotes":"B","recipientName":null,"useMerchantForProxy":null}`},
		"recipientSkipSMSNotifications": {`{"recipientSkipSMSNotifications":false}`, nil, "overrides", `{"recipientSkipSMSNotifications":false,"recipientNotes":null,"recipientName":null,"useMerchantForProxy":null}`},
		"useMerchantForProxy":           {`{"useMerchantForProxy":false}`, nil, "overrides", `{"recipientSkipSMSNotifications":null,"recipientNotes":null,"recipientName":null,"useMerchantForProxy":"false"}`},
		"metadata":                      {`{"metadata":[{"name":"a","type":"number","value":1}]}`, nil, "metadata", `[{"name":"a","type":"number","value":1,"visibility":["api"]}]`},
		"a recipient":                   {`{"recipients":["` + fmt.Sprint(person["id"]) + `"]}`, nil, "recipients", `[` + string(encode(t, person)) + `]`},
		"a destination":                 {`{"destination":"` + fmt.Sprint(elsewhere["id"]) + `"}`, nil, "destination", string(encode(t, elsewhere))},
		"nothing":                       {`{}`, nil, "notes", `"old"`},
		"no body":                       {``, nil, "notes", `"old"`},
		"an unknown field":              {`{"unheardOf":1}`, nil, "notes", `"old"`},
		"properties of new tasks only":  {`{"autoAssign":{"mode":"distance"}}`, nil, "state", `0`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := readTask(t, r.Client, r.task(t, `,"notes":"old"`))
			after := r.Must(t, "PUT", "/tasks/"+fmt.Sprint(before["id"]), test.sent)
			matches(t, after[test.field], test.becomes)
			changed(t, name, before, after, append(test.fields, test.field)...)
			matches(t, readTask(t, r.Client, before["id"]), string(encode(t, after)))
		})
	}
	t.Run("objects create a destination and a recipient", func(t *testing.T) {
		task := r.task(t)
		after := r.Must(t, "PUT", "/tasks/"+task, `{"destination":`+inline+`,"recipients":[{"name":"New","phone":"+12125550172"}]}`)
		made := after["recipients"].([]any)[0].(map[string]any)
		matches(t, r.Must(t, "GET", "/recipients/"+fmt.Sprint(made["id"]), nil), string(encode(t, made)))
		place := after["destination"].(map[string]any)
		matches(t, r.Must(t, "GET", "/destinations/"+fmt.Sprint(place["id"]), nil), string(encode(t, place)))
	})
}

// testTaskReadBack sends a task back as it was read, as clients do that keep
// records as objects with a method to save them.
func testTaskReadBack(t *testing.T, r roads) {
	person := id(t, r.Client, "/recipients", `{"name":"Eve","phone":"+12125550174","notes":"n"}`)
	parent := r.task(t)
	for name, container := range map[string]string{
		"of the organization": `{"type":"ORGANIZATION"}`,
		"of a team":           `{"type":"TEAM","team":"` + r.north + `"}`,
		"of a worker":         `{"type":"WORKER","worker":"` + r.ada + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			before := readTask(t, r.Client, id(t, r.Client, "/tasks", `{"destination":`+inline+`,"recipients":["`+person+`"],"container":`+container+`,
				"completeAfter":1894021200000,"completeBefore":1894021300000,"notes":"n","dependencies":["`+parent+`"],"pickupTask":true,
				"barcodes":[{"data":"QQ==","blockCompletion":true}],"requirements":{"photo":true,"minimumAge":18},"quantity":2,"serviceTime":3,
				"recipientName":"E","recipientNotes":"o","recipientSkipSMSNotifications":true,"useMerchantForProxy":true,"scanOnlyRequiredBarcodes":true,
				"appearance":{"triangleColor":1},"additionalQuantities":{"quantityA":1},"metadata":[{"name":"a","type":"number","value":1}],"priority":4,"group":"g"}`))
			path := "/tasks/" + fmt.Sprint(before["id"])
			matches(t, r.Must(t, "PUT", path, before), string(encode(t, before)))
			sent := readTask(t, r.Client, before["id"])
			sent["destination"], sent["recipients"] = sent["destination"].(map[string]any)["id"], []any{person}
			matches(t, r.Must(t, "PUT", path, sent), string(encode(t, before)))
			matches(t, readTask(t, r.Client, before["id"]), string(encode(t, before)))
			r.Call(t, "DELETE", path, nil).OK(t)
		})
	}
}

func testTaskNulls(t *testing.T, r roads) {
	person := id(t, r.Client, "/recipients", `{"name":"Ann","phone":"+12125550173"}`)
	task := id(t, r.Client, "/tasks", `{"destination":`+inline+`,"recipients":["`+person+`"],"completeAfter":1894021200000,"completeBefore":1894021300000,"notes":"n",
		"appearance":{"triangleColor":1},"pickupTask":true,"group":"g","quantity":2}`)
	before := readTask(t, r.Client, task)
	after := send(t, r.Client, "PUT", "/tasks/"+task, `{"completeAfter":null,"completeBefore":null,"appearance":{"triangleColor":null}}`).OK(t).Object(t)
	changed(t, "null times and color", before, after, "completeAfter", "completeBefore", "appearance")
	matches(t, []any{after["completeAfter"], after["completeBefore"], after["appearance"]}, `[null,null,{"triangleColor":null}]`)
	// In other fields null is ignored.
	again := send(t, r.Client, "PUT", "/tasks/"+task, `{"notes":null,"pickupTask":null,"recipients":null,"destination":null,"group":null,"quantity":null,"container":null,
		"dependencies":null,"metadata":null,"requirements":null,"barcodes":null,"customFields":null}`).OK(t).Object(t)
	changed(t, "null fields", after, again)
	const overrides = `{"recipientName":"A","recipientNotes":"B","recipientSkipSMSNotifications":true,"useMerchantForProxy":true}`
	for _, name := range []string{"recipientName", "recipientNotes", "recipientSkipSMSNotifications", "useMerchantForProxy"} {
		want := r.Must(t, "PUT", "/tasks/"+task, overrides)["overrides"].(map[string]any)
		want[name] = nil
		matches(t, r.Must(t, "PUT", "/tasks/"+task, `{"`+name+`":null}`)["overrides"], string(encode(t, want)))
	}
	matches(t, r.Must(t, "PUT", "/tasks/"+task, `{"recipients":[]}`)["recipients"], `[]`)
}

func testTaskMoves(t *testing.T, r roads) {
	task, other := r.task(t), r.task(t, workers(r.bob))
	for _, step := range []struct{ container, path, worker, state string }{
		{`{"type":"WORKER","worker":"` + r.ada + `"}`, "workers/" + r.ada, `"` + r.ada + `"`, `1`},
		{`{"type":"WORKER","worker":"` + r.bob + `"}`, "workers/" + r.bob, `"` + r.bob + `"`, `1`},
		{`{"type":"TEAM","team":"` + r.north + `"}`, "teams/" + r.north, `null`, `0`},
		{`{"type":"ORGANIZATION","organization":"` + string(r.Organization.ID) + `"}`, "organizations/" + string(r.Organization.ID), `null`, `0`},
	} {
		from := readTask(t, r.Client, task)["container"].(map[string]any)
		after := r.Must(t, "PUT", "/tasks/"+task, `{"container":`+step.container+`,"notes":"moved"}`)
		matches(t, []any{after["container"], after["worker"], after["state"], after["notes"]}, `[`+step.container+`,`+step.worker+`,`+step.state+`,"moved"]`)
		if list := r.queue(t, step.path); list[len(list)-1] != task {
			t.Errorf("it is not the last of %v", list)
		}
		for _, kind := range []string{"organization", "team", "worker"} {
			if owner := from[kind]; owner != nil && slices.Contains(r.queue(t, kind+"s/"+fmt.Sprint(owner)), any(task)) {
				t.Errorf("it is still in the container of %s %v", kind, owner)
			}
		}
	}
	t.Run("a task that is already there keeps its position", func(t *testing.T) {
		r.Must(t, "PUT", "/tasks/"+other, `{"container":{"type":"WORKER","worker":"`+r.ada+`"}}`)
		last := r.task(t, workers(r.ada))
		r.Must(t, "PUT", "/tasks/"+other, `{"container":{"type":"WORKER","worker":"`+r.ada+`"}}`)
		matches(t, r.queue(t, "workers/"+r.ada), `["`+other+`","`+last+`"]`)
	})
}

func testTaskStates(t *testing.T, r roads) {
	person := r.Must(t, "POST", "/recipients", `{"name":"Ann","phone":"+12125550174"}`)
	body := `{"notes":"changed","metadata":[{"name":"a","type":"number","value":1}],"quantity":5,"serviceTime":5,"pickupTask":true,"completeAfter":1894021200000,
		"completeBefore":1894021300000,"dependencies":[],"requirements":{"photo":true},"barcodes":[{}],"priority":5,"group":"g","recipientName":"X","merchant":"` + unknownID + `",
		"appearance":{"triangleColor":1},"container":{"type":"TEAM","team":"` + r.south + `"},"destination":"` + unknownID + `","recipients":[{"name":"Changed","phone":"+12125550174"}]}`
	task := r.task(t, workers(r.ada))
	r.begin(t, task)
	before := readTask(t, r.Client, task)
	active := r.Must(t, "PUT", "/tasks/"+task, body)
	changed(t, "an active task", before, active, "notes", "metadata")
	matches(t, []any{active["notes"], active["metadata"]}, `["changed",[{"name":"a","type":"number","value":1,"visibility":["api"]}]]`)

	r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	before = readTask(t, r.Client, task)
	done := r.Must(t, "PUT", "/tasks/"+task, strings.Replace(strings.Replace(body, `"value":1`, `"value":2`, 1), `"changed"`, `"again"`, 1))
	changed(t, "a completed task", before, done, "metadata")
	matches(t, done["metadata"], `[{"name":"a","type":"number","value":2,"visibility":["api"]}]`)
	matches(t, r.Must(t, "GET", "/recipients/"+fmt.Sprint(person["id"]), nil), string(encode(t, person))) // ignored fields do not change the recipient
	for name, ignored := range map[string]string{
		"two recipients":          `"recipients":["a","b"]`,
		"an invalid phone number": `"recipients":[{"name":"X","phone":"12"}]`,
		"an address without city": `"destination":{"address":{"street":"S"}}`,
		"an unknown container":    `"container":{"type":"WORKER","worker":"` + unknownID + `"}`,
	} {
		after := send(t, r.Client, "PUT", "/tasks/"+task, `{"metadata":[],`+ignored+`}`).OK(t).Object(t)
		changed(t, name, done, after, "metadata")
	}
}

func testRejectedUpdates(t *testing.T, r roads) {
	task := r.task(t, workers(r.ada), `,"notes":"old","completeBefore":1894021200000`)
	before := readTask(t, r.Client, task)
	for name, test := range map[string]struct {
		sent string
		want rejection
		word string
	}{
		"a window against its other end": {`"completeAfter":1894021200000`, invalid, "completeAfter"},
		"an unknown container":           {`"container":{"type":"TEAM","team":"` + unknownID + `"}`, notFound, unknownID},
		"an unknown destination":         {`"destination":"` + unknownID + `"`, notFound, unknownID},
		"two recipients":                 {`"recipients":["a","b"]`, invalid, "recipients"},
		"an unknown dependency":          {`"recipients":[{"name":"Z","phone":"+12125550179"}],"dependencies":["` + unknownID + `"]`, notFound, unknownID},
		"an unknown executor":            {`"executor":"` + unknownID + `"`, notFound, unknownID},
		"an empty destination":           {`"destination":""`, malformed, "destination must be"},
		"an empty recipient":             {`"recipients":[""]`, malformed, "recipients[0] must be"},
		"null among the dependencies":    {`"dependencies":[null]`, malformed, "dependencies[0] must be a string"},
		"null among the barcodes":        {`"barcodes":[null]`, malformed, "barcodes[0] must be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, send(t, r.Client, "PUT", "/tasks/"+task, `{"notes":"new",`+test.sent+`}`), test.word)
			matches(t, readTask(t, r.Client, task), string(encode(t, before)))
		})
	}
	notFound.check(t, r.Call(t, "GET", "/recipients/phone/"+url.PathEscape("+12125550179"), nil))
	notFound.check(t, r.Call(t, "PUT", "/tasks/"+unknownID, `{"notes":"x"}`))
}

func testTaskDeletion(t *testing.T, r roads) {
	for name, task := range map[string]string{"unassigned": r.task(t), "of a team": r.task(t, `,"container":{"type":"TEAM","team":"`+r.north+`"}`), "assigned": r.task(t, workers(r.bob))} {
		t.Run(name, func(t *testing.T) {
			if a := r.Call(t, "DELETE", "/tasks/"+task, nil).OK(t); len(a.Body) != 0 {
				t.Errorf("responded with %s", a.Body)
			}
			notFound.check(t, r.Call(t, "DELETE", "/tasks/"+task, nil))
			notFound.check(t, r.Call(t, "GET", "/tasks/"+task, nil))
			notFound.check(t, r.Call(t, "PUT", "/tasks/"+task, `{"notes":"x"}`))
			notFound.check(t, r.Call(t, "POST", "/tasks/"+task+"/clone", `{}`))
			for _, path := range []string{"organizations/" + string(r.Organization.ID), "teams/" + r.north, "workers/" + r.bob} {
				if slices.Contains(r.queue(t, path), any(task)) {
					t.Errorf("it is in the container of %s", path)
				}
			}
		})
	}
	task := r.task(t, workers(r.bob))
	r.begin(t, task)
	invalid.check(t, r.Call(t, "DELETE", "/tasks/"+task, nil), "active")
	r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":false}}`).OK(t)
	invalid.check(t, r.Call(t, "DELETE", "/tasks/"+task, nil), "completed")
	readTask(t, r.Client, task)
}

func testTaskCompletion(t *testing.T, r roads) {
	number := 3000
	for name, test := range map[string]struct{ sent, success, failure string }{
		"well":                {`{"success":true,"notes":"left it"}`, "left it", ""},
		"badly":               {`{"success":false,"notes":"nobody there"}`, "", "nobody there"},
		"without a word":      {`{"success":true}`, "", ""},
		"with a text":         {`{"success":"true"}`, "", ""},
		"with an empty word":  {`{"success":false,"notes":""}`, "", ""},
		"with more than that": {`{"success":true,"notes":"n","time":1,"distance":5}`, "n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			number++
			carl := r.driver(t, fmt.Sprintf("+1212555%04d", number))
			task := r.task(t, workers(carl))
			r.begin(t, task)
			if worker := r.Must(t, "GET", "/workers/"+carl, nil); worker["activeTask"] != task {
				t.Errorf("the worker's active task is %v", worker["activeTask"])
			}
			before := readTask(t, r.Client, task)
			if a := r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":`+test.sent+`}`).OK(t); len(a.Body) != 0 {
				t.Errorf("responded with %s", a.Body)
			}
			after := readTask(t, r.Client, task)
			if _, there := after["container"]; there || after["state"] != 3.0 || after["worker"] != carl {
				t.Errorf("it is %v of %v in %v", after["state"], after["worker"], after["container"])
			}
			details := maps.Clone(before["completionDetails"].(map[string]any))
			said := test.success + test.failure
			maps.Copy(details, apptest.Response{Body: fmt.Appendf(nil, `{"time":"<now>","success":%v,"notes":%q,"successNotes":%q,"failureNotes":%q,"distance":0}`,
				strings.Contains(test.sent, "true"), said, test.success, test.failure)}.Object(t))
			matches(t, after["completionDetails"], string(encode(t, details)))
			if worker := r.Must(t, "GET", "/workers/"+carl, nil); worker["activeTask"] != nil {
				t.Errorf("the worker's active task is %v", worker["activeTask"])
			}
			invalid.check(t, r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":true}}`), "completed")
		})
	}
	for name, task := range map[string]string{"unassigned": r.task(t), "assigned": r.task(t, workers(r.ada))} {
		invalid.check(t, r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":true}}`), name)
	}
	task := r.task(t, workers(r.ada))
	r.begin(t, task)
	for _, body := range []string{``, `null`, `{}`, `{"completionDetails":null}`, `{"success":true}`} {
		malformed.check(t, send(t, r.Client, "POST", "/tasks/"+task+"/complete", body), "completionDetails")
	}
	malformed.check(t, send(t, r.Client, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"notes":"n"}}`), "completionDetails.success")
	malformed.check(t, send(t, r.Client, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":2}}`), "completionDetails.success")
	invalid.check(t, r.Call(t, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":true,"notes":`+text(strings.Repeat("x", 10_001))+`}}`), "completionDetails.notes")
	if got := readTask(t, r.Client, task)["state"]; got != 2.0 {
		t.Errorf("it is in state %v", got)
	}
	notFound.check(t, r.Call(t, "POST", "/tasks/"+unknownID+"/complete", `{"completionDetails":{"success":true}}`))
}
