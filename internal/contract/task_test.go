package contract_test

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// inline is a destination inside a task.
const inline = `{"address":{"number":"1","street":"Main St","city":"X","country":"Y"},"location":[-73.98,40.75]}`

// newTask returns the body of a task with the required fields, and more.
func newTask(more ...string) string {
	return `{"destination":` + inline + `,"recipients":[]` + strings.Join(more, "") + `}`
}

// bareTask returns the response with such a task, with changes. Ids, the short id and the
// URL of the tracking page are placeholders.
func bareTask(t testing.TB, org string, changes string) map[string]any {
	t.Helper()
	shown := apptest.Response{Body: []byte(`{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","organization":"` + org + `","shortId":"<short>","orderShortId":null,
		"trackingURL":"<url>","trackingViewed":false,"worker":null,"merchant":"` + org + `","executor":"` + org + `","creator":"<id>","dependencies":[],"state":0,
		"completeAfter":null,"completeBefore":null,"pickupTask":false,"type":1,"notes":"",
		"completionDetails":{"failureNotes":"","successNotes":"","failureReason":"NONE","events":[],"actions":[],"time":null,"firstLocation":[],"lastLocation":[],
			"unavailableAttachments":[],"signatureUploadId":null,"photoUploadId":null,"photoUploadIds":null},
		"feedback":[],"metadata":[],"overrides":{"recipientSkipSMSNotifications":null,"recipientNotes":null,"recipientName":null,"useMerchantForProxy":null},
		"quantity":0,"additionalQuantities":{"quantityA":0,"quantityB":0,"quantityC":0},"serviceTime":0,"priority":0,"group":null,
		"identity":{"failedScanCount":0,"checksum":null},"appearance":{"triangleColor":null},"scanOnlyRequiredBarcodes":false,"barcodes":{"required":[],"captured":[]},
		"customFields":[],"requirements":{"signature":false,"photo":false,"notes":false,"minimumAge":0},
		"container":{"type":"ORGANIZATION","organization":"` + org + `"},"recipients":[],
		"destination":{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[-73.98,40.75],
			"address":{"number":"1","street":"Main St","apartment":"","city":"X","state":"","postalCode":"","country":"Y"},
			"notes":"","metadata":[],"googlePlaceId":null,"warnings":[],"useGPS":true},
		"estimatedCompletionTime":null,"estimatedArrivalTime":null,"eta":null,"delayTime":null,"completedWithGeofenceWarning":false}`)}.Object(t)
	maps.Copy(shown, apptest.Response{Body: []byte(changes)}.Object(t))
	return shown
}

var (
	shortForm = regexp.MustCompile(`^[0-9a-f]{8}$`)
	trackForm = regexp.MustCompile(`^https?://[^/]+/t/[A-Za-z0-9_-]{16,}$`)
)

// sameTask fails the test unless a task equals want. It does not change the task.
func sameTask(t testing.TB, got map[string]any, want map[string]any) {
	t.Helper()
	got = maps.Clone(got)
	if !shortForm.MatchString(fmt.Sprint(got["shortId"])) || !trackForm.MatchString(fmt.Sprint(got["trackingURL"])) {
		t.Errorf("the short id is %v, the tracking page %v", got["shortId"], got["trackingURL"])
	}
	if want["shortId"] == "<short>" {
		got["shortId"], got["trackingURL"] = "<short>", "<url>"
	}
	matches(t, got, string(encode(t, want)))
}

// readTask returns a task.
func readTask(t testing.TB, c *apptest.Client, id any) map[string]any {
	t.Helper()
	return c.Must(t, "GET", "/tasks/"+fmt.Sprint(id), nil)
}

func TestTaskContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		org := string(r.Organization.ID)
		t.Run("a task with only a destination is unassigned, with every field", func(t *testing.T) {
			made := r.Must(t, "POST", "/tasks", newTask())
			sameTask(t, made, bareTask(t, org, `{"didAutoAssign":false}`))
			delete(made, "didAutoAssign") // only in the response that creates a task
			matches(t, readTask(t, r.Client, made["id"]), string(encode(t, made)))
			matches(t, r.Must(t, "GET", "/tasks/shortId/"+fmt.Sprint(made["shortId"]), nil), string(encode(t, made)))
		})
		t.Run("null is treated as absent", func(t *testing.T) {
			sameTask(t, send(t, r.Client, "POST", "/tasks", newTask(`,"merchant":null,"executor":null,"completeAfter":null,"completeBefore":null,"pickupTask":null,
				"dependencies":null,"notes":null,"autoAssign":null,"container":null,"quantity":null,"additionalQuantities":null,"serviceTime":null,"recipientName":null,
				"recipientNotes":null,"recipientSkipSMSNotifications":null,"useMerchantForProxy":null,"requirements":null,"scanOnlyRequiredBarcodes":null,"barcode":null,
				"barcodes":null,"appearance":null,"customFields":null,"priority":null,"group":null,"metadata":null`)).OK(t).Object(t), bareTask(t, org, `{"didAutoAssign":false}`))
		})
		t.Run("fields that cannot be set are ignored", func(t *testing.T) {
			sameTask(t, send(t, r.Client, "POST", "/tasks", newTask(`,"id":"x","state":3,"worker":"`+r.ada+`","shortId":"x","organization":"x","timeCreated":1,"unheardOf":{"a":[]}`)).OK(t).Object(t),
				bareTask(t, org, `{"didAutoAssign":false}`))
		})
		t.Run("every field is accepted", func(t *testing.T) { testTaskFields(t, r) })
		t.Run("a destination is an id or an object", func(t *testing.T) { testTaskDestination(t, p, r) })
		t.Run("a recipient is an id, an object, or absent", func(t *testing.T) { testTaskRecipients(t, p, r) })
		t.Run("merchant and executor are the organization or connected with it", func(t *testing.T) { testTaskOrganizations(t, p, r) })
		t.Run("barcodes have two names", func(t *testing.T) { testTaskBarcodes(t, r) })
		t.Run("a task is created at the end of a container", func(t *testing.T) { testTaskContainer(t, r) })
		t.Run("dependencies are tasks of the organization, without cycles", func(t *testing.T) { testTaskDependencies(t, p, r) })
		t.Run("an invalid task is rejected, and the error names the field", func(t *testing.T) { testTaskFaults(t, r) })
		t.Run("a task is found only by its own short id", func(t *testing.T) {
			theirs := newRoads(t, p, "Zenith")
			other := readTask(t, theirs.Client, theirs.task(t))
			for _, short := range []string{fmt.Sprint(other["shortId"]), "00000000", "x", strings.Repeat("a", 24), "%27"} {
				notFound.check(t, r.Call(t, "GET", "/tasks/shortId/"+short, nil))
			}
		})
		t.Run("the history of assignments is returned on request", func(t *testing.T) { testTaskHistory(t, r) })
		t.Run("tasks have metadata", func(t *testing.T) {
			testMetadata(t, p, metadataOwner{"/tasks", func(_ *apptest.Client, _ int, metadata string) string { return newTask(`,"metadata":` + metadata) }, true})
		})
	})
}

