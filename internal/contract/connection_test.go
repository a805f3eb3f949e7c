package contract_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// market has two couriers with workers, and three clients: shop and cafe of the fast
// courier, both of both couriers.
type market struct {
	fast, slow       roads
	shop, cafe, both *apptest.Client
}

func newMarket(t testing.TB, p *apptest.Platform) market {
	t.Helper()
	m := market{fast: newRoads(t, p, "Fast Couriers"), slow: newRoads(t, p, "Slow Couriers")}
	open := func(courier roads, name string) *apptest.Client {
		made := courier.Must(t, "POST", "/clients", `{"name":"`+name+`"}`)
		c := keyed(p, made)
		c.Organization = lastmile.Organization{ID: lastmile.OrganizationID(fmt.Sprint(made["organization"])), Name: name}
		return c
	}
	m.shop, m.cafe, m.both = open(m.fast, "Shop"), open(m.fast, "Cafe"), open(m.fast, "Both")
	invited := m.slow.Must(t, "POST", "/clients", `{"organization":"`+string(m.both.Organization.ID)+`"}`)
	m.both.Must(t, "POST", "/clients/invitations/"+fmt.Sprint(invited["id"])+"/accept", nil)
	return m
}

func of(c *apptest.Client) string { return string(c.Organization.ID) }

// order returns the body of a task for another executor.
func order(executor roads, more ...string) string {
	return `{"destination":` + inline + `,"recipients":[{"name":"Ann","phone":"+12125550199","notes":"client's notes"}],"executor":"` + of(executor.Client) + `"` + strings.Join(more, "") + `}`
}

// placed creates a task and returns it as it is read.
func placed(t testing.TB, c *apptest.Client, body string) map[string]any {
	t.Helper()
	made := c.Must(t, "POST", "/tasks", body)
	delete(made, "didAutoAssign")
	return made
}

func TestConnectedTaskContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		m := newMarket(t, p)
		t.Run("a task is placed with its executor", func(t *testing.T) { testPlaceTask(t, m) })
		t.Run("a task that cannot be placed is rejected", func(t *testing.T) { testRejectedPlacement(t, m) })
		t.Run("each side changes what it decides", func(t *testing.T) { testChangePlaced(t, m) })
		t.Run("both sides list and find it", func(t *testing.T) { testListPlaced(t, m) })
		t.Run("a copy belongs to the organization that makes it", func(t *testing.T) { testClonePlaced(t, m) })
		t.Run("a batch places tasks", func(t *testing.T) { testBatchPlaced(t, m) })
		t.Run("no id of one side works with the key of another", func(t *testing.T) { testSides(t, p, m) })
		t.Run("tasks stay visible when the connection ends", func(t *testing.T) { testEndedConnection(t, m) })
	})
}

