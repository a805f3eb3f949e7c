package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/travel"
)

func TestFieldContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		r := newRoads(t, p, "Acme")
		t.Run("a number is the same in every notation", func(t *testing.T) { testNotations(t, r) })
		t.Run("a time of zero is no time", func(t *testing.T) { testZeroTimes(t, r) })
		t.Run("next to an unparsed address the parts are ignored", func(t *testing.T) { testUnparsed(t, r) })
		t.Run("a phone number need not be validated", func(t *testing.T) { testPhones(t, r) })
		t.Run("an error about a recipient names the field", func(t *testing.T) { testRecipientErrors(t, r) })
		t.Run("a service time of zero is not the default", func(t *testing.T) { testServiceTimes(t, p, r) })
		t.Run("an error about an address names the field", func(t *testing.T) { testAddressErrors(t, p, r) })
		t.Run("an error repeats the beginning of a long text", func(t *testing.T) { testLongTexts(t, r) })
		t.Run("the id of an organization is not empty", func(t *testing.T) { testEmptyOrganizations(t, r) })
		t.Run("a parameter that is rejected is named", func(t *testing.T) { testParameterErrors(t, r) })
	})
}

func testNotations(t *testing.T, r roads) {
	for _, n := range []string{`21`, `21.0`, `2.1e1`, `"21"`, `"21.0"`} {
		made := send(t, r.Client, "POST", "/tasks", newTask(fmt.Sprintf(`,"priority":%[1]s,"quantity":%[1]s,"serviceTime":%[1]s,"requirements":{"minimumAge":%[1]s},"additionalQuantities":{"quantityB":%[1]s}`, n))).OK(t).Object(t)
		matches(t, []any{made["priority"], made["quantity"], made["serviceTime"], made["requirements"].(map[string]any)["minimumAge"], made["additionalQuantities"].(map[string]any)["quantityB"]}, `[21,21,21,21,21]`)
		worker := send(t, r.Client, "PUT", "/workers/"+r.ada, fmt.Sprintf(`{"capacity":%s}`, n)).OK(t).Object(t)
		matches(t, worker["capacity"], `21`)
	}
	for sent, want := range map[string]string{
		`"priority":21.5`:                     "priority must be a whole number, not 21.5",
		`"priority":"21.5"`:                   "priority must be a whole number, not 21.5",
		`"quantity":"many"`:                   "quantity must be a number, not a string",
		`"serviceTime":""`:                    "serviceTime must be a number of minutes",
		`"requirements":{"minimumAge":true}`:  "requirements.minimumAge must be a number, not a boolean",
		`"appearance":{"triangleColor":" 1"}`: "appearance.triangleColor must be a number, not a string",
	} {
		malformed.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,`+sent)), want)
	}
	invalid.check(t, send(t, r.Client, "POST", "/tasks", newTask(`,"quantity":"1e300"`)), "quantity must be a number between -2^53 and 2^53")
}

func testZeroTimes(t *testing.T, r roads) {
	for _, zero := range []string{`0`, `0.0`, `"0"`, `null`} {
		window := fmt.Sprintf(`"completeAfter":%[1]s,"completeBefore":%[1]s`, zero)
		made := send(t, r.Client, "POST", "/tasks", newTask(`,`+window)).OK(t).Object(t)
		matches(t, []any{made["completeAfter"], made["completeBefore"]}, `[null,null]`)
		task := r.task(t, `,"completeAfter":1894021200000,"completeBefore":1894021300000`)
		made = send(t, r.Client, "PUT", "/tasks/"+task, `{`+window+`}`).OK(t).Object(t)
		matches(t, []any{made["completeAfter"], made["completeBefore"]}, `[null,null]`)
	}
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"completeAfter":1`)), "completeAfter", "2000")
	invalid.check(t, r.Call(t, "POST", "/tasks", newTask(`,"completeBefore":-1`)), "completeBefore", "2000")
}