func testTaskFields(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	parent := r.task(t)
	tomorrow := time.Now().Add(24 * time.Hour).UnixMilli()
	body := fmt.Sprintf(`{"destination":`+inline+`,"recipients":[],"merchant":%[1]q,"executor":%[1]q,"completeAfter":%[2]d,"completeBefore":%[3]d,"pickupTask":true,
		"dependencies":[%[4]q],"notes":"two\nlines é 😀","quantity":2.5,"additionalQuantities":{"quantityA":1,"quantityB":2.25,"quantityC":3},"serviceTime":4.5,
		"recipientName":"Bea","recipientNotes":"","recipientSkipSMSNotifications":true,"useMerchantForProxy":true,
		"requirements":{"signature":true,"photo":true,"notes":true,"minimumAge":21},"scanOnlyRequiredBarcodes":true,"appearance":{"triangleColor":2},
		"priority":499,"group":"g","metadata":[{"name":"n","type":"number","value":1}]}`, org, tomorrow, tomorrow+3_600_000, parent)
	want := bareTask(t, org, fmt.Sprintf(`{"didAutoAssign":false,"completeAfter":%d,"completeBefore":%d,"pickupTask":true,"type":0,"dependencies":[%q],"notes":"two\nlines é 😀",
		"quantity":2.5,"additionalQuantities":{"quantityA":1,"quantityB":2.25,"quantityC":3},"serviceTime":4.5,
		"overrides":{"recipientSkipSMSNotifications":true,"recipientNotes":"","recipientName":"Bea","useMerchantForProxy":"true"},
		"requirements":{"signature":true,"photo":true,"notes":true,"minimumAge":21},"scanOnlyRequiredBarcodes":true,"appearance":{"triangleColor":2},"priority":499,"group":"g",
		"metadata":[{"name":"n","type":"number","value":1,"visibility":["api"]}]}`, tomorrow, tomorrow+3_600_000, parent))
	sameTask(t, r.Must(t, "POST", "/tasks", body), want)
	t.Run("also as published clients spell it", func(t *testing.T) {
		spelled := strings.NewReplacer(`"pickupTask":true`, `"pickupTask":"true"`, `"serviceTime":4.5`, `"serviceTime":"4.5"`, `"signature":true`, `"signature":"true"`,
			fmt.Sprintf(`"completeAfter":%d`, tomorrow), fmt.Sprintf(`"completeAfter":"%d"`, tomorrow), `"useMerchantForProxy":true`, `"useMerchantForProxy":"true"`,
			fmt.Sprintf(`"completeBefore":%d`, tomorrow+3_600_000), fmt.Sprintf(`"completeBefore":%d.0`, tomorrow+3_600_000)).Replace(body)
		sameTask(t, send(t, r.Client, "POST", "/tasks", spelled).OK(t).Object(t), want)
	})
	t.Run("notes may have ten thousand characters", func(t *testing.T) {
		long := strings.Repeat("é", 10_000)
		if got := r.Must(t, "POST", "/tasks", newTask(`,"notes":`+text(long)))["notes"]; got != long {
			t.Errorf("%d characters came back", len([]rune(fmt.Sprint(got))))
		}
	})
	t.Run("a window may have one end", func(t *testing.T) {
		made := r.Must(t, "POST", "/tasks", newTask(fmt.Sprintf(`,"completeBefore":%d`, tomorrow)))
		matches(t, []any{made["completeAfter"], made["completeBefore"]}, fmt.Sprintf(`[null,%d]`, tomorrow))
	})
}

func testTaskDestination(t *testing.T, p *apptest.Platform, r roads) {
	theirs := newRoads(t, p, "Zenith")
	known := r.Must(t, "POST", "/destinations", `{"address":{"city":"X","country":"Y"},"location":[1,2],"notes":"here"}`)
	made := r.Must(t, "POST", "/tasks", `{"destination":"`+fmt.Sprint(known["id"])+`","recipients":[]}`)
	matches(t, made["destination"], string(encode(t, known)))

	fresh := r.Must(t, "POST", "/tasks", newTask())["destination"].(map[string]any)
	matches(t, r.Must(t, "GET", "/destinations/"+fmt.Sprint(fresh["id"]), nil), string(encode(t, fresh)))

	malformed.check(t, r.Call(t, "POST", "/tasks", `{"recipients":[]}`), "destination")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", `{"destination":null,"recipients":[]}`), "destination")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", `{"destination":[],"recipients":[]}`), "destination")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", `{"destination":{"location":[1,2]},"recipients":[]}`), "destination.address")
	malformed.check(t, r.Call(t, "POST", "/tasks", `{"destination":{"address":{"city":"X"},"location":[1,2]},"recipients":[]}`), "destination.address.country")
	invalid.check(t, r.Call(t, "POST", "/tasks", `{"destination":{"address":{"unparsed":"1 Main St, X"},"location":[1,2]},"recipients":[]}`), "destination.address.unparsed")
	invalid.check(t, r.Call(t, "POST", "/tasks", `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2],"notes":`+text(strings.Repeat("x", 10_001))+`},"recipients":[]}`), "destination.notes")
	notFound.check(t, r.Call(t, "POST", "/tasks", `{"destination":"`+unknownID+`","recipients":[]}`))
	outsideScope.check(t, r.Call(t, "POST", "/tasks", `{"destination":"`+id(t, theirs.Client, "/destinations", inline)+`","recipients":[]}`))
}

