package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	orders "dray/internal/order"
	"dray/internal/ordering"
)

// trade is a courier with a team, and a client of it.
type trade struct {
	courier, shop *apptest.Client
	clientID      string
	team          string
}

func newTrade(t testing.TB, p *apptest.Platform, name string) trade {
	t.Helper()
	m := trade{courier: p.Organization(t, name+" Courier"), shop: p.Organization(t, name+" Shop")}
	m.clientID = id(t, m.courier, "/clients", `{"organization":"`+string(m.shop.Organization.ID)+`","name":"`+name+`"}`)
	m.shop.Must(t, "POST", "/clients/invitations/"+m.clientID+"/accept", nil)
	m.team = driverTeam(t, m.courier, name, false)
	return m
}

// Destinations and tasks of the delivery that most tests order.
const (
	pickupPlace  = `"destination":{"address":{"number":"1","street":"Main","city":"New York","country":"US"},"location":[-73.98,40.75]}`
	dropoffPlace = `"destination":{"address":{"number":"2","street":"Main","city":"New York","country":"US"},"location":[-73.98,40.70]}`
	bothTasks    = `"pickupTask":{` + pickupPlace + `},"dropoffTask":{` + dropoffPlace + `,"recipients":[{"name":"Mary","phone":"+12125550142"}]}`
)

// placed places an order and returns it.
func (m trade) placed(t testing.TB, more string) map[string]any {
	t.Helper()
	return m.shop.Must(t, "POST", "/taskOrders", `{`+bothTasks+more+`}`)
}

// part returns a field of a part of an order.
func part(o map[string]any, path ...string) any {
	var value any = o
	for _, key := range path {
		value = value.(map[string]any)[key]
	}
	return value
}

// history returns the events of an order, each as "name status".
func history(o map[string]any) string {
	var steps []string
	for _, e := range o["events"].([]any) {
		event := e.(map[string]any)
		steps = append(steps, fmt.Sprint(event["name"], " ", event["status"]))
	}
	return strings.Join(steps, ", ")
}

func TestOrderContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("an order is two linked tasks of the courier", func(t *testing.T) { testOrderPlaced(t, p) })
		t.Run("a price is frozen when the order is placed", func(t *testing.T) { testOrderPrice(t, p) })
		t.Run("a priced order stays the delivery that was priced", func(t *testing.T) { testOrderStaysPriced(t, p) })
		t.Run("status and events follow the tasks", func(t *testing.T) { testOrderCarriedOut(t, p) })
		t.Run("an order is changed until it is started", func(t *testing.T) { testOrderChanges(t, p) })
		t.Run("an invalid order is rejected", func(t *testing.T) { testOrderRejects(t, p) })
		t.Run("only its client and its courier reach an order", func(t *testing.T) { testOrderScope(t, p) })
		t.Run("dispatch keeps the tasks of an order together", func(t *testing.T) { testOrderDispatch(t, p) })
	}, quick)
}