func testUnparsed(t *testing.T, r roads) {
	const line = `"unparsed":"543 Howard St, San Francisco, CA 94105, USA"`
	want := r.Must(t, "POST", "/destinations", `{"address":{`+line+`,"name":"N","apartment":"5"}}`)["address"]
	for _, ignored := range []string{`"city":5`, `"street":{"a":1},"number":true`, `"country":["x"],"state":null`, `"postalCode":false,"city":"Elsewhere"`} {
		made := send(t, r.Client, "POST", "/destinations", `{"address":{`+ignored+`,`+line+`,"name":"N","apartment":5}}`).OK(t).Object(t)
		matches(t, made["address"], string(encode(t, want)))
	}
	for sent, word := range map[string]string{
		line + `,"name":5`:                     "address.name",
		line + `,"apartment":{}`:               "address.apartment",
		`"unparsed":5,"city":"X"`:              "address.unparsed",
		`"unparsed":"","city":5,"country":"Y"`: "address.city",
		`"unparsed":null,"city":"X"`:           "address.number",
	} {
		malformed.check(t, send(t, r.Client, "POST", "/destinations", `{"address":{`+sent+`}}`), word)
	}
}

func testPhones(t *testing.T, r roads) {
	for sent, want := range map[string]string{
		"+12125550651": "+12125550651", "+1 (212) 555-0652": "+12125550652", "212-555-0653": "+12125550653", "(212) 555.0654": "+12125550654",
	} {
		for _, skip := range []string{"false", "true"} {
			made := r.Must(t, "POST", "/recipients", fmt.Sprintf(`{"name":"A","phone":%q,"skipPhoneNumberValidation":%s}`, sent, skip))
			matches(t, made["phone"], text(want))
		}
	}
	const odd = "+1 555-000"
	invalid.check(t, r.Call(t, "POST", "/recipients", fmt.Sprintf(`{"name":"A","phone":%q}`, odd)), "phone")
	made := r.Must(t, "POST", "/recipients", fmt.Sprintf(`{"name":"A","phone":%q,"skipPhoneNumberValidation":true}`, odd))
	matches(t, made["phone"], `"+1555000"`)
	invalid.check(t, r.Call(t, "POST", "/recipients", `{"name":"B","phone":"+1555000"}`), "phone")
	task := id(t, r.Client, "/tasks", `{"destination":`+inline+`,"recipients":["`+fmt.Sprint(made["id"])+`"]}`)
	after := r.Must(t, "PUT", "/tasks/"+task, `{"recipients":[{"name":"B","phone":"+1555000"}]}`) // the number that the task has
	matches(t, after["recipients"].([]any)[0].(map[string]any)["id"], text(fmt.Sprint(made["id"])))
	for _, sent := range []string{"1555000", "+1234", "+1555x000", "+0555000", ""} {
		if a := r.Call(t, "POST", "/recipients", fmt.Sprintf(`{"name":"A","phone":%q,"skipPhoneNumberValidation":true}`, sent)); a.Status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", sent, a.Status, a.Body)
		}
	}
}

func testRecipientErrors(t *testing.T, r roads) {
	for sent, test := range map[string]struct {
		want rejection
		word string
	}{
		`{"name":"A","phone":"12"}`:                                  {invalid, `recipients[0].phone "12" is not a valid phone number`},
		`{"name":"A","phone":"12","skipPhoneNumberValidation":true}`: {invalid, `recipients[0].phone "12" is not a valid phone number`},
		`{"name":"A"}`: {malformed, `recipients[0].phone is required`},
		`{"name":"A","phone":"+12125550661","metadata":[{"name":"x","type":"number","value":"1"}]}`:       {invalid, `recipients[0].metadata[0].value`},
		`{"name":"A","phone":"+12125550661","metadata":{"$set":[{"name":"","type":"number","value":1}]}}`: {malformed, `recipients[0].metadata.$set[0].name`},
	} {
		test.want.check(t, r.Call(t, "POST", "/tasks", `{"destination":`+inline+`,"recipients":[`+sent+`]}`), test.word)
	}
	invalid.check(t, r.Call(t, "POST", "/recipients", `{"name":"A","phone":"12"}`), `phone "12" is not`)
}