func testPlaceTask(t *testing.T, m market) {
	// The courier knows the recipient's number, under another name.
	known := id(t, m.fast.Client, "/recipients", `{"name":"Courier's Ann","phone":"+12125550199","notes":"beware of the dog"}`)
	made := placed(t, m.shop, order(m.fast, `,"notes":"ring"`))
	task := fmt.Sprint(made["id"])
	matches(t, []any{made["organization"], made["executor"], made["merchant"], made["container"], made["state"], made["creator"]},
		`["`+of(m.shop)+`","`+of(m.fast.Client)+`","`+of(m.shop)+`",{"type":"ORGANIZATION","organization":"`+of(m.fast.Client)+`"},0,"`+of(m.shop)+`"]`)
	for _, c := range []*apptest.Client{m.shop, m.fast.Client} {
		matches(t, c.Must(t, "GET", "/tasks/"+task, nil), string(encode(t, made)))
		matches(t, c.Must(t, "GET", "/tasks/shortId/"+fmt.Sprint(made["shortId"]), nil), string(encode(t, made)))
		matches(t, c.Must(t, "GET", "/destinations/"+fmt.Sprint(made["destination"].(map[string]any)["id"]), nil), string(encode(t, made["destination"])))
	}
	if queue := m.fast.queue(t, "organizations/"+of(m.fast.Client)); !slices.Contains(queue, any(task)) {
		t.Errorf("task %s is not in the container of its executor: %v", task, queue)
	}
	if queue := (roads{Client: m.shop}).queue(t, "organizations/"+of(m.shop)); len(queue) > 0 {
		t.Errorf("the origin's container has %v", queue)
	}
	matches(t, m.fast.Must(t, "GET", "/recipients/"+known, nil)["name"], `"Courier's Ann"`)
	matches(t, m.shop.Must(t, "GET", "/recipients/phone/+12125550199", nil)["notes"], `"client's notes"`)

	// The executor assigns it; the origin sees the worker's id, and nothing of the team.
	m.fast.Must(t, "PUT", "/tasks/"+task, `{"container":{"type":"TEAM","team":"`+m.fast.north+`"}}`)
	matches(t, m.fast.Must(t, "GET", "/tasks/"+task, nil)["container"], `{"type":"TEAM","team":"`+m.fast.north+`"}`)
	matches(t, m.shop.Must(t, "GET", "/tasks/"+task, nil)["container"], `{"type":"ORGANIZATION","organization":"`+of(m.fast.Client)+`"}`)
	m.fast.Must(t, "PUT", "/containers/workers/"+m.fast.ada, `{"tasks":["`+task+`"]}`)
	seen := m.shop.Must(t, "GET", "/tasks/"+task+"?assignmentHistory=true", nil)
	matches(t, []any{seen["container"], seen["worker"], seen["state"], seen["assignmentHistory"]}, `[{"type":"WORKER","worker":"`+m.fast.ada+`"},"`+m.fast.ada+`",1,[]]`)
	outsideScope.check(t, m.shop.Call(t, "GET", "/workers/"+m.fast.ada, nil))

	// If the name of a client is not shown, the courier is the merchant, unless the task
	// names another.
	m.cafe.Must(t, "PUT", "/clients/invitations/"+of(m.fast.Client), `{"showClientName":false}`)
	matches(t, m.cafe.Must(t, "POST", "/tasks", order(m.fast))["merchant"], `"`+of(m.fast.Client)+`"`)
	matches(t, m.cafe.Must(t, "POST", "/tasks", order(m.fast, `,"merchant":"`+of(m.cafe)+`"`))["merchant"], `"`+of(m.cafe)+`"`)

	// A courier may place tasks with its client as well, or with itself.
	back := m.fast.Must(t, "POST", "/tasks", newTask(`,"executor":"`+of(m.shop)+`"`))
	matches(t, []any{back["organization"], back["container"]}, `["`+of(m.fast.Client)+`",{"type":"ORGANIZATION","organization":"`+of(m.shop)+`"}]`)
}

func testRejectedPlacement(t *testing.T, m market) {
	theirs, own := m.fast.Must(t, "POST", "/tasks", newTask()), m.shop.Must(t, "POST", "/tasks", newTask())
	before := len(m.fast.queue(t, "organizations/"+of(m.fast.Client)))
	for name, tt := range map[string]struct {
		body  string
		want  rejection
		words []string
	}{
		"an executor that is not connected":   {order(m.slow), outsideScope, nil},
		"a merchant that is not connected":    {order(m.fast, `,"merchant":"`+of(m.both)+`"`), outsideScope, nil},
		"an executor that does not exist":     {newTask(`,"executor":"` + unknownID + `"`), notFound, nil},
		"the own container":                   {order(m.fast, `,"container":{"type":"ORGANIZATION","organization":"`+of(m.shop)+`"}`), invalid, []string{"container"}},
		"a container of the executor's":       {order(m.fast, `,"container":{"type":"WORKER","worker":"`+m.fast.ada+`"}`), outsideScope, nil},
		"a worker that does not exist":        {order(m.fast, `,"container":{"type":"WORKER","worker":"`+unknownID+`"}`), notFound, nil},
		"automatic assignment":                {order(m.fast, `,"autoAssign":{"mode":"load"}`), invalid, []string{"autoAssign", "executor"}},
		"a dependency on the executor's task": {order(m.fast, `,"dependencies":["`+fmt.Sprint(theirs["id"])+`"]`), outsideScope, nil},
		"a dependency on an own task":         {order(m.fast, `,"dependencies":["`+fmt.Sprint(own["id"])+`"]`), outsideScope, nil},
		"a destination of the executor's":     {`{"destination":"` + fmt.Sprint(theirs["destination"].(map[string]any)["id"]) + `","recipients":[],"executor":"` + of(m.fast.Client) + `"}`, outsideScope, nil},
	} {
		t.Run(name, func(t *testing.T) { tt.want.check(t, m.shop.Call(t, "POST", "/tasks", tt.body), tt.words...) })
	}
	if after := len(m.fast.queue(t, "organizations/"+of(m.fast.Client))); after != before {
		t.Errorf("the executor has %d tasks, and had %d", after, before)
	}
	m.shop.Must(t, "POST", "/tasks", order(m.fast, `,"container":{"type":"ORGANIZATION","organization":"`+of(m.fast.Client)+`"}`))
}