func testTaskRecipients(t *testing.T, p *apptest.Platform, r roads) {
	theirs := newRoads(t, p, "Yonder")
	with := func(recipients string) string {
		return `{"destination":` + inline + `,"recipients":` + recipients + `}`
	}
	known := r.Must(t, "POST", "/recipients", `{"name":"Ann","phone":"212-555-0161","notes":"rings twice","skipSMSNotifications":true}`)
	by := fmt.Sprint(known["id"])
	matches(t, r.Must(t, "POST", "/tasks", with(`["`+by+`"]`))["recipients"], `[`+string(encode(t, known))+`]`)

	t.Run("an object creates a recipient", func(t *testing.T) {
		made := r.Must(t, "POST", "/tasks", with(`[{"name":"Bea","phone":"(212) 555-0162"}]`))["recipients"].([]any)
		matches(t, made, `[{"id":"<id>","organization":"`+string(r.Organization.ID)+`","timeCreated":"<now>","timeLastModified":"<now>","name":"Bea","phone":"+12125550162",
			"notes":"","skipSMSNotifications":false,"useLongCodeForText":false,"metadata":[]}]`)
		matches(t, r.Must(t, "GET", "/recipients/"+fmt.Sprint(made[0].(map[string]any)["id"]), nil), string(encode(t, made[0])))
	})
	t.Run("a known phone updates the recipient who has it", func(t *testing.T) {
		earlier := r.Must(t, "POST", "/tasks", with(`["`+by+`"]`))
		made := r.Must(t, "POST", "/tasks", with(`[{"name":"Anna","phone":"+12125550161"}]`))["recipients"].([]any)[0].(map[string]any)
		changed(t, "the recipient", known, made, "name")
		if made["id"] != by || made["name"] != "Anna" {
			t.Errorf("got %v", made)
		}
		matches(t, readTask(t, r.Client, earlier["id"])["recipients"], `[`+string(encode(t, made))+`]`)
	})
	t.Run("overrides leave the recipient alone", func(t *testing.T) {
		before := r.Must(t, "GET", "/recipients/"+by, nil)
		made := r.Must(t, "POST", "/tasks", `{"destination":`+inline+`,"recipients":["`+by+`"],"recipientName":"Other","recipientNotes":"Other","recipientSkipSMSNotifications":false}`)
		matches(t, made["recipients"], `[`+string(encode(t, before))+`]`) // opted out, and stays so
		matches(t, r.Must(t, "GET", "/recipients/"+by, nil), string(encode(t, before)))
	})
	malformed.check(t, r.Call(t, "POST", "/tasks", `{"destination":`+inline+`}`), "recipients")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", with(`null`)), "recipients")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", with(`"`+by+`"`)), "recipients")
	matches(t, send(t, r.Client, "POST", "/tasks", with(`[null]`)).OK(t).Object(t)["recipients"], `[]`)
	malformed.check(t, send(t, r.Client, "POST", "/tasks", with(`[1]`)), "recipients[0]")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", with(`[{"phone":"+12125550163"}]`)), "recipients[0].name")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", with(`[{"name":"C"}]`)), "recipients[0].phone")
	invalid.check(t, r.Call(t, "POST", "/tasks", with(`[{"name":"C","phone":"12"}]`)), "phone")
	invalid.check(t, r.Call(t, "POST", "/tasks", with(`["`+by+`","`+by+`"]`)), "recipients", "one")
	notFound.check(t, r.Call(t, "POST", "/tasks", with(`["`+unknownID+`"]`)))
	outsideScope.check(t, r.Call(t, "POST", "/tasks", with(`["`+id(t, theirs.Client, "/recipients", `{"name":"T","phone":"+16465550100"}`)+`"]`)))

	t.Run("a rejected task creates no recipient and changes none", func(t *testing.T) {
		before := r.Must(t, "GET", "/recipients/"+by, nil)
		invalid.check(t, r.Call(t, "POST", "/tasks", `{"destination":`+inline+`,"recipients":[{"name":"Changed","phone":"+12125550161"}],"quantity":-1}`), "quantity")
		invalid.check(t, r.Call(t, "POST", "/tasks", `{"destination":`+inline+`,"recipients":[{"name":"New","phone":"+12125550164"}],"quantity":-1}`), "quantity")
		notFound.check(t, r.Call(t, "GET", "/recipients/phone/"+url.PathEscape("+12125550164"), nil))
		matches(t, r.Must(t, "GET", "/recipients/"+by, nil), string(encode(t, before)))
	})
}