func testOrderPlaced(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Placed")
	courier, shop := string(m.courier.Organization.ID), string(m.shop.Organization.ID)
	made := m.placed(t, `,"price":12.5,"currency":"eur"`)
	pickup, dropoff := made["pickupTask"].(map[string]any), made["dropoffTask"].(map[string]any)
	delete(made, "pickupTask")
	delete(made, "dropoffTask")
	shortID := fmt.Sprint(made["shortId"])
	matches(t, made, `{"id":"<id>","shortId":`+text(shortID)+`,"timeCreated":"<now>","timeLastModified":"<now>","source":"API","events":[{"name":"created","time":"<now>","status":"unassigned"}],
		"deliveryService":null,"deliveryServiceName":null,"orchestrationDetails":null,"price":12.5,"priceBreakdown":[{"name":"Price","ratingType":"flat","isBaseRate":true,"cost":12.5}],"currency":"EUR","deliveryServiceInvoice":null,
		"status":"unassigned","rejectionReason":null,"clientId":`+text(m.clientID)+`,"courierId":`+text(courier)+`,"clientName":"Placed"}`)
	for i, task := range []map[string]any{pickup, dropoff} {
		for field, want := range map[string]any{"type": float64(i), "pickupTask": i == 0, "orderShortId": shortID, "organization": shop, "executor": courier, "merchant": shop, "state": 0.0, "worker": nil} {
			if task[field] != want {
				t.Errorf("%s of task %d is %v, want %v", field, i, task[field], want)
			}
		}
		matches(t, task["container"], `{"type":"ORGANIZATION","organization":`+text(courier)+`}`)
		matches(t, []any{task["customRequirements"], task["bulkTasks"]}, `[[],[]]`)
		matches(t, []any{part(task, "destination", "organization"), part(task, "destination", "wasGeocoded"), part(task, "destination", "createdByLocation")}, `[`+text(shop)+`,false,true]`)
	}
	matches(t, pickup["dependencies"], `[]`)
	matches(t, dropoff["dependencies"], `[`+text(fmt.Sprint(pickup["id"]))+`]`)
	matches(t, pickup["recipients"], `[]`)

	t.Run("either side reads it, by either id", func(t *testing.T) {
		for _, c := range []*apptest.Client{m.shop, m.courier} {
			for _, by := range []string{shortID, fmt.Sprint(made["id"])} {
				got := c.Must(t, "GET", "/taskOrders/"+by, nil)
				matches(t, got["pickupTask"], string(encode(t, pickup)))
				matches(t, got["dropoffTask"], string(encode(t, dropoff)))
			}
			matches(t, c.Must(t, "GET", "/tasks/"+fmt.Sprint(pickup["id"]), nil)["orderShortId"], text(shortID))
		}
		if listed := m.courier.Must(t, "GET", "/containers/organizations/"+courier, nil)["tasks"]; len(listed.([]any)) != 2 {
			t.Errorf("the courier's container has %v", listed)
		}
	})
	t.Run("a courier places orders for its client", func(t *testing.T) {
		for _, client := range []string{m.clientID, shop} {
			made := m.courier.Must(t, "POST", "/taskOrders", `{`+bothTasks+`,"client":"`+client+`"}`)
			matches(t, []any{made["clientId"], part(made, "dropoffTask", "organization"), made["price"], made["priceBreakdown"], made["currency"]}, `[`+text(m.clientID)+`,`+text(shop)+`,null,null,null]`)
			m.shop.Must(t, "GET", "/taskOrders/"+fmt.Sprint(made["shortId"]), nil)
		}
		malformed.check(t, m.courier.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`), "client")
	})
	t.Run("a repeated request places it once", func(t *testing.T) {
		first := m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`, "Idempotency-Key", "once").OK(t)
		again := m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`, "Idempotency-Key", "once").OK(t)
		if string(first.Body) != string(again.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("first %s, then %s", first.Body, again.Body)
		}
		id := fmt.Sprint(first.Object(t)["id"])
		for range 2 {
			m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+id+`"]}`, "Idempotency-Key", "cancel").OK(t)
		}
		other := m.placed(t, "")
		for range 2 {
			m.shop.Call(t, "POST", "/taskOrders/"+fmt.Sprint(other["shortId"])+"/clone", `{}`, "Idempotency-Key", "clone").OK(t)
			m.courier.Call(t, "POST", "/taskOrders/"+fmt.Sprint(other["shortId"])+"/reject", `{"reason":"Full"}`, "Idempotency-Key", "reject").OK(t)
		}
	})
	t.Run("a task of an order is not deleted or taken apart alone", func(t *testing.T) {
		for _, c := range []*apptest.Client{m.shop, m.courier} {
			invalid.check(t, c.Call(t, "DELETE", "/tasks/"+fmt.Sprint(pickup["id"]), nil), shortID, "cancel", "reject")
			invalid.check(t, c.Call(t, "PUT", "/tasks/"+fmt.Sprint(dropoff["id"]), `{"dependencies":[]}`), "dependencies", fmt.Sprint(pickup["id"]))
			invalid.check(t, c.Call(t, "PUT", "/tasks/"+fmt.Sprint(dropoff["id"]), `{"pickupTask":true}`), "pickupTask", shortID)
		}
	})
	t.Run("the drop-off depends on the pickup, wherever that is listed", func(t *testing.T) {
		other := id(t, m.shop, "/tasks", `{"destination":`+inline+`,"recipients":[],"executor":"`+courier+`"}`)
		first, path := fmt.Sprint(pickup["id"]), "/tasks/"+fmt.Sprint(dropoff["id"])
		for _, c := range []*apptest.Client{m.shop, m.courier} {
			matches(t, c.Must(t, "PUT", path, `{"dependencies":`+idList(other, first)+`}`)["dependencies"], idList(other, first))
			invalid.check(t, c.Call(t, "PUT", path, `{"dependencies":`+idList(other)+`}`), "dependencies", first, shortID)
			matches(t, c.Must(t, "PUT", path, `{"dependencies":`+idList(first)+`}`)["dependencies"], idList(first))
		}
		after := func(ids ...string) string {
			return `{"pickupTask":{` + pickupPlace + `},"dropoffTask":{` + dropoffPlace + `,"dependencies":` + idList(ids...) + `}}`
		}
		made := m.shop.Must(t, "POST", "/taskOrders", after(other))
		matches(t, part(made, "dropoffTask", "dependencies"), idList(fmt.Sprint(part(made, "pickupTask", "id")), other))
		outsideScope.check(t, m.shop.Call(t, "POST", "/taskOrders", after(driverTask(t, m.courier, nil))))
		notFound.check(t, m.shop.Call(t, "POST", "/taskOrders", after(unknownID)))
	})
}