func testServiceTimes(t *testing.T, p *apptest.Platform, r roads) {
	worker, mobile := driver(t, r.Client, r.north, "+12125550671")
	mobile.at(t, 40.7)
	for name, test := range map[string]struct {
		more map[string]any
		want time.Duration
	}{
		"none":    {nil, travel.DefaultServiceTime},
		"zero":    {map[string]any{"serviceTime": 0}, 0},
		"minutes": {map[string]any{"serviceTime": 1.5}, 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			task := taskOf(t, r.Client, worker, 40.71, test.more)
			check := func(when string) {
				t.Helper()
				p.RefreshDue(t)
				got := readTask(t, r.Client, task)
				arrival, _ := got["estimatedArrivalTime"].(float64)
				completion, known := got["estimatedCompletionTime"].(float64)
				if took := time.Duration(completion-arrival) * time.Millisecond; !known || took != test.want {
					t.Errorf("%s: the stay is %v, want %v", when, took, test.want)
				}
			}
			check("created")
			r.Must(t, "PUT", "/tasks/"+task, map[string]any{"serviceTime": readTask(t, r.Client, task)["serviceTime"]})
			check("written back")
			r.Must(t, "PUT", "/tasks/"+task, map[string]any{"notes": "other"})
			check("changed otherwise")
			r.Call(t, "DELETE", "/tasks/"+task, nil).OK(t)
		})
	}
}

func testAddressErrors(t *testing.T, p *apptest.Platform, r roads) {
	m := newTrade(t, p, "Nowhere")
	const nowhere = `{"address":{"unparsed":"Zzz nowhere"}}`
	order := m.placed(t, "")
	for _, sent := range []struct {
		c                  *apptest.Client
		method, path, body string
		field              string
	}{
		{r.Client, "POST", "/destinations", nowhere, "address"},
		{r.Client, "POST", "/hubs", `{"name":"H",` + nowhere[1:], "address"},
		{r.Client, "POST", "/tasks", `{"recipients":[],"destination":` + nowhere + `}`, "destination.address"},
		{r.Client, "PUT", "/tasks/" + r.task(t), `{"destination":` + nowhere + `}`, "destination.address"},
		{r.Client, "POST", "/tasks/" + r.task(t) + "/clone", `{"options":{"overrides":{"destination":` + nowhere + `}}}`, "options.overrides.destination.address"},
		{r.Client, "PUT", "/workers/" + r.ada, `{"addresses":{"routing":` + nowhere + `}}`, "addresses.routing.address"},
		{m.shop, "POST", "/deliveryServices/quote", `{"readyBy":4000000000000,"quantity":1,"weight":{"value":1,"units":"kg"},"pickup":` + inline + `,"dropoff":` + nowhere + `}`, "dropoff.address"},
		{m.shop, "POST", "/taskOrders", `{"pickupTask":{"destination":` + nowhere + `},"dropoffTask":{` + dropoffPlace + `}}`, "pickupTask.destination.address"},
		{m.shop, "POST", "/taskOrders", `{"pickupTask":{` + pickupPlace + `},"dropoffTask":{"destination":` + nowhere + `}}`, "dropoffTask.destination.address"},
		{m.shop, "PUT", "/taskOrders/" + fmt.Sprint(order["shortId"]), `{"pickupTask":{},"dropoffTask":{"destination":` + nowhere + `}}`, "dropoffTask.destination.address"},
	} {
		a := send(t, sent.c, sent.method, sent.path, sent.body)
		if cause := invalid.check(t, a); cause == nil {
			t.Errorf("%s %s: no cause", sent.method, sent.path)
		}
		var body struct{ Message struct{ Message string } }
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Message.Message != sent.field+" cannot be geocoded" {
			t.Errorf("%s %s: the message is %q, want %s", sent.method, sent.path, body.Message.Message, sent.field)
		}
	}
}