func testTaskOrganizations(t *testing.T, p *apptest.Platform, r roads) {
	partner, stranger := p.Organization(t, "Partner"), p.Organization(t, "Stranger")
	if err := p.Clients.Connect(t.Context(), r.Organization.ID, partner.Organization.ID); err != nil {
		t.Fatal(err)
	}
	theirs := string(partner.Organization.ID)
	made := r.Must(t, "POST", "/tasks", newTask(`,"merchant":"`+theirs+`","executor":"`+theirs+`"`))
	ours := string(r.Organization.ID)
	matches(t, []any{made["merchant"], made["executor"], made["organization"], made["container"]},
		`["`+theirs+`","`+theirs+`","`+ours+`",{"type":"ORGANIZATION","organization":"`+theirs+`"}]`)
	if queue := (roads{Client: partner}).queue(t, "organizations/"+theirs); !slices.Contains(queue, made["id"]) {
		t.Errorf("task %s is not in the container of its executor, %v", made["id"], queue)
	}
	for _, field := range []string{"merchant", "executor"} {
		outsideScope.check(t, r.Call(t, "POST", "/tasks", newTask(`,"`+field+`":"`+string(stranger.Organization.ID)+`"`)))
		notFound.check(t, r.Call(t, "POST", "/tasks", newTask(`,"`+field+`":"`+unknownID+`"`)))
	}
}