func testOrderPrice(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Priced")
	service := id(t, m.courier, "/deliveryServices", `{"displayName":"Express","currency":"USD","dueIn":60,"limits":{"quantity":5},
		"rates":[`+flatRate+`,{"name":"Pieces","ratingType":"quantity","amount":1.5},{"name":"Weight","ratingType":"weight","amount":0.1}]}`)
	ready := p.Now().Add(time.Hour).UnixMilli()
	quote := func(t *testing.T) map[string]any {
		t.Helper()
		return m.shop.Call(t, "POST", "/deliveryServices/quote", fmt.Sprintf(`{"readyBy":%d,"quantity":3,"weight":{"value":2,"units":"kg"},"pickup":{"city":"X","country":"US","location":[-73.98,40.75]},"dropoff":{"city":"X","country":"US","location":[-73.98,40.70]}}`, ready)).OK(t).List(t)[0]
	}
	malformed.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`), "deliveryServiceId")

	q := quote(t)
	made := m.placed(t, `,"deliveryServiceId":"`+fmt.Sprint(q["id"])+`"`)
	matches(t, []any{made["price"], made["currency"], made["deliveryService"], part(made, "pickupTask", "completeAfter"), part(made, "dropoffTask", "completeBefore")},
		fmt.Sprintf(`[8.7,"USD",%q,%d,%d]`, service, ready, ready+3_600_000))
	matches(t, made["priceBreakdown"], `[{"id":"<id>","name":"Base","ratingType":"flat","isBaseRate":true,"cost":4},{"id":"<id>","name":"Pieces","ratingType":"quantity","isBaseRate":false,"cost":4.5},{"id":"<id>","name":"Weight","ratingType":"weight","isBaseRate":false,"cost":0.2}]`)

	for _, side := range []*apptest.Client{m.shop, m.courier} {
		if got := side.Must(t, "GET", "/taskOrders/"+fmt.Sprint(made["id"]), nil)["deliveryServiceName"]; got != "Express" {
			t.Errorf("the service is called %v", got)
		}
	}
	direct := m.placed(t, fmt.Sprintf(`,"deliveryServiceId":%q,"quantity":2,"weight":{"value":10,"units":"kg"},"price":8,"currency":"USD"`, service))
	matches(t, direct["price"], `8`)
	byTasks := m.shop.Must(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+service+`","pickupTask":{`+pickupPlace+`,"quantity":4},"dropoffTask":{`+dropoffPlace+`}}`)
	matches(t, byTasks["price"], `10`)
	byMore := m.shop.Must(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+service+`","price":10,"currency":"usd","pickupTask":{`+pickupPlace+`,"quantity":4},"dropoffTask":{`+dropoffPlace+`,"quantity":2}}`)
	matches(t, byMore["price"], `10`)
	m.placed(t, `,"deliveryServiceId":"`+fmt.Sprint(q["id"])+`","quantity":3,"weight":{"value":4.4,"units":"lbs"}`)
	for words, more := range map[string]string{
		"price 8.70":                  `,"deliveryServiceId":"` + fmt.Sprint(q["id"]) + `","price":8`,
		"currency USD":                `,"deliveryServiceId":"` + fmt.Sprint(q["id"]) + `","price":8.7,"currency":"EUR"`,
		"currency USD left":           `,"deliveryServiceId":"` + fmt.Sprint(q["id"]) + `","currency":"EUR"`,
		"quantity 3 quote":            `,"deliveryServiceId":"` + fmt.Sprint(q["id"]) + `","quantity":4`,
		"weight 2 kg quote":           `,"deliveryServiceId":"` + fmt.Sprint(q["id"]) + `","weight":{"value":4.42,"units":"lbs"}`,
		"deliveryServiceId Express 5": `,"deliveryServiceId":"` + service + `","quantity":6`,
		"quantity 1":                  `,"deliveryServiceId":"` + service + `","quantity":0`,
		"weight.units kg":             `,"deliveryServiceId":"` + service + `","weight":{"value":1,"units":"g"}`,
	} {
		invalid.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+more+`}`), strings.Fields(words)...)
	}
	invalid.check(t, m.shop.Call(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+fmt.Sprint(q["id"])+`","pickupTask":{`+pickupPlace+`},"dropoffTask":{`+strings.Replace(dropoffPlace, "40.70", "40.60", 1)+`}}`), "dropoffTask.destination", "km", "quote")
	notFound.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+unknownID+`"}`))

	m.courier.Must(t, "PUT", "/deliveryServices/"+service, `{"rates":[`+strings.Replace(flatRate, "4", "99", 1)+`]}`)
	later := m.placed(t, `,"deliveryServiceId":"`+fmt.Sprint(q["id"])+`"`)
	matches(t, []any{later["price"], m.shop.Must(t, "GET", "/taskOrders/"+fmt.Sprint(made["shortId"]), nil)["price"]}, `[8.7,8.7]`)
	m.courier.Call(t, "DELETE", "/deliveryServices/"+service, nil).OK(t)
	matches(t, m.placed(t, `,"deliveryServiceId":"`+fmt.Sprint(q["id"])+`"`)["price"], `8.7`)
	preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders/"+fmt.Sprint(made["shortId"])+"/clone", nil), "service")
	p.Advance(orders.QuoteLifetime)
	preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+fmt.Sprint(q["id"])+`"}`), "expired")
}