// testLongTexts sends texts that are too long where errors repeat what was sent.
func testLongTexts(t *testing.T, r roads) {
	long := strings.Repeat("x", 20_000)
	id, value := text(long), text("é"+long)
	const place = `"destination":` + inline
	for _, sent := range [][3]string{
		{"POST", "/tasks", `{"recipients":[],"destination":` + id + `}`},
		{"POST", "/tasks", `{` + place + `,"recipients":[` + id + `]}`},
		{"POST", "/tasks", newTask(`,"dependencies":[` + id + `]`)},
		{"POST", "/tasks", newTask(`,"merchant":` + id)},
		{"POST", "/tasks", newTask(`,"customFieldGroup":` + id)},
		{"POST", "/tasks", newTask(`,"customFields":[{"key":` + id + `,"value":1}]`)},
		{"POST", "/tasks", newTask(`,"container":{"type":` + value + `}`)},
		{"POST", "/tasks", newTask(`,"container":{"type":"WORKER","worker":` + id + `}`)},
		{"POST", "/tasks", newTask(`,"autoAssign":{"mode":` + value + `}`)},
		{"POST", "/destinations", `{` + inline[1:len(inline)-1] + `,"options":{"language":` + value + `}}`},
		{"POST", "/admins", `{"name":"A","email":"a@example.com","type":` + value + `}`},
		{"PUT", "/workers/" + r.ada, `{"vehicle":{"type":` + value + `}}`},
		{"PUT", "/workers/" + r.ada, `{"timezone":` + value + `}`},
		{"POST", "/workers/" + r.ada + "/schedule", `{"entries":[{"date":` + value + `,"timezone":"UTC","shifts":[]}]}`},
		{"POST", "/routePlans", `{"name":"P","startTime":4000000000000,"color":` + value + `}`},
		{"POST", "/routePlans", `{"name":"P","startTime":4000000000000,"vehicleType":` + value + `}`},
		{"POST", "/routePlans", `{"name":"P","startTime":4000000000000,"startAt":` + value + `}`},
		{"POST", "/teams/" + r.north + "/dispatch", `{"routeEnd":` + value + `}`},
		{"POST", "/teams/" + r.north + "/dispatch", `{"filters":{"workers":{"vehicleType":` + value + `}}}`},
		{"POST", "/cfGroups/task", `{"name":"T","contextSaveConditions":[],"fields":[` + id + `]}`},
		{"PUT", "/containers/workers/" + r.ada, `{"tasks":[` + id + `]}`},
	} {
		a := send(t, r.Client, sent[0], sent[1], sent[2])
		if a.Status/100 != 4 || len(a.Body) > 600 || !strings.Contains(string(a.Body), "xxx") {
			t.Errorf("%s %s: %d, %d bytes: %.300s", sent[0], sent[1], a.Status, len(a.Body), a.Body)
		}
	}
}

func testEmptyOrganizations(t *testing.T, r roads) {
	for _, field := range []string{"merchant", "executor"} {
		malformed.check(t, r.Call(t, "POST", "/tasks", newTask(`,"`+field+`":""`)), field+" must be the id of an organization")
		malformed.check(t, r.Call(t, "PUT", "/tasks/"+r.task(t), `{"`+field+`":""}`), field+" must be the id of an organization")
		malformed.check(t, r.Call(t, "POST", "/tasks/"+r.task(t)+"/clone", `{"overrides":{"`+field+`":""}}`), "overrides."+field+" must be the id of an organization")
	}
}

func testParameterErrors(t *testing.T, r roads) {
	invalid.check(t, r.Call(t, "GET", "/workers?phones=12", nil), `phones: phone "12"`)
	malformed.check(t, r.Call(t, "GET", "/teams/"+r.north+"/estimate?dropoffLocation=40.7,-120", nil), "dropoffLocation", "-90 to 90")
	malformed.check(t, r.Call(t, "PUT", "/containers/workers/"+r.ada, `{"tasks":[1.5]}`), "tasks must begin with a position", "not 1.5")
	invalid.check(t, r.Call(t, "PUT", "/containers/workers/"+r.ada, `{"tasks":[-2]}`), "position", "-2")
	malformed.check(t, r.Call(t, "PUT", "/containers/workers/"+r.ada, `{"tasks":[1099511627776]}`), "and 2147483647", "not 1099511627776")
}