func testTaskBarcodes(t *testing.T, r roads) {
	const codes = `[{"data":"NDAwNjM4MTMzMzkzMQ==","blockCompletion":true},{"data":"QQ=="},{"blockCompletion":"true"},{}]`
	const shown = `{"required":[{"data":"NDAwNjM4MTMzMzkzMQ==","blockCompletion":true,"id":"<id>"},{"data":"QQ==","blockCompletion":false,"id":"<id>"},
		{"blockCompletion":true,"id":"<id>"},{"blockCompletion":false,"id":"<id>"}],"captured":[]}`
	matches(t, r.Must(t, "POST", "/tasks", newTask(`,"barcodes":`+codes))["barcodes"], shown)
	matches(t, r.Must(t, "POST", "/tasks", newTask(`,"barcode":`+codes))["barcodes"], shown)
	matches(t, r.Must(t, "POST", "/tasks", newTask(`,"barcode":[{}],"barcodes":`+codes))["barcodes"], shown)
	matches(t, r.Must(t, "POST", "/tasks", newTask(`,"barcodes":[],"scanOnlyRequiredBarcodes":true`))["barcodes"], `{"required":[],"captured":[]}`)
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"barcodes":[{},{"data":"not base64!"}]`)), "barcodes[1].data", "base64")
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"barcodes":[{"data":"`+strings.Repeat("QUJD", 126)+`"}]`)), "barcodes[0].data", "500")
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"barcodes":[`+strings.Repeat(`{},`, 100)+`{}]`)), "barcodes", "100")
	matches(t, r.Must(t, "POST", "/tasks", newTask(`,"barcodes":{"required":`+codes+`,"captured":[]}`))["barcodes"], shown)
	malformed.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,"barcodes":{}`)), "barcodes", "required")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,"barcodes":{"required":{}}`)), "barcodes.required")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,"barcodes":"QQ=="`)), "barcodes", "a string")
	malformed.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,"barcodes":["x"]`)), "barcodes[0]")
}

func testTaskContainer(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	in := func(container string) string { return newTask(`,"container":` + container) }
	tests := map[string]struct {
		sent, shown string
		path        string
		state       int
		worker      string
	}{
		"organization":          {`{"type":"ORGANIZATION","organization":"` + org + `"}`, `{"type":"ORGANIZATION","organization":"` + org + `"}`, "organizations/" + org, 0, `null`},
		"organization, unnamed": {`{"type":"ORGANIZATION"}`, `{"type":"ORGANIZATION","organization":"` + org + `"}`, "organizations/" + org, 0, `null`},
		"team":                  {`{"type":"TEAM","team":"` + r.south + `"}`, `{"type":"TEAM","team":"` + r.south + `"}`, "teams/" + r.south, 0, `null`},
		"worker":                {`{"type":"WORKER","worker":"` + r.ada + `"}`, `{"type":"WORKER","worker":"` + r.ada + `"}`, "workers/" + r.ada, 1, `"` + r.ada + `"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				made := r.Must(t, "POST", "/tasks", in(test.sent))
				matches(t, []any{made["container"], made["state"], made["worker"], made["didAutoAssign"]}, fmt.Sprintf(`[%s,%d,%s,false]`, test.shown, test.state, test.worker))
				list := r.Must(t, "GET", "/containers/"+test.path, nil)["tasks"].([]any)
				if len(list) == 0 || list[len(list)-1] != made["id"] {
					t.Errorf("%v is not the last of %v", made["id"], list)
				}
			}
		})
	}
	if got := r.queue(t, "workers/"+r.ada); len(got) != 3 {
		t.Errorf("the worker has %v", got)
	}
	malformed.check(t, r.Call(t, "POST", "/tasks", in(`{}`)), "container.type")
	malformed.check(t, r.Call(t, "POST", "/tasks", in(`{"type":"TEAM"}`)), "container.team")
	malformed.check(t, r.Call(t, "POST", "/tasks", in(`{"type":"WORKER","team":"`+r.south+`"}`)), "container.worker")
	invalid.check(t, send(t, r.Client, "POST", "/tasks", in(`{"type":"HUB","hub":"`+r.hub+`"}`)), "container.type")
	notFound.check(t, r.Call(t, "POST", "/tasks", in(`{"type":"WORKER","worker":"`+r.south+`"}`)))
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"container":{"type":"TEAM","team":"`+r.south+`"},"autoAssign":{"mode":"distance"}`)), "autoAssign", "container")
}

func testTaskDependencies(t *testing.T, p *apptest.Platform, r roads) {
	theirs := newRoads(t, p, "Xeno")
	first, second := r.task(t), r.task(t)
	made := r.Must(t, "POST", "/tasks", newTask(`,"dependencies":["`+second+`","`+first+`","`+second+`"]`))
	matches(t, made["dependencies"], `["`+second+`","`+first+`"]`)
	child := fmt.Sprint(made["id"])
	notFound.check(t, r.Call(t, "POST", "/tasks", newTask(`,"dependencies":["`+first+`","`+unknownID+`"]`)))
	outsideScope.check(t, r.Call(t, "POST", "/tasks", newTask(`,"dependencies":["`+theirs.task(t)+`"]`)))
	for what, update := range map[string][2]string{"itself": {first, first}, "its child": {first, child}, "its child's child": {second, id(t, r.Client, "/tasks", newTask(`,"dependencies":["`+child+`"]`))}} {
		before := readTask(t, r.Client, update[0])
		invalid.check(t, r.Call(t, "PUT", "/tasks/"+update[0], `{"notes":"changed","dependencies":["`+update[1]+`"]}`), "dependencies")
		if !t.Run("a task does not depend on "+what, func(t *testing.T) { matches(t, readTask(t, r.Client, update[0]), string(encode(t, before))) }) {
			return
		}
	}
	matches(t, r.Must(t, "PUT", "/tasks/"+child, `{"dependencies":[]}`)["dependencies"], `[]`)
	matches(t, r.Must(t, "PUT", "/tasks/"+first, `{"dependencies":["`+child+`"]}`)["dependencies"], `["`+child+`"]`)
	t.Run("a deleted task is no longer a parent", func(t *testing.T) {
		gone := r.task(t)
		kept := id(t, r.Client, "/tasks", newTask(`,"dependencies":["`+gone+`","`+second+`"]`))
		r.Call(t, "DELETE", "/tasks/"+gone, nil).OK(t)
		matches(t, readTask(t, r.Client, kept)["dependencies"], `["`+second+`"]`)
		matches(t, r.Must(t, "PUT", "/tasks/"+kept, `{"notes":"still there"}`)["dependencies"], `["`+second+`"]`)
		matches(t, r.Must(t, "POST", "/tasks/"+kept+"/clone", `{"options":{"includeDependencies":true}}`)["dependencies"], `["`+second+`"]`)
	})
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"dependencies":["`+strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range 101 {
			if !yield(fmt.Sprintf("nobodyhasthisident%06d", i)) {
				return
			}
		}
	}), `","`)+`"]`)), "dependencies", "100")
}