// testOrderStaysPriced: a client can neither order another delivery than the priced one,
// nor turn an order into one.
func testOrderStaysPriced(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Stays")
	service := id(t, m.courier, "/deliveryServices", `{"displayName":"Express","currency":"USD","dueIn":120,"rates":[`+flatRate+`]}`)
	ready := p.Now().Add(4 * time.Hour).Truncate(time.Hour)
	quote := fmt.Sprint(m.shop.Call(t, "POST", "/deliveryServices/quote", fmt.Sprintf(`{"readyBy":%d,"quantity":1,"weight":{"value":2,"units":"kg"},"pickup":{"city":"X","country":"US","location":[-73.98,40.75]},"dropoff":{"city":"X","country":"US","location":[-73.98,40.70]}}`, ready.UnixMilli())).OK(t).List(t)[0]["id"])
	far := func(place string) string { return strings.Replace(place, "40.7", "40.8", 1) }
	near := func(place string) string { return strings.Replace(place, "-73.98", "-73.985", 1) }
	at := func(field string, after time.Duration) string {
		return fmt.Sprintf(`"%s":%d`, field, ready.Add(after).UnixMilli())
	}
	const tolerance = orders.MaxDelayed
	cases := []struct{ pickup, dropoff, rejected string }{
		{at("completeAfter", tolerance), at("completeBefore", 2*time.Hour), ""},
		{at("completeAfter", -tolerance), at("completeBefore", 2*time.Hour-time.Minute), ""},
		{`"completeAfter":null`, at("completeBefore", 9*time.Hour), ""},
		{near(pickupPlace), near(dropoffPlace), ""},
		{at("completeAfter", tolerance+1e6), `"notes":"x"`, "pickupTask.completeAfter"},
		{at("completeAfter", -tolerance-1e6), `"notes":"x"`, "pickupTask.completeAfter"},
		{`"notes":"x"`, at("completeBefore", 2*time.Hour-time.Minute-1e6), "dropoffTask.completeBefore"},
		{far(pickupPlace), `"notes":"x"`, "pickupTask.destination"},
		{`"notes":"x"`, far(dropoffPlace), "dropoffTask.destination"},
	}
	body := func(pickup, dropoff string) string {
		if !strings.Contains(pickup, "destination") {
			pickup += "," + pickupPlace
		}
		if !strings.Contains(dropoff, "destination") {
			dropoff += "," + dropoffPlace
		}
		return `"pickupTask":{` + pickup + `},"dropoffTask":{` + dropoff + `}`
	}
	for _, tt := range cases {
		sent := m.shop.Call(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+quote+`",`+body(tt.pickup, tt.dropoff)+`}`)
		if tt.rejected != "" {
			invalid.check(t, sent, tt.rejected, "priced", "quote")
			continue
		}
		sent.OK(t)
	}
	for name, by := range map[string]string{"quote": quote, "service": service} {
		made := m.shop.Must(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+by+`",`+body(at("completeAfter", 0), at("completeBefore", 2*time.Hour))+`}`)
		path := "/taskOrders/" + fmt.Sprint(made["shortId"])
		for _, tt := range cases {
			sent := m.shop.Call(t, "PUT", path, `{"pickupTask":{`+tt.pickup+`},"dropoffTask":{`+tt.dropoff+`}}`)
			if tt.rejected != "" {
				invalid.check(t, sent, tt.rejected, "priced")
				continue
			}
			sent.OK(t)
		}
		for _, leg := range []string{"pickupTask", "dropoffTask"} {
			task := "/tasks/" + fmt.Sprint(part(made, leg, "id"))
			for field, sent := range map[string]string{"destination": near(far(pickupPlace)), "completeAfter": at("completeAfter", time.Hour), "completeBefore": at("completeBefore", 90*time.Minute), "quantity": `"quantity":5`} {
				invalid.check(t, m.shop.Call(t, "PUT", task, `{`+sent+`}`), field, fmt.Sprint(made["shortId"]))
			}
			now := m.shop.Must(t, "GET", task, nil)
			changed(t, name+": what was read", now, m.shop.Must(t, "PUT", task, string(encode(t, now))))
			m.shop.Must(t, "PUT", task, `{"notes":"Back door","metadata":[{"name":"a","type":"string","value":"b"}]}`)
		}
		// The courier can, and its changes do not keep the client from changing the rest.
		m.courier.Must(t, "PUT", path, `{"pickupTask":{`+far(pickupPlace)+`},"dropoffTask":{`+at("completeBefore", time.Hour)+`,`+far(dropoffPlace)+`}}`)
		m.courier.Must(t, "PUT", "/tasks/"+fmt.Sprint(part(made, "pickupTask", "id")), `{`+at("completeAfter", -2*time.Hour)+`}`)
		matches(t, m.shop.Must(t, "PUT", path, `{"pickupTask":{"notes":"Front door"},"dropoffTask":{"notes":"y"}}`)["price"], string(encode(t, made["price"])))
	}
}

func testOrderCarriedOut(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Carried")
	worker, phone := hire(t, m.courier, m.team, string(apptest.Phone()))
	phone.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	read := func(c *apptest.Client, o map[string]any) map[string]any {
		return c.Must(t, "GET", "/taskOrders/"+fmt.Sprint(o["shortId"]), nil)
	}
	check := func(o map[string]any, status, steps string) {
		t.Helper()
		for _, c := range []*apptest.Client{m.shop, m.courier} {
			if got := read(c, o); got["status"] != status || history(got) != "created unassigned"+steps {
				t.Errorf("the order is %v, after %s; want %s, after created unassigned%s", got["status"], history(got), status, steps)
			}
		}
	}
	begin := func() (o map[string]any, pickup, dropoff string) {
		o = m.placed(t, "")
		return o, fmt.Sprint(part(o, "pickupTask", "id")), fmt.Sprint(part(o, "dropoffTask", "id"))
	}
	assign := func(tasks ...string) {
		t.Helper()
		m.courier.Must(t, "PUT", "/containers/workers/"+worker, map[string]any{"tasks": append([]any{-1}, anys(tasks)...)})
	}

	o, pickup, dropoff := begin()
	check(o, "unassigned", "")
	assign(pickup)
	check(o, "unassigned", ", assigned unassigned")
	assign(dropoff)
	const assigned = ", assigned unassigned, assigned assigned"
	check(o, "assigned", assigned)
	invalid.check(t, phone.try(t, "start", dropoff, "early"+dropoff, nil), pickup)
	phone.do(t, "start", pickup, "s"+pickup, nil)
	check(o, "active", assigned+", started active")
	for _, c := range []*apptest.Client{m.shop, m.courier} {
		preconditionFailed.check(t, c.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(o["id"])+`"]}`), "active")
		preconditionFailed.check(t, c.Call(t, "PUT", "/taskOrders/"+fmt.Sprint(o["shortId"]), `{"pickupTask":{"notes":"x"},"dropoffTask":{"notes":"x"}}`), "active")
	}
	preconditionFailed.check(t, m.courier.Call(t, "POST", "/taskOrders/"+fmt.Sprint(o["shortId"])+"/reject", `{"reason":"x"}`), "active")
	phone.do(t, "complete", pickup, "c"+pickup, map[string]any{"success": true})
	check(o, "active", assigned+", started active, completed active")
	phone.do(t, "start", dropoff, "s"+dropoff, nil)
	phone.do(t, "complete", dropoff, "c"+dropoff, map[string]any{"success": true})
	const done = assigned + ", started active, completed active, started active, completed completed"
	check(o, "completed", done)
	for name, c := range map[string]*apptest.Client{"the client": m.shop, "the courier": m.courier} {
		for task, want := range map[string]string{
			pickup:  "taskCreated taskAssigned taskUpdated taskStarted taskCompleted taskUpdated",
			dropoff: "taskCreated taskAssigned taskUpdated taskStarted taskCompleted taskUpdated",
		} {
			if got := strings.Join(triggers(t, c, "taskId", task), " "); got != want {
				t.Errorf("%s sees %s, want %s", name, got, want)
			}
		}
	}
	preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(o["shortId"])+`"]}`), "completed")
	matches(t, part(read(m.shop, o), "dropoffTask", "completionDetails", "success"), `true`)

	o, pickup, dropoff = begin()
	assign(pickup, dropoff)
	m.courier.Must(t, "PUT", "/containers/teams/"+m.team, map[string]any{"tasks": []any{-1, pickup}})
	check(o, "unassigned", assigned+", unassigned unassigned")
	assign(pickup)
	phone.do(t, "start", pickup, "s"+pickup, nil)
	phone.do(t, "complete", pickup, "c"+pickup, map[string]any{"success": false, "failureReason": "NO_ACCESS"})
	check(o, "failed", assigned+", unassigned unassigned, assigned assigned, started active, failed failed")
	preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(o["id"])+`"]}`), "failed")
}

