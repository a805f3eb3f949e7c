package contract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

func TestTaskCloneContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		org := string(r.Organization.ID)
		parent := r.task(t)
		person := r.Must(t, "POST", "/recipients", `{"name":"Ann","phone":"+12125550181"}`)
		const hour = 3_600_000
		now := time.Now().UnixMilli()
		source := r.Must(t, "POST", "/tasks", fmt.Sprintf(`{"destination":`+inline+`,"recipients":[%q],"completeAfter":%d,"completeBefore":%d,"pickupTask":true,
			"dependencies":[%q],"notes":"n","quantity":2.5,"additionalQuantities":{"quantityA":1,"quantityB":2,"quantityC":3},"serviceTime":4,"recipientName":"Bea",
			"requirements":{"photo":true,"minimumAge":18},"scanOnlyRequiredBarcodes":true,"appearance":{"triangleColor":2},"priority":7,"group":"g",
			"barcodes":[{"data":"QQ=="}],"metadata":[{"name":"a","type":"number","value":1}],"container":{"type":"WORKER","worker":%q}}`,
			person["id"], now+hour, now+2*hour, parent, r.ada))
		delete(source, "didAutoAssign")
		of := fmt.Sprint(source["id"])
		clone := func(t *testing.T, body string) map[string]any {
			t.Helper()
			return send(t, r.Client, "POST", "/tasks/"+of+"/clone", body).OK(t).Object(t)
		}
		plain := func(t *testing.T, changes string) map[string]any {
			t.Helper()
			return bareTask(t, org, fmt.Sprintf(`{"sourceTaskId":%q,"completeAfter":%d,"completeBefore":%d,"pickupTask":true,"type":0,"notes":"n","quantity":2.5,
				"additionalQuantities":{"quantityA":1,"quantityB":2,"quantityC":3},"serviceTime":4,
				"overrides":{"recipientSkipSMSNotifications":null,"recipientNotes":null,"recipientName":"Bea","useMerchantForProxy":null},
				"requirements":{"signature":false,"photo":true,"notes":false,"minimumAge":18},"scanOnlyRequiredBarcodes":true,"appearance":{"triangleColor":2},"priority":7,"group":"g",
				"recipients":[%s]%s}`, of, now+hour, now+2*hour, encode(t, person), changes))
		}
		for _, body := range []string{``, `null`, `{}`, `{"options":{}}`, `{"options":null}`, `{"options":{"includeMetadata":false,"includeBarcodes":false,"includeDependencies":false,"overrides":{}}}`} {
			t.Run("a clone is unassigned and has all but metadata, barcodes and dependencies: "+body, func(t *testing.T) {
				made := clone(t, body)
				sameTask(t, made, plain(t, ``))
				matches(t, readTask(t, r.Client, made["id"]), string(encode(t, made)))
				if made["id"] == of || made["shortId"] == source["shortId"] || made["trackingURL"] == source["trackingURL"] {
					t.Error("it shares what is the source's own")
				}
				place := made["destination"].(map[string]any)
				if place["id"] == source["destination"].(map[string]any)["id"] {
					t.Error("it has the source's destination, and not one of its own")
				}
				matches(t, r.Must(t, "GET", "/destinations/"+fmt.Sprint(place["id"]), nil), string(encode(t, place)))
				if list := r.queue(t, "organizations/"+org); list[len(list)-1] != made["id"] {
					t.Errorf("it is not the last of %v", list)
				}
			})
		}
		whole := `,"metadata":[{"name":"a","type":"number","value":1,"visibility":["api"]}],"dependencies":["` + parent + `"],
			"barcodes":{"required":[{"data":"QQ==","blockCompletion":false,"id":"<id>"}],"captured":[]}`
		for name, body := range map[string]string{
			"nested":                        `{"options":{"includeMetadata":true,"includeBarcodes":true,"includeDependencies":true}}`,
			"flat":                          `{"includeMetadata":true,"includeBarcodes":true,"includeDependencies":true}`,
			"as a published type spells it": `{"options":{"includeMetadata":"true","includeBarCodes":true,"includeDependencies":"true"}}`,
		} {
			t.Run("metadata, barcodes and dependencies are copied on request, "+name, func(t *testing.T) { sameTask(t, clone(t, body), plain(t, whole)) })
		}
		t.Run("no body and null are the same request", func(t *testing.T) {
			once := r.Call(t, "POST", "/tasks/"+of+"/clone", nil, "Idempotency-Key", "empty").OK(t)
			for _, body := range []string{`null`, ` null `, ` `} {
				again := send(t, r.Client, "POST", "/tasks/"+of+"/clone", body, "Idempotency-Key", "empty").OK(t)
				if !bytes.Equal(again.Body, once.Body) {
					t.Errorf("%q is another request", body)
				}
			}
		})
		t.Run("overrides come last, nested and flat", func(t *testing.T) {
			overrides := fmt.Sprintf(`"overrides":{"notes":"other","pickupTask":false,"serviceTime":9,"metadata":[{"name":"b","type":"boolean","value":true}],
				"completeAfter":%d,"completeBefore":%d,"recipients":[],"destination":{"address":{"city":"Q","country":"Y"},"location":[5,6]}}`, now+5*hour, now+6*hour)
			for _, body := range []string{`{"options":{"includeMetadata":true,` + overrides + `}}`, `{"includeMetadata":true,` + overrides + `}`} {
				made := clone(t, body)
				want := plain(t, fmt.Sprintf(`,"notes":"other","pickupTask":false,"type":1,"serviceTime":9,"metadata":[{"name":"b","type":"boolean","value":true,"visibility":["api"]}],
					"completeAfter":%d,"completeBefore":%d`, now+5*hour, now+6*hour))
				want["recipients"] = []any{}
				want["destination"] = apptest.Response{Body: []byte(strings.NewReplacer(`"number":"1"`, `"number":""`, `"street":"Main St"`, `"street":""`, `"city":"X"`, `"city":"Q"`, `[-73.98,40.75]`, `[5,6]`).
					Replace(string(encode(t, want["destination"]))))}.Object(t)
				sameTask(t, made, want)
			}
			known := r.Must(t, "POST", "/destinations", inline)
			made := clone(t, `{"options":{"overrides":{"destination":"`+fmt.Sprint(known["id"])+`","recipients":[{"name":"Cy","phone":"+12125550182"}]}}}`)
			matches(t, made["destination"], string(encode(t, known)))
			matches(t, made["recipients"].([]any)[0].(map[string]any)["name"], `"Cy"`)
		})
		t.Run("times must be in the future, and in order", func(t *testing.T) {
			for _, test := range []struct{ sent, word string }{
				{fmt.Sprintf(`"completeAfter":%d`, now-hour), "completeAfter"},
				{fmt.Sprintf(`"completeBefore":%d`, now-hour), "completeBefore"},
				{fmt.Sprintf(`"completeAfter":%d,"completeBefore":%d`, now+3*hour, now+2*hour), "completeBefore"},
				{fmt.Sprintf(`"completeBefore":%d`, now+hour/2), "completeBefore"}, // before the completeAfter it has
			} {
				invalid.check(t, send(t, r.Client, "POST", "/tasks/"+of+"/clone", `{"options":{"overrides":{`+test.sent+`}}}`), test.word)
			}
			made := clone(t, `{"options":{"overrides":{"completeAfter":null,"completeBefore":null}}}`)
			matches(t, []any{made["completeAfter"], made["completeBefore"]}, `[null,null]`)
		})
		t.Run("times that have passed are dropped", func(t *testing.T) {
			past := r.task(t, fmt.Sprintf(`,"completeAfter":%d,"completeBefore":%d`, now-2*hour, now+hour))
			made := r.Must(t, "POST", "/tasks/"+past+"/clone", nil)
			matches(t, []any{made["completeAfter"], made["completeBefore"]}, fmt.Sprintf(`[null,%d]`, now+hour))
			gone := r.task(t, fmt.Sprintf(`,"completeAfter":%d,"completeBefore":%d`, now-2*hour, now-hour))
			made = r.Must(t, "POST", "/tasks/"+gone+"/clone", nil)
			matches(t, []any{made["completeAfter"], made["completeBefore"]}, `[null,null]`)
		})
		t.Run("overrides follow the rules of tasks", func(t *testing.T) {
			before := len(r.queue(t, "organizations/"+org))
			for name, fault := range taskFaults() {
				if !strings.Contains(fault.sent, "autoAssign") && !strings.Contains(fault.sent, "container") {
					t.Run(name, func(t *testing.T) {
						fault.want.check(t, send(t, r.Client, "POST", "/tasks/"+of+"/clone", `{"options":{"overrides":{`+fault.sent+`}}}`), fault.words...)
					})
				}
			}
			notFound.check(t, r.Call(t, "POST", "/tasks/"+of+"/clone", `{"options":{"overrides":{"destination":"`+unknownID+`"}}}`))
			for _, form := range []struct{ path, before, after string }{{"options.overrides.", `{"options":{"overrides":`, `}}`}, {"overrides.", `{"overrides":`, `}`}} {
				for sent, test := range map[string]struct {
					want rejection
					word string
				}{
					`{"notes":5}`:                                 {malformed, "notes must"},
					`{"completeAfter":"x"}`:                       {malformed, "completeAfter must"},
					`{"serviceTime":-1}`:                          {invalid, "serviceTime must"},
					`{"quantity":-1}`:                             {invalid, "quantity must"},
					`{"priority":500}`:                            {invalid, "priority must"},
					`{"metadata":[{}]}`:                           {malformed, "metadata[0].name is"},
					`{"recipients":[{}]}`:                         {malformed, "recipients[0].name is"},
					`{"destination":{}}`:                          {malformed, "destination.address is"},
					`{"container":{"type":5}}`:                    {malformed, "container.type must"},
					`{"customFields":[{"key":"none","value":1}]}`: {invalid, "customFields[0].key"},
					`{"recipients":[{"name":"A","phone":"12"}]}`:  {invalid, "recipients[0].phone \"12\" is"},
					`{"destination":{"address":{"city":"X"},"location":[1,2]}}`:                     {malformed, "destination.address.country is"},
					fmt.Sprintf(`{"completeAfter":%d}`, now-hour):                                   {invalid, "completeAfter must be in the future"},
					fmt.Sprintf(`{"completeAfter":%d,"completeBefore":%d}`, now+3*hour, now+2*hour): {invalid, "completeAfter must be before"},
				} {
					a := send(t, r.Client, "POST", "/tasks/"+of+"/clone", form.before+sent+form.after)
					test.want.check(t, a)
					if message := a.Object(t)["message"].(map[string]any)["message"].(string); !strings.HasPrefix(message, form.path+test.word) {
						t.Errorf("%s: %q does not begin with %q", sent, message, form.path+test.word)
					}
				}
			}
			malformed.check(t, send(t, r.Client, "POST", "/tasks/"+of+"/clone", `{"options":[]}`), "options")
			malformed.check(t, send(t, r.Client, "POST", "/tasks/"+of+"/clone", `{"options":{"includeMetadata":5}}`), "includeMetadata")
			if after := len(r.queue(t, "organizations/"+org)); after != before {
				t.Errorf("rejected requests made %d tasks", after-before)
			}
		})
		t.Run("a started and a completed task can be cloned, a clone too", func(t *testing.T) {
			r.begin(t, of)
			made := clone(t, ``)
			sameTask(t, made, plain(t, ``))
			r.Call(t, "POST", "/tasks/"+of+"/complete", `{"completionDetails":{"success":false,"notes":"x"}}`).OK(t)
			sameTask(t, clone(t, ``), plain(t, ``))
			again := r.Must(t, "POST", "/tasks/"+fmt.Sprint(made["id"])+"/clone", nil)
			matches(t, again["sourceTaskId"], string(encode(t, made["id"])))
		})
		t.Run("the source stays as it is", func(t *testing.T) {
			after := readTask(t, r.Client, of)
			for _, field := range []string{"destination", "barcodes", "dependencies", "metadata", "shortId", "notes"} {
				matches(t, after[field], string(encode(t, source[field])))
			}
		})
	})
}