// taskFaults returns invalid fields, with the errors that they cause.
func taskFaults() map[string]struct {
	sent  string
	want  rejection
	words []string
} {
	type fault = struct {
		sent  string
		want  rejection
		words []string
	}
	return map[string]fault{
		"notes too long":                  {`"notes":` + text(strings.Repeat("é", 10_001)), invalid, []string{"notes", "10001", "10000"}},
		"notes that are a number":         {`"notes":1`, malformed, []string{"notes"}},
		"a negative quantity":             {`"quantity":-0.5`, invalid, []string{"quantity"}},
		"a quantity in words":             {`"quantity":"many"`, malformed, []string{"quantity"}},
		"a negative quantityB":            {`"additionalQuantities":{"quantityB":-1}`, invalid, []string{"additionalQuantities.quantityB"}},
		"additional quantities in a list": {`"additionalQuantities":[1,2,3]`, malformed, []string{"additionalQuantities"}},
		"a negative service time":         {`"serviceTime":-1`, invalid, []string{"serviceTime"}},
		"more than a week of service":     {`"serviceTime":10081`, invalid, []string{"serviceTime"}},
		"millennia of service":            {`"serviceTime":99999999999`, invalid, []string{"serviceTime", "10080 minutes"}},
		"service time in words":           {`"serviceTime":"long"`, malformed, []string{"serviceTime"}},
		"a time in seconds":               {`"completeAfter":1767225600`, invalid, []string{"completeAfter"}},
		"a time as a date":                {`"completeAfter":"2026-01-01T00:00:00Z"`, malformed, []string{"completeAfter"}},
		"a window that ends first":        {`"completeAfter":1894021200001,"completeBefore":1894021200000`, invalid, []string{"completeAfter", "completeBefore"}},
		"a window of no length":           {`"completeAfter":1894021200000,"completeBefore":1894021200000`, invalid, []string{"completeAfter", "completeBefore"}},
		"a pickup of a number":            {`"pickupTask":1`, malformed, []string{"pickupTask"}},
		"a dependency that is a number":   {`"dependencies":[1]`, malformed, []string{"dependencies[0]"}},
		"an empty dependency":             {`"dependencies":[""]`, malformed, []string{"dependencies", "empty"}},
		"an empty team":                   {`"autoAssign":{"mode":"distance","teams":[""]}`, malformed, []string{"autoAssign.teams[0]", "empty"}},
		"an empty excluded worker":        {`"autoAssign":{"mode":"distance","excludedWorkerIds":["x",""]}`, malformed, []string{"autoAssign.excludedWorkerIds[1]", "empty"}},
		"dependencies in one text":        {`"dependencies":"a,b"`, malformed, []string{"dependencies"}},
		"a fourth color":                  {`"appearance":{"triangleColor":3}`, invalid, []string{"appearance.triangleColor", "3"}},
		"a color by name":                 {`"appearance":{"triangleColor":"teal"}`, malformed, []string{"appearance.triangleColor"}},
		"a negative age":                  {`"requirements":{"minimumAge":-1}`, invalid, []string{"requirements.minimumAge"}},
		"an age with a fraction":          {`"requirements":{"minimumAge":20.5}`, malformed, []string{"requirements.minimumAge"}},
		"a requirement that is a number":  {`"requirements":{"photo":2}`, malformed, []string{"requirements.photo"}},
		"requirements in a list":          {`"requirements":["photo"]`, malformed, []string{"requirements"}},
		"a priority of 500":               {`"priority":500`, invalid, []string{"priority"}},
		"half a priority":                 {`"priority":1.5`, malformed, []string{"priority"}},
		"a group too long":                {`"group":"` + strings.Repeat("g", 101) + `"`, invalid, []string{"group"}},
		"a recipient's name too long":     {`"recipientName":"` + strings.Repeat("n", 1_001) + `"`, invalid, []string{"recipientName"}},
		"recipient's notes too long":      {`"recipientNotes":"` + strings.Repeat("n", 10_001) + `"`, invalid, []string{"recipientNotes"}},
		"an invalid flag":                 {`"recipientSkipSMSNotifications":"yes"`, malformed, []string{"recipientSkipSMSNotifications"}},
		"a container that is an id":       {`"container":"x"`, malformed, []string{"container"}},
		"automatic without a mode":        {`"autoAssign":{}`, malformed, []string{"autoAssign.mode"}},
		"automatic by another mode":       {`"autoAssign":{"mode":"speed"}`, invalid, []string{"autoAssign.mode", "speed"}},
		"automatic by a text":             {`"autoAssign":"distance"`, malformed, []string{"autoAssign"}},
		"automatic with a negative count": {`"autoAssign":{"mode":"load","maxAssignedTaskCount":-1}`, invalid, []string{"autoAssign.maxAssignedTaskCount"}},
		"a merchant that is a number":     {`"merchant":5`, malformed, []string{"merchant"}},
		"metadata of a wrong type":        {`"metadata":[{"name":"a","type":"number","value":"x"}]`, invalid, []string{"metadata[0]"}},
		"the same key twice":              {`"notes":"a","notes":"b"`, invalid, []string{"notes"}},
	}
}