func testOrderChanges(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Changed")
	made := m.placed(t, "")
	path := "/taskOrders/" + fmt.Sprint(made["shortId"])
	before := m.shop.Must(t, "GET", path, nil)
	updated := m.shop.Must(t, "PUT", "/taskOrders/"+fmt.Sprint(made["id"]), `{"pickupTask":{"notes":"Back door","requirements":{"photo":true},"quantity":7},
		"dropoffTask":{"destination":{"address":{"city":"Boston","country":"US"},"location":[-71,42]},"recipients":[{"name":"Ann","phone":"+12125550143"}],"completeAfter":4000000000000,"completeBefore":4000000060000}}`)
	pickup, dropoff := updated["pickupTask"].(map[string]any), updated["dropoffTask"].(map[string]any)
	changed(t, "the pickup", before["pickupTask"].(map[string]any), pickup, "notes", "requirements")
	changed(t, "the drop-off", before["dropoffTask"].(map[string]any), dropoff, "destination", "recipients", "completeAfter", "completeBefore")
	matches(t, []any{pickup["notes"], part(pickup, "requirements", "photo"), pickup["quantity"], part(dropoff, "destination", "location"), dropoff["recipients"].([]any)[0].(map[string]any)["name"]}, `["Back door",true,0,[-71,42],"Ann"]`)
	matches(t, m.courier.Must(t, "GET", path, nil), string(encode(t, updated)))
	if got := history(updated); got != "created unassigned, updated unassigned" {
		t.Errorf("after the change: %s", got)
	}
	back := m.shop.Must(t, "PUT", path, `{"pickupTask":`+string(encode(t, pickup))+`,"dropoffTask":`+string(encode(t, dropoff))+`}`) // what was read can be sent
	matches(t, back, string(encode(t, updated)))
	malformed.check(t, m.shop.Call(t, "PUT", path, `{"pickupTask":{}}`), "dropoffTask")
	malformed.check(t, m.shop.Call(t, "PUT", path, `{"dropoffTask":{}}`), "pickupTask")
	invalid.check(t, m.shop.Call(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{"completeBefore":3999999999999}}`), "dropoffTask.completeAfter")
	malformed.check(t, m.shop.Call(t, "PUT", path, `{"pickupTask":{"destination":{"location":[1,2]}},"dropoffTask":{}}`), "pickupTask.destination.address")

	clone := m.shop.Must(t, "POST", path+"/clone", nil)
	for _, leg := range []string{"pickupTask", "dropoffTask"} {
		for _, field := range []string{"id", "shortId"} {
			if part(clone, leg, field) == part(updated, leg, field) {
				t.Errorf("%s.%s is that of the source", leg, field)
			}
		}
		matches(t, []any{part(clone, leg, "destination", "location"), part(clone, leg, "notes"), part(clone, leg, "completeAfter"), part(clone, leg, "completeBefore"), part(clone, leg, "orderShortId")},
			string(encode(t, []any{part(updated, leg, "destination", "location"), part(updated, leg, "notes"), nil, nil, clone["shortId"]})))
		if part(clone, leg, "destination", "id") == part(updated, leg, "destination", "id") {
			t.Errorf("%s has the destination of the source", leg)
		}
	}
	matches(t, part(clone, "dropoffTask", "dependencies"), `[`+text(fmt.Sprint(part(clone, "pickupTask", "id")))+`]`)
	forbidden.check(t, m.courier.Call(t, "POST", path+"/clone", nil), "client")

	matches(t, m.shop.Must(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(made["id"])+`","`+fmt.Sprint(clone["shortId"])+`","`+fmt.Sprint(clone["id"])+`"]}`), `{"status":"success","totalOrdersRemoved":2}`)
	for _, c := range []*apptest.Client{m.shop, m.courier} {
		gone := c.Must(t, "GET", path, nil)
		if gone["status"] != "cancelled" || history(gone) != "created unassigned, updated unassigned, cancelled cancelled" {
			t.Errorf("it is %v after %s", gone["status"], history(gone))
		}
		matches(t, part(gone, "pickupTask", "notes"), `"Back door"`)
		notFound.check(t, c.Call(t, "GET", "/tasks/"+fmt.Sprint(pickup["id"]), nil))
	}
	for _, what := range []string{"cancelled", "changed"} {
		call := m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(made["id"])+`"]}`)
		if what == "changed" {
			call = m.shop.Call(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{}}`)
		}
		preconditionFailed.check(t, call, "cancelled", what)
	}

	t.Run("cancelling is all or none", func(t *testing.T) {
		kept := m.placed(t, "")
		for _, ids := range []string{`"` + fmt.Sprint(kept["id"]) + `","` + unknownID + `"`, `"` + unknownID + `","` + fmt.Sprint(kept["id"]) + `"`} {
			notFound.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":[`+ids+`]}`))
		}
		preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(kept["id"])+`","`+fmt.Sprint(made["id"])+`"]}`))
		malformed.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{}`), "orderIds")
		invalid.check(t, m.shop.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["x`+strings.Join(manyIDs(orders.MaxCancelled), `","`)+`"]}`), "orderIds", fmt.Sprint(orders.MaxCancelled))
		invalid.check(t, m.courier.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(kept["id"])+`"],"client":"`+unknownID+`"}`), "client")
		matches(t, m.shop.Must(t, "GET", "/taskOrders/"+fmt.Sprint(kept["shortId"]), nil)["status"], `"unassigned"`)
		m.courier.Must(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(kept["id"])+`","`+fmt.Sprint(kept["id"])+`"],"client":"`+m.clientID+`"}`)
	})
	t.Run("a courier rejects an order for a reason", func(t *testing.T) {
		rejected := m.placed(t, "")
		path := "/taskOrders/" + fmt.Sprint(rejected["shortId"])
		forbidden.check(t, m.shop.Call(t, "POST", path+"/reject", `{"reason":"x"}`), "courier")
		malformed.check(t, m.courier.Call(t, "POST", path+"/reject", `{}`), "reason")
		invalid.check(t, m.courier.Call(t, "POST", path+"/reject", `{"reason":"`+strings.Repeat("x", 1001)+`"}`), "reason", "1000")
		gone := m.courier.Must(t, "POST", path+"/reject", `{"reasons":"No room"}`)
		matches(t, []any{gone["status"], gone["rejectionReason"]}, `["rejected","No room"]`)
		matches(t, m.shop.Must(t, "GET", path, nil), string(encode(t, gone)))
		preconditionFailed.check(t, m.courier.Call(t, "POST", path+"/reject", `{"reason":"x"}`), "rejected")
	})
	t.Run("open orders stay when the client is deleted", func(t *testing.T) {
		open := m.placed(t, "")
		m.courier.Call(t, "DELETE", "/clients/"+m.clientID, nil).OK(t)
		for _, c := range []*apptest.Client{m.shop, m.courier} {
			c.Must(t, "GET", "/taskOrders/"+fmt.Sprint(open["shortId"]), nil)
		}
		malformed.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`), "client")
		m.shop.Must(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+fmt.Sprint(open["id"])+`"]}`)
	})
}