func testChangePlaced(t *testing.T, m market) {
	made := placed(t, m.shop, order(m.fast))
	path := "/tasks/" + fmt.Sprint(made["id"])
	// What was read can be written back, by either side.
	for _, c := range []*apptest.Client{m.shop, m.fast.Client} {
		read := c.Must(t, "GET", path, nil)
		matches(t, c.Must(t, "PUT", path, read), string(encode(t, read)))
	}
	// The origin changes everything but where the task is.
	changed := m.shop.Must(t, "PUT", path, `{"notes":"new","quantity":3,"destination":{"address":{"city":"Z","country":"Y"},"location":[-73.9,40.7]},"recipients":[{"name":"Bea","phone":"+12125550198"}]}`)
	matches(t, []any{changed["notes"], changed["quantity"], changed["recipients"].([]any)[0].(map[string]any)["name"]}, `["new",3,"Bea"]`)
	matches(t, m.fast.Must(t, "GET", path, nil), string(encode(t, changed)))
	matches(t, m.fast.Must(t, "GET", "/destinations/"+fmt.Sprint(changed["destination"].(map[string]any)["id"]), nil), string(encode(t, changed["destination"])))
	invalid.check(t, m.shop.Call(t, "PUT", path, `{"executor":"`+of(m.shop)+`"}`), "executor")
	invalid.check(t, m.shop.Call(t, "PUT", path, `{"container":{"type":"ORGANIZATION","organization":"`+of(m.shop)+`"}}`), "container")
	outsideScope.check(t, m.shop.Call(t, "PUT", path, `{"container":{"type":"WORKER","worker":"`+m.fast.ada+`"}}`))
	outsideScope.check(t, m.shop.Call(t, "POST", path+"/complete", `{"completionDetails":{"success":true}}`))
	outsideScope.check(t, m.shop.Call(t, "PUT", "/containers/organizations/"+of(m.shop), `{"tasks":[-1,"`+fmt.Sprint(made["id"])+`"]}`))
	outsideScope.check(t, m.shop.Call(t, "POST", "/tasks/autoAssign", `{"tasks":["`+fmt.Sprint(made["id"])+`"]}`))
	outsideScope.check(t, m.shop.Call(t, "GET", path+"/explanation", nil))
	// The executor cannot change what the origin decides, but the rest.
	for field, body := range map[string]string{
		"destination": `{"destination":` + inline + `}`, "recipients": `{"recipients":[]}`, "merchant": `{"merchant":"` + of(m.fast.Client) + `"}`,
	} {
		invalid.check(t, m.fast.Call(t, "PUT", path, body), field, "placed")
	}
	m.shop.Must(t, "PUT", "/recipients/"+fmt.Sprint(changed["recipients"].([]any)[0].(map[string]any)["id"]),
		`{"notes":"rings","metadata":[{"name":"a","type":"string","value":"1","visibility":["api"]},{"name":"w","type":"string","value":"1","visibility":["worker"]},{"name":"d","type":"string","value":"1","visibility":["dashboard"]}]}`)
	for _, recipient := range []string{
		`{"name":"Other","phone":"+12125550198"}`, `{"name":"Bea","phone":"+12125550198","notes":"other"}`, `{"name":"Bea","phone":"+12125550197"}`,
		`{"name":"Bea","phone":"+12125550198","skipSMSNotifications":true}`, `{"name":"Bea","phone":"+12125550198","metadata":[{"name":"a","type":"string","value":"2"}]}`,
	} {
		invalid.check(t, m.fast.Call(t, "PUT", path, `{"recipients":[`+recipient+`]}`), "recipients", "placed")
	}
	m.fast.Must(t, "PUT", path, `{"recipients":[{"name":"Bea","phone":"(212) 555-0198"}]}`)
	read := m.fast.Must(t, "GET", path, nil)
	matches(t, m.fast.Must(t, "PUT", path, read), string(encode(t, read)))
	invalid.check(t, m.fast.Call(t, "PUT", path, `{"executor":"`+of(m.shop)+`"}`), "executor")
	matches(t, m.fast.Must(t, "PUT", path, `{"notes":"by the courier","metadata":[{"name":"k","type":"string","value":"v"}]}`)["notes"], `"by the courier"`)
	matches(t, m.shop.Must(t, "GET", path, nil)["notes"], `"by the courier"`)
	// Once it is started, changes have no effect, and it cannot be deleted.
	m.fast.Must(t, "PUT", "/containers/workers/"+m.fast.ada, `{"tasks":[0,"`+fmt.Sprint(made["id"])+`"]}`)
	m.fast.begin(t, fmt.Sprint(made["id"]))
	matches(t, m.shop.Must(t, "PUT", path, `{"quantity":9}`)["quantity"], `3`)
	invalid.check(t, m.shop.Call(t, "DELETE", path, nil), "deleted")
	m.fast.Call(t, "POST", path+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	matches(t, m.shop.Must(t, "GET", path, nil)["state"], `3`)
	// Before the start, either side can delete it.
	for _, c := range []*apptest.Client{m.shop, m.fast.Client} {
		gone := "/tasks/" + fmt.Sprint(m.shop.Must(t, "POST", "/tasks", order(m.fast))["id"])
		c.Call(t, "DELETE", gone, nil).OK(t)
		for _, side := range []*apptest.Client{m.shop, m.fast.Client} {
			notFound.check(t, side.Call(t, "GET", gone, nil))
		}
	}
}

func testListPlaced(t *testing.T, m market) {
	const tagged = `,"metadata":[{"name":"list","type":"string","value":"placed"}]`
	first := fmt.Sprint(m.both.Must(t, "POST", "/tasks", order(m.fast, tagged))["id"])
	own := id(t, m.both, "/tasks", newTask(tagged))
	second := fmt.Sprint(m.both.Must(t, "POST", "/tasks", order(m.slow, tagged, `,"dependencies":[]`))["id"])
	after := fmt.Sprint(m.both.Must(t, "POST", "/tasks", order(m.slow, `,"dependencies":["`+second+`"]`))["id"])
	listed := func(c *apptest.Client, query string) (ids []string) {
		for _, task := range c.Must(t, "GET", "/tasks/all?from=1500000000000"+query, nil)["tasks"].([]any) {
			ids = append(ids, fmt.Sprint(task.(map[string]any)["id"]))
		}
		return ids
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	same("all", listed(m.both, ""), first, own, second, after)
	same("after the first", listed(m.both, "&lastId="+first), own, second, after)
	same("unassigned", listed(m.both, "&state=0"), first, own, second, after)
	same("active", listed(m.both, "&state=2"))
	same("in the own container", listed(m.both, "&containers="+of(m.both)), own)
	same("with a dependency", listed(m.both, "&dependencies="+second), after)
	same("by metadata", ids(m.both.Call(t, "POST", "/tasks/metadata", `[{"name":"list","type":"string","value":"placed"}]`).OK(t).List(t)), first, own, second)
	same("of the executor", listed(m.slow.Client, ""), second, after)
	if all := listed(m.fast.Client, ""); !slices.Contains(all, first) || slices.Contains(all, second) || slices.Contains(all, own) {
		t.Errorf("the other courier lists %v", all)
	}
}

func testClonePlaced(t *testing.T, m market) {
	made := placed(t, m.shop, order(m.fast, `,"notes":"copied"`))
	path := "/tasks/" + fmt.Sprint(made["id"]) + "/clone"
	again := m.shop.Must(t, "POST", path, nil)
	matches(t, []any{again["organization"], again["executor"], again["notes"], again["container"], again["sourceTaskId"]},
		`["`+of(m.shop)+`","`+of(m.fast.Client)+`","copied",{"type":"ORGANIZATION","organization":"`+of(m.fast.Client)+`"},`+text(fmt.Sprint(made["id"]))+`]`)
	for _, c := range []*apptest.Client{m.shop, m.fast.Client} {
		matches(t, c.Must(t, "GET", "/tasks/"+fmt.Sprint(again["id"]), nil), string(encode(t, again)))
	}
	own := m.fast.Must(t, "POST", path, nil)
	matches(t, []any{own["organization"], own["recipients"].([]any)[0].(map[string]any)["name"]}, `["`+of(m.fast.Client)+`","Courier's Ann"]`)
	matches(t, m.fast.Must(t, "GET", "/tasks/"+fmt.Sprint(own["id"]), nil), string(encode(t, own)))
	outsideScope.check(t, m.shop.Call(t, "GET", "/tasks/"+fmt.Sprint(own["id"]), nil))
	// A recipient whom the courier does not know becomes one of its own, unless another
	// replaces it.
	path = "/tasks/" + fmt.Sprint(placed(t, m.shop, strings.Replace(order(m.fast), "0199", "0196", 1))["id"]) + "/clone"
	for _, recipients := range []string{`[]`, `[{"name":"Cid","phone":"+12125550195"}]`} {
		m.fast.Must(t, "POST", path, `{"overrides":{"recipients":`+recipients+`}}`)
		notFound.check(t, m.fast.Call(t, "GET", "/recipients/phone/+12125550196", nil))
	}
	m.fast.Must(t, "POST", path, nil)
	matches(t, m.fast.Must(t, "GET", "/recipients/phone/+12125550196", nil)["name"], `"Ann"`)
	outsideScope.check(t, m.cafe.Call(t, "POST", path, nil))
	invalid.check(t, m.shop.Call(t, "POST", path, `{"overrides":{"executor":"`+of(m.shop)+`"}}`), "executor")
}

func testBatchPlaced(t *testing.T, m market) {
	where := id(t, m.shop, "/destinations", inline)
	same := `{"destination":"` + where + `","recipients":[],"executor":"` + of(m.fast.Client) + `"}`
	reply := send(t, m.shop, "POST", "/tasks/batch", batchOf(order(m.fast), same, same, newTask(), order(m.slow))).OK(t).Object(t)
	tasks, errors := reply["tasks"].([]any), reply["errors"].([]any)
	if len(tasks) != 4 || len(errors) != 1 {
		t.Fatalf("the batch made %d tasks and %d errors: %v", len(tasks), len(errors), reply)
	}
	for i, executor := range []string{of(m.fast.Client), of(m.fast.Client), of(m.fast.Client), of(m.shop)} {
		made := tasks[i].(map[string]any)
		matches(t, []any{made["organization"], made["executor"]}, `["`+of(m.shop)+`","`+executor+`"]`)
		matches(t, m.shop.Must(t, "GET", "/tasks/"+fmt.Sprint(made["id"]), nil), string(encode(t, made)))
	}
	reply = send(t, m.shop, "POST", "/tasks/batch", batchOf(same, same)).OK(t).Object(t)
	if made := reply["tasks"].([]any); len(made) != 2 {
		t.Errorf("a batch of good tasks made %v", reply)
	}
}

// testSides tries every id of a placed task, and of both sides, with the keys of the
// others.
func testSides(t *testing.T, p *apptest.Platform, m market) {
	made := placed(t, m.shop, order(m.fast))
	task := fmt.Sprint(made["id"])
	recipient := fmt.Sprint(made["recipients"].([]any)[0].(map[string]any)["id"])
	where := fmt.Sprint(made["destination"].(map[string]any)["id"])
	stranger := p.Organization(t, "Stranger")
	requests := func(task string) [][3]string {
		return [][3]string{
			{"GET", "/tasks/" + task},
			{"PUT", "/tasks/" + task, `{"notes":"x"}`},
			{"DELETE", "/tasks/" + task},
			{"POST", "/tasks/" + task + "/clone"},
			{"POST", "/tasks/" + task + "/complete", `{"completionDetails":{"success":true}}`},
			{"GET", "/tasks/" + task + "/explanation"},
			{"POST", "/tasks", newTask(`,"dependencies":["` + task + `"]`)},
			{"POST", "/tasks/autoAssign", `{"tasks":["` + task + `"]}`},
			{"GET", "/tasks/all?from=1&lastId=" + task},
		}
	}
	for name, c := range map[string]*apptest.Client{"a stranger": stranger, "another client": m.cafe, "a client of both": m.both, "the other courier": m.slow.Client} {
		for _, request := range append(requests(task), [3]string{"GET", "/recipients/" + recipient}, [3]string{"GET", "/destinations/" + where},
			[3]string{"PUT", "/recipients/" + recipient, `{"name":"X"}`}, [3]string{"POST", "/tasks", `{"destination":"` + where + `","recipients":[]}`},
			[3]string{"POST", "/tasks", `{"destination":` + inline + `,"recipients":["` + recipient + `"]}`}) {
			t.Run(name+" "+request[0]+" "+request[1], func(t *testing.T) {
				outsideScope.check(t, c.Call(t, request[0], request[1], request[2]))
			})
		}
		notFound.check(t, c.Call(t, "GET", "/tasks/shortId/"+fmt.Sprint(made["shortId"]), nil))
	}
	courier, client := m.fast, m.shop
	private := id(t, courier.Client, "/tasks", newTask())
	for _, request := range append(requests(private), [][3]string{
		{"GET", "/workers/" + courier.ada},
		{"PUT", "/workers/" + courier.ada, `{"name":"X"}`},
		{"GET", "/workers/" + courier.ada + "/tasks"},
		{"GET", "/teams/" + courier.north},
		{"GET", "/teams/" + courier.north + "/tasks"},
		{"GET", "/containers/workers/" + courier.ada},
		{"GET", "/containers/teams/" + courier.north},
		{"GET", "/containers/organizations/" + of(courier.Client)},
		{"PUT", "/containers/organizations/" + of(courier.Client), `{"tasks":[-1,"` + private + `"]}`},
		{"PUT", "/hubs/" + courier.hub, `{"name":"X"}`},
		{"POST", "/tasks", newTask(`,"container":{"type":"TEAM","team":"` + courier.north + `"}`)},
	}...) {
		t.Run("the client "+request[0]+" "+request[1], func(t *testing.T) {
			outsideScope.check(t, client.Call(t, request[0], request[1], request[2]))
		})
	}
	mine := id(t, client, "/tasks", newTask())
	for _, request := range append(requests(mine), [3]string{"GET", "/recipients/" + recipient}, [3]string{"PUT", "/recipients/" + recipient, `{"name":"X"}`},
		[3]string{"GET", "/containers/organizations/" + of(client)}) {
		t.Run("the courier "+request[0]+" "+request[1], func(t *testing.T) {
			outsideScope.check(t, courier.Call(t, request[0], request[1], request[2]))
		})
	}
	matches(t, client.Must(t, "GET", "/tasks/"+task, nil), string(encode(t, made)))
}

func testEndedConnection(t *testing.T, m market) {
	made := placed(t, m.both, order(m.slow))
	path := "/tasks/" + fmt.Sprint(made["id"])
	mine := newTask(`,"merchant":"` + of(m.slow.Client) + `"`)
	own, former := "/tasks/"+id(t, m.both, "/tasks", mine), "/tasks/"+id(t, m.both, "/tasks", mine)
	m.slow.Call(t, "DELETE", "/clients/"+of(m.both), nil).OK(t)
	for _, c := range []*apptest.Client{m.both, m.slow.Client} {
		matches(t, c.Must(t, "GET", path, nil), string(encode(t, made)))
		matches(t, c.Must(t, "PUT", path, made), string(encode(t, made)))
	}
	read := m.both.Must(t, "GET", own, nil)
	matches(t, m.both.Must(t, "PUT", own, read), string(encode(t, read)))
	// A change to the other is not possible.
	matches(t, m.both.Must(t, "PUT", own, `{"merchant":"`+of(m.both)+`"}`)["merchant"], `"`+of(m.both)+`"`)
	outsideScope.check(t, m.both.Call(t, "PUT", own, `{"merchant":"`+of(m.slow.Client)+`"}`))
	outsideScope.check(t, m.both.Call(t, "POST", "/tasks", order(m.slow)))
	outsideScope.check(t, m.both.Call(t, "POST", path+"/clone", nil))
	// Nor can a clone have the other as its merchant.
	for source, c := range map[string]*apptest.Client{former: m.both, path: m.slow.Client} {
		outsideScope.check(t, c.Call(t, "POST", source+"/clone", nil))
		clone := c.Must(t, "POST", source+"/clone", `{"overrides":{"merchant":"`+of(c)+`"}}`)
		matches(t, clone["merchant"], `"`+of(c)+`"`)
	}
	m.both.Must(t, "POST", "/tasks", order(m.fast)) // the other connection remains
	m.both.Call(t, "DELETE", path, nil).OK(t)
}

// TestConnectedEventContract follows a task from its creation to its end, from both
// sides.
func TestConnectedEventContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		m := newMarket(t, p)
		base := "/" + of(m.shop) // the engines share the receiver
		worker, phone := courier(t, m.fast.Client, m.fast.north, "+12125550177")
		for _, trigger := range []int{0, 3, 6, 7, 8, 9} {
			hook(t, m.shop, receiver, base+"/shop", trigger)
			hook(t, m.fast.Client, receiver, base+"/deaf", trigger)
			id(t, m.fast.Client, "/webhooks", hookBody(receiver, base+"/fast", trigger, `,"canReceiveConnectionEvents":true`))
			hook(t, m.cafe, receiver, base+"/stranger", trigger)
			id(t, m.slow.Client, "/webhooks", hookBody(receiver, base+"/stranger", trigger, `,"canReceiveConnectionEvents":true`))
		}
		id(t, m.shop, "/webhooks", hookBody(receiver, base+"/arrival", 2, `,"threshold":100`))
		streams := map[string]*stream{}
		for name, c := range map[string]*apptest.Client{"shop": m.shop, "fast": m.fast.Client, "cafe": m.cafe, "slow": m.slow.Client} {
			streams[name] = follow(t, c, "")
			defer streams[name].close()
		}

		task := fmt.Sprint(placed(t, m.shop, order(m.fast))["id"])
		m.fast.Must(t, "PUT", "/tasks/"+task, `{"container":{"type":"WORKER","worker":"`+worker+`"}}`)
		m.shop.Must(t, "PUT", "/tasks/"+task, `{"notes":"by the client"}`)
		phone.standsAt(t, -73.98, 40.75)
		phone.do(t, "start", task, "s"+task, nil)
		phone.do(t, "arrive", task, "a"+task, nil)
		photo := phone.uploaded(t, asJPEG(t, drawing(40, 30)))
		outsideScope.check(t, m.shop.Call(t, "GET", "/uploads/"+photo, nil))
		phone.do(t, "complete", task, "c"+task, map[string]any{"success": true, "photoUploadIds": []string{photo}})
		matches(t, m.shop.Must(t, "GET", "/tasks/"+task, nil)["completionDetails"].(map[string]any)["photoUploadIds"], `["`+photo+`"]`)
		m.shop.Call(t, "GET", "/uploads/"+photo, nil).OK(t)
		for _, c := range []*apptest.Client{m.cafe, m.slow.Client} {
			outsideScope.check(t, c.Call(t, "GET", "/uploads/"+photo, nil))
		}
		gone := fmt.Sprint(placed(t, m.shop, order(m.fast))["id"])
		m.shop.Call(t, "DELETE", "/tasks/"+gone, nil).OK(t)

		want := []string{
			"taskCreated", "taskAssigned", "taskUpdated", "taskUpdated", "taskStarted", "taskUpdated", "taskCompleted", "taskUpdated", "taskCreated", "taskDeleted",
		}
		for _, side := range []string{"/shop", "/fast"} {
			posts := receiver.Await(t, base+side, len(want))
			var names []string
			for _, post := range posts {
				var event map[string]any
				if err := json.Unmarshal(post.Body, &event); err != nil {
					t.Fatal(err)
				}
				names = append(names, fmt.Sprint(event["triggerName"]))
				checkSide(t, m, side == "/shop", event)
			}
			slices.Sort(names)
			if !slices.Equal(names, slices.Sorted(slices.Values(want))) {
				t.Errorf("%s received %q, want %q", side, names, want)
			}
		}
		if posts := receiver.Await(t, base+"/arrival", 1); !strings.Contains(string(posts[0].Body), `"taskArrival"`) {
			t.Errorf("arrived %s", posts[0].Body)
		}
		for _, side := range []string{"shop", "fast"} {
			var seen []string
			for len(seen) < len(want) {
				e := <-streams[side].events
				if strings.HasPrefix(e.event, "task") && e.event != "taskArrival" {
					seen = append(seen, e.event)
				}
			}
			if !slices.Equal(seen, want) {
				t.Errorf("%s streamed %q, want %q", side, seen, want)
			}
		}
		// Events for others never arrive: those of these tasks come after all of them.
		m.cafe.Must(t, "POST", "/tasks", newTask())
		m.slow.Must(t, "POST", "/tasks", newTask())
		m.fast.Must(t, "POST", "/tasks", newTask())
		for _, side := range []string{"cafe", "slow"} {
			if e := <-streams[side].events; strings.Contains(e.data, task) || e.event != "taskCreated" {
				t.Errorf("%s streamed %s", side, e.data)
			}
		}
		for _, side := range []string{"/stranger", "/deaf"} {
			for _, post := range receiver.Await(t, base+side, 1) {
				if strings.Contains(string(post.Body), task) || strings.Contains(string(post.Body), gone) {
					t.Errorf("%s received %s", side, post.Body)
				}
			}
		}

		t.Run("the recipient sees the client's name if the client wants that", func(t *testing.T) {
			page := link(t, m.shop, task)
			matches(t, state(t, page)["organization"], `"Shop"`)
			bodies := ""
			for _, message := range p.Outbox(t, "+12125550199") {
				if message.Organization != m.fast.Organization.ID {
					t.Errorf("sent by %s", message.Organization)
				}
				bodies += message.Body
			}
			if !strings.Contains(bodies, "Shop: ") || strings.Contains(bodies, "Fast Couriers") {
				t.Errorf("sent %q", bodies)
			}
			m.fast.Must(t, "PUT", "/clients/"+of(m.cafe), `{"showClientName":false}`)
			hidden := fmt.Sprint(placed(t, m.cafe, strings.Replace(order(m.fast), "0199", "0197", 1))["id"])
			matches(t, state(t, link(t, m.cafe, hidden))["organization"], `"Fast Couriers"`)
			m.fast.Must(t, "PUT", "/tasks/"+hidden, `{"container":{"type":"WORKER","worker":"`+worker+`"}}`)
			phone.do(t, "start", hidden, "s"+hidden, nil)
			if sent := p.Outbox(t, "+12125550197"); len(sent) != 1 || !strings.HasPrefix(sent[0].Body, "Fast Couriers: ") {
				t.Errorf("sent %+v", sent)
			}
		})
	}, receiver.Reach)
}

// checkSide checks that an event of a placed task has what its side may see.
func checkSide(t *testing.T, m market, origin bool, event map[string]any) {
	t.Helper()
	data, by := event["data"].(map[string]any), fmt.Sprint(event["actionContext"])
	matches(t, data["task"].(map[string]any)["organization"], `"`+of(m.shop)+`"`)
	if origin && data["worker"] != nil {
		t.Errorf("the origin sees the worker: %v", event)
	}
	name := event["triggerName"]
	if !origin && name == "taskAssigned" && data["worker"] == nil {
		t.Errorf("the executor does not see the worker: %v", event)
	}
	if name == "taskCreated" || name == "taskDeleted" {
		matches(t, event["actionContext"], `{"type":"API","id":"`+of(m.shop)+`"}`)
	}
	if origin && name == "taskAssigned" && by != fmt.Sprint(map[string]any{"type": "API", "id": of(m.fast.Client)}) {
		t.Errorf("the origin sees that %s assigned the task", by)
	}
}