func testTaskFaults(t *testing.T, r roads) {
	before := len(r.queue(t, "organizations/"+string(r.Organization.ID)))
	there := r.task(t)
	was := readTask(t, r.Client, there)
	for name, fault := range taskFaults() {
		t.Run(name, func(t *testing.T) {
			fault.want.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,`+fault.sent)), fault.words...)
			if strings.Contains(fault.sent, "autoAssign") {
				return // only for new tasks
			}
			fault.want.check(t, send(t, r.Client, "PUT", "/tasks/"+there, `{"recipientName":"changed",`+fault.sent+`}`), fault.words...)
		})
	}
	for name, body := range map[string]string{"no body": "", "null": "null", "an empty object": "{}"} {
		t.Run(name, func(t *testing.T) { malformed.check(t, send(t, r.Client, "POST", "/tasks", body)) })
	}
	for name, body := range map[string]string{"an array": "[]", "a text": `"x"`} {
		t.Run(name, func(t *testing.T) { malformed.check(t, send(t, r.Client, "POST", "/tasks", body)) })
	}
	invalid.check(t, send(t, r.Client, "POST", "/tasks", `{"destination":`))
	matches(t, readTask(t, r.Client, there), string(encode(t, was)))
	if after := len(r.queue(t, "organizations/"+string(r.Organization.ID))); after != before+1 {
		t.Errorf("rejected requests made %d tasks", after-before-1)
	}
}

func testTaskHistory(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	task := r.task(t, `,"container":{"type":"TEAM","team":"`+r.south+`"}`)
	r.Must(t, "PUT", "/tasks/"+task, `{"container":{"type":"WORKER","worker":"`+r.bob+`"}}`)
	r.Must(t, "PUT", "/tasks/"+task, `{"container":{"type":"ORGANIZATION"}}`)
	plain := readTask(t, r.Client, task)
	if _, shown := plain["assignmentHistory"]; shown {
		t.Error("returned without a request")
	}
	for _, no := range []string{"false", "", "0"} {
		matches(t, readTask(t, r.Client, task+"?assignmentHistory="+no), string(encode(t, plain)))
	}
	malformed.check(t, r.Call(t, "GET", "/tasks/"+task+"?assignmentHistory=yes", nil), "assignmentHistory")
	whole := readTask(t, r.Client, task+"?assignmentHistory=true")
	matches(t, whole["assignmentHistory"], strings.NewReplacer("{BY", `{"actionContext":{"type":"API","id":"<id>"},"time":"<now>"`).Replace(
		`[{BY,"containerDescription":{"type":"TEAM","organization":"`+org+`","team":"`+r.south+`"}},
		{BY,"containerDescription":{"type":"WORKER","organization":"`+org+`","worker":"`+r.bob+`"}},
		{BY,"containerDescription":{"type":"ORGANIZATION","organization":"`+org+`"}}]`))
	delete(whole, "assignmentHistory")
	matches(t, whole, string(encode(t, plain)))
}