// manyIDs returns n+1 ids.
func manyIDs(n int) (ids []string) {
	for i := range n + 1 {
		ids = append(ids, fmt.Sprintf("order%019d", i))
	}
	return ids
}

func testOrderRejects(t *testing.T, p *apptest.Platform) {
	m, other := newTrade(t, p, "Rejected"), newTrade(t, p, "Other")
	const pickup, dropoff = `"pickupTask":{` + pickupPlace + `}`, `"dropoffTask":{` + dropoffPlace + `}`
	for name, tt := range map[string]struct {
		body  string
		want  rejection
		words []string
	}{
		"no body":                   {``, malformed, []string{"pickupTask"}},
		"no drop-off":               {`{` + pickup + `}`, malformed, []string{"dropoffTask"}},
		"a task as a text":          {`{"pickupTask":"x",` + dropoff + `}`, malformed, []string{"pickupTask", "object"}},
		"no destination":            {`{` + pickup + `,"dropoffTask":{}}`, malformed, []string{"dropoffTask.destination"}},
		"no address":                {`{"pickupTask":{"destination":{"location":[1,2]}},` + dropoff + `}`, malformed, []string{"pickupTask.destination.address"}},
		"a recipient without phone": {`{` + pickup + `,"dropoffTask":{` + dropoffPlace + `,"recipients":[{"name":"x"}]}}`, malformed, []string{"dropoffTask.recipients[0].phone"}},
		"two recipients":            {`{` + pickup + `,"dropoffTask":{` + dropoffPlace + `,"recipients":[{"name":"x","phone":"+12125550144"},{"name":"y","phone":"+12125550145"}]}}`, invalid, []string{"dropoffTask.recipients"}},
		"a container":               {`{"pickupTask":{` + pickupPlace + `,"container":{"type":"WORKER","worker":"x"}},` + dropoff + `}`, invalid, []string{"pickupTask.container"}},
		"automatic assignment":      {`{"pickupTask":{` + pickupPlace + `,"autoAssign":{"mode":"load"}},` + dropoff + `}`, invalid, []string{"pickupTask.autoAssign"}},
		"a price without currency":  {`{` + bothTasks + `,"price":5}`, malformed, []string{"currency"}},
		"an unknown currency":       {`{` + bothTasks + `,"currency":"ZZZ"}`, invalid, []string{"currency", "ZZZ"}},
		"a negative quantity":       {`{` + bothTasks + `,"quantity":-1}`, invalid, []string{"quantity"}},
		"a weight in grams":         {`{` + bothTasks + `,"weight":{"value":1,"units":"g"}}`, invalid, []string{"weight.units"}},
		"another client of courier": {`{` + bothTasks + `,"courier":"` + string(m.courier.Organization.ID) + `","client":"x"}`, invalid, []string{"client"}},
		"a price of half a yen":     {`{` + bothTasks + `,"price":5.5,"currency":"JPY"}`, invalid, []string{"price", "JPY"}},
		"a negative price":          {`{` + bothTasks + `,"price":-5,"currency":"USD"}`, invalid, []string{"price"}},
		"an unknown courier":        {`{` + bothTasks + `,"courier":"` + unknownID + `"}`, notFound, []string{unknownID}},
		"another's client":          {`{` + bothTasks + `,"client":"` + other.clientID + `"}`, outsideScope, []string{other.clientID}},
		"another's merchant":        {`{"pickupTask":{` + pickupPlace + `,"merchant":"` + string(other.shop.Organization.ID) + `"},` + dropoff + `}`, outsideScope, nil},
		"a window that ends first":  {`{"pickupTask":{` + pickupPlace + `,"completeAfter":4000000060000,"completeBefore":4000000000000},` + dropoff + `}`, invalid, []string{"pickupTask.completeAfter"}},
	} {
		t.Run(name, func(t *testing.T) { tt.want.check(t, m.shop.Call(t, "POST", "/taskOrders", tt.body), tt.words...) })
	}
	if left := m.courier.Must(t, "GET", "/containers/organizations/"+string(m.courier.Organization.ID), nil)["tasks"]; len(left.([]any)) != 0 {
		t.Errorf("tasks of rejected orders are left: %v", left)
	}
	t.Run("a client of several couriers chooses one", func(t *testing.T) {
		invited := id(t, other.courier, "/clients", `{"organization":"`+string(m.shop.Organization.ID)+`"}`)
		preconditionFailed.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"courier":"`+string(other.courier.Organization.ID)+`"}`))
		m.shop.Must(t, "POST", "/clients/invitations/"+invited+"/accept", nil)
		malformed.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`), "deliveryServiceId")
		for _, courier := range []string{string(other.courier.Organization.ID), string(m.courier.Organization.ID)} {
			matches(t, m.placed(t, `,"courier":"`+courier+`"`)["courierId"], text(courier))
		}
		service := id(t, other.courier, "/deliveryServices", `{"displayName":"S","currency":"USD","rates":[`+flatRate+`]}`)
		matches(t, m.placed(t, `,"deliveryServiceId":"`+service+`"`)["courierId"], text(string(other.courier.Organization.ID)))
	})
}

// testOrderScope uses the ids of an order, and of everything that it can name, with keys of
// organizations that are neither its client nor its courier.
func testOrderScope(t *testing.T, p *apptest.Platform) {
	m, other := newTrade(t, p, "Own"), newTrade(t, p, "Foreign")
	stranger := p.Organization(t, "Stranger")
	made := m.placed(t, "")
	sibling := keyed(p, m.courier.Must(t, "POST", "/clients", `{"name":"Sibling"}`))
	service := id(t, m.courier, "/deliveryServices", `{"displayName":"S","currency":"USD","clients":["`+m.clientID+`"],"rates":[`+flatRate+`]}`)
	quote := fmt.Sprint(m.shop.Call(t, "POST", "/deliveryServices/quote", `{"readyBy":4000000000000,"quantity":1,"weight":{"value":1,"units":"kg"},"pickup":{"city":"X","country":"US","location":[-73.98,40.75]},"dropoff":{"city":"X","country":"US","location":[-73.98,40.70]}}`).OK(t).List(t)[0]["id"])
	before := string(m.shop.Call(t, "GET", "/taskOrders/"+fmt.Sprint(made["shortId"]), nil).OK(t).Body)
	for name, c := range map[string]*apptest.Client{"a stranger": stranger, "another client of the courier": sibling, "another client": other.shop, "another courier": other.courier} {
		t.Run(name, func(t *testing.T) {
			for by, want := range map[string]rejection{fmt.Sprint(made["id"]): outsideScope, fmt.Sprint(made["shortId"]): notFound, unknownID: notFound, "short": notFound} {
				path := "/taskOrders/" + by
				want.check(t, c.Call(t, "GET", path, nil))
				want.check(t, c.Call(t, "PUT", path, `{"pickupTask":{"notes":"x"},"dropoffTask":{"notes":"x"}}`))
				want.check(t, c.Call(t, "POST", path+"/reject", `{"reason":"x"}`))
				want.check(t, c.Call(t, "POST", path+"/clone", nil))
				want.check(t, c.Call(t, "POST", "/taskOrders/cancel", `{"orderIds":["`+by+`"]}`))
			}
			for _, leg := range []string{"pickupTask", "dropoffTask"} {
				outsideScope.check(t, c.Call(t, "GET", "/tasks/"+fmt.Sprint(part(made, leg, "id")), nil))
			}
			outsideScope.check(t, c.Call(t, "GET", "/deliveryServices/"+service, nil))
		})
	}
	outsideScope.check(t, m.shop.Call(t, "GET", "/deliveryServices/"+service, nil)) // the courier's rate plans are its own
	for name, c := range map[string]*apptest.Client{"another client of the courier": sibling, "another client": other.shop} {
		for _, id := range []string{service, quote} {
			if a := c.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+id+`"}`); a.Status != outsideScope.status {
				t.Errorf("%s orders by %s: %d %s", name, id, a.Status, a.Body)
			}
		}
	}
	theirs := id(t, other.shop, "/destinations", destinationBody)
	recipient := id(t, other.shop, "/recipients", `{"name":"R","phone":"`+string(apptest.Phone())+`"}`)
	for _, body := range []string{
		`{"deliveryServiceId":"` + service + `","pickupTask":{"destination":"` + theirs + `"},"dropoffTask":{` + dropoffPlace + `}}`,
		`{"deliveryServiceId":"` + service + `","pickupTask":{` + pickupPlace + `},"dropoffTask":{` + dropoffPlace + `,"recipients":["` + recipient + `"]}}`,
		`{"deliveryServiceId":"` + service + `","pickupTask":{` + pickupPlace + `,"dependencies":["` + driverTask(t, other.shop, nil) + `"]},"dropoffTask":{` + dropoffPlace + `}}`,
	} {
		outsideScope.check(t, m.shop.Call(t, "POST", "/taskOrders", body))
	}
	mine := id(t, m.shop, "/destinations", destinationBody)
	m.shop.Must(t, "POST", "/taskOrders", `{"deliveryServiceId":"`+service+`","pickupTask":{"destination":"`+mine+`"},"dropoffTask":{`+dropoffPlace+`}}`)
	if after := string(m.shop.Call(t, "GET", "/taskOrders/"+fmt.Sprint(made["shortId"]), nil).OK(t).Body); after != before {
		t.Errorf("there was\n%s\nand is\n%s", before, after)
	}
}

func testOrderDispatch(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "Dispatching", 3, "")
	shop := keyed(p, d.Must(t, "POST", "/clients", `{"name":"Shop"}`))
	var all []map[string]any
	var tasks []any
	for i := range 6 {
		place := func(lon float64) string {
			return fmt.Sprintf(`{"destination":{"address":{"city":"X","country":"US"},"location":[%f,%f]}}`, lon, 40.72+float64(i)/200)
		}
		made := shop.Must(t, "POST", "/taskOrders", `{"pickupTask":`+place(-74)+`,"dropoffTask":`+place(-73.97)+`}`)
		all = append(all, made)
		tasks = append(tasks, part(made, "dropoffTask", "id"), part(made, "pickupTask", "id"))
	}
	d.Must(t, "PUT", "/containers/teams/"+d.team, map[string]any{"tasks": append([]any{-1}, tasks...)})
	if ended := d.run(t, `{"maxTasksPerRoute":4}`); status(ended) != "success" {
		t.Fatalf("the dispatch ended as %v", ended)
	}
	workers := map[any]bool{}
	for _, o := range all {
		got := shop.Must(t, "GET", "/taskOrders/"+fmt.Sprint(o["shortId"]), nil)
		worker := part(got, "pickupTask", "worker")
		if got["status"] != "assigned" || worker == nil || worker != part(got, "dropoffTask", "worker") {
			t.Errorf("the order is %v, its pickup with %v and its drop-off with %v", got["status"], worker, part(got, "dropoffTask", "worker"))
			continue
		}
		workers[worker] = true
		route := d.list(t, fmt.Sprint(worker))
		if slices.Index(route, fmt.Sprint(part(o, "pickupTask", "id"))) > slices.Index(route, fmt.Sprint(part(o, "dropoffTask", "id"))) {
			t.Errorf("the drop-off comes before the pickup in %v", route)
		}
	}
	if len(workers) != 3 {
		t.Errorf("the orders are with %d workers, want 3", len(workers))
	}
}

// TestOrderRace cancels orders while a worker starts them, a thousand times.
func TestOrderRace(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		const teams, rounds = 20, 50
		m := newTrade(t, p, "Racing")
		var started, cancelled atomic.Int64
		var racers sync.WaitGroup
		for i := range teams {
			worker := fmt.Sprint(m.courier.Must(t, "POST", "/workers", `{"name":"W","phone":"`+string(apptest.Phone())+`","teams":["`+m.team+`"]}`)["id"])
			now := p.Now()
			place(t, p.Store.Write, m.courier, worker, lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: -74, Lat: 40.7}, LocatedAt: now, LastSeen: now})
			racers.Go(func() {
				for round := range rounds {
					race(t, p, m, lastmile.WorkerID(worker), fmt.Sprintf("%d-%d", i, round), round%2 == 0, &started, &cancelled)
				}
			})
		}
		racers.Wait()
		if started.Load()+cancelled.Load() != teams*rounds || started.Load() == 0 || cancelled.Load() == 0 {
			t.Errorf("%d were started and %d cancelled", started.Load(), cancelled.Load())
		}
	})
}

// race cancels and starts one order at the same time. On a machine where the order of the
// two is not random, startFirst decides it.
func race(t *testing.T, p *apptest.Platform, m trade, worker lastmile.WorkerID, name string, startFirst bool, started, cancelled *atomic.Int64) {
	ctx := t.Context()
	shop, courier := lastmile.Principal{Organization: m.shop.Organization.ID, Key: "shop"}, lastmile.Principal{Organization: m.courier.Organization.ID, Key: "courier"}
	driver := lastmile.Principal{Organization: courier.Organization, Worker: worker}
	pickup, dropoff := apptest.Draft(lastmile.Point{Lon: -73.98, Lat: 40.75}), apptest.Draft(lastmile.Point{Lon: -73.98, Lat: 40.7})
	made, err := p.Orders.Create(ctx, shop, ordering.Draft{Pickup: &pickup, Dropoff: &dropoff})
	if err != nil {
		t.Error(err)
		return
	}
	list := lastmile.ContainerChange{Tasks: []lastmile.TaskID{made.PickupTask.ID, made.DropoffTask.ID}, Index: lastmile.AtEnd}
	if _, err := p.Containers.Arrange(ctx, courier, lastmile.WorkerContainer(worker), list); err != nil {
		t.Error(err)
		return
	}
	var both sync.WaitGroup
	var startErr, cancelErr error
	acts := []func(){
		func() {
			_, startErr = p.Work.Start(ctx, driver, made.PickupTask.ID, lastmile.Action{ID: name, At: p.Now()})
		},
		func() { _, cancelErr = p.Orders.Cancel(ctx, shop, []string{string(made.ID)}, "") },
	}
	if startFirst {
		slices.Reverse(acts) // of two goroutines, one processor runs the last one first
	}
	for _, act := range acts {
		both.Go(act)
	}
	both.Wait()
	after, err := p.Orders.Read(ctx, courier, made.ShortID)
	switch {
	case err != nil:
		t.Error(err)
	case (startErr == nil) == (cancelErr == nil):
		t.Errorf("start: %v, cancel: %v", startErr, cancelErr)
	case cancelErr == nil:
		cancelled.Add(1)
		if _, err := p.Tasks.Task(ctx, courier, made.PickupTask.ID); after.Status != orders.Cancelled || !lastmile.IsNotFound(err) || apptest.Code(startErr) == 0 {
			t.Errorf("it is %s, its pickup: %v, the start: %v", after.Status, err, startErr)
		}
	default:
		started.Add(1)
		if after.Status != orders.Active || apptest.Code(cancelErr) != lastmile.CodeConflict {
			t.Errorf("it is %s, the cancellation: %v", after.Status, cancelErr)
		}
		// The worker is free for the next one.
		outcome := lastmile.Outcome{Success: true}
		if err := p.Tasks.Complete(ctx, courier, made.PickupTask.ID, outcome); err != nil {
			t.Error(err)
		}
	}
}
