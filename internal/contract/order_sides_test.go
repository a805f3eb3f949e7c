package contract_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

// taskPath matches the beginning of a path that leads into a task.
var taskPath = regexp.MustCompile(`^(order\.pickupTask|order\.dropoffTask|event\.data\.task)\.`)

// addFields adds the paths of all fields in a value.
func addFields(value any, path string, into map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			addFields(v, strings.TrimPrefix(path+"."+key, "."), into)
		}
	case []any:
		for _, v := range value {
			addFields(v, path, into)
		}
	default:
		into[taskPath.ReplaceAllString(path, "task.")] = true
	}
}

// bothSee are the fields that both sides of an order see: of the order, of the history of
// its tasks, of its events, and of its tasks wherever they are shown.
var bothSee = map[string]string{
	"order": `
		clientId clientName courierId currency deliveryService deliveryServiceInvoice deliveryServiceName events.name events.status
		events.taskId events.time id orchestrationDetails price priceBreakdown priceBreakdown.cost
		priceBreakdown.isBaseRate priceBreakdown.name priceBreakdown.ratingType rejectionReason shortId source status
		timeCreated timeLastModified`,
	"history": `
		entries.actor.id entries.actor.name entries.actor.type entries.changed entries.id entries.request entries.step entries.time
		entries.timeRecorded entries.triggerName entries.worker entries.worker.id entries.worker.name lastId`,
	"event": `
		actionContext actionContext.id actionContext.type adminId distance etaSeconds taskId time triggerId triggerName workerId`,
	"task": `
		additionalQuantities.quantityA additionalQuantities.quantityB additionalQuantities.quantityC
		appearance.triangleColor completeAfter completeBefore completedWithGeofenceWarning completionDetails.distance
		completionDetails.events.location completionDetails.events.name completionDetails.events.time
		completionDetails.failureNotes completionDetails.failureReason completionDetails.firstLocation
		completionDetails.lastLocation completionDetails.notes completionDetails.photoUploadId
		completionDetails.photoUploadIds completionDetails.signatureUploadId completionDetails.success
		completionDetails.successNotes completionDetails.time container.organization container.type container.worker
		creator delayTime dependencies destination.address.apartment destination.address.city
		destination.address.country destination.address.number destination.address.postalCode
		destination.address.state destination.address.street destination.createdByLocation destination.googlePlaceId
		destination.id destination.location destination.notes destination.organization destination.timeCreated
		destination.timeLastModified destination.useGPS destination.wasGeocoded estimatedArrivalTime
		estimatedCompletionTime eta executor group id identity.checksum identity.failedScanCount merchant
		metadata.name metadata.type metadata.value metadata.visibility notes orderShortId organization
		overrides.recipientName overrides.recipientNotes overrides.recipientSkipSMSNotifications
		overrides.useMerchantForProxy pickupTask priority quantity recipients.id recipients.name recipients.notes
		recipients.organization recipients.phone recipients.skipSMSNotifications recipients.timeCreated
		recipients.timeLastModified recipients.useLongCodeForText requirements.minimumAge requirements.notes
		requirements.photo requirements.signature scanOnlyRequiredBarcodes serviceTime shortId state timeCreated
		timeLastModified trackingURL trackingViewed type worker`,
}

// courierSees are the fields that only the courier sees. A dot at the end stands for all
// fields of a record.
var courierSees = []string{
	"event.data.routePlan.", "event.data.worker.", "event.routePlanId", "event.status",
	"task.assignmentHistory.", "task.container.team", "task.routePlan",
}

func seenBy(side, path string) bool {
	of, field, _ := strings.Cut(path, ".")
	return slices.Contains(strings.Fields(bothSee[of]), field) ||
		side == "courier" && slices.ContainsFunc(courierSees, func(f string) bool { return path == f || strings.HasSuffix(f, ".") && strings.HasPrefix(path, f) })
}

// view is everything that a side of an order has received.
type view struct {
	texts  []string
	fields map[string]bool
}

func (v *view) add(t testing.TB, prefix string, body []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	v.texts = append(v.texts, string(body))
	addFields(value, prefix, v.fields)
}

// TestOrderSidesContract carries an order out with a secret in every field that one side
// keeps to itself, and collects what each side gets.
func TestOrderSidesContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		m := newTrade(t, p, "Sides")
		sibling := m.courier.Must(t, "POST", "/clients", `{"name":"SECRET sibling"}`)
		rival := p.Organization(t, "SECRET rival")
		invited := id(t, rival, "/clients", `{"organization":"`+of(m.shop)+`","name":"SECRET other name"}`)
		m.shop.Must(t, "POST", "/clients/invitations/"+invited+"/accept", nil)
		worker, phone := courier(t, m.courier, m.team, "+12125550178")
		m.courier.Must(t, "PUT", "/workers/"+worker, `{"name":"SECRET worker","metadata":[{"name":"SECRET pay","type":"number","value":7,"visibility":["dashboard"]}],"vehicle":{"type":"CAR","licensePlate":"SECRET plate"}}`)
		m.courier.Must(t, "PUT", "/teams/"+m.team, `{"name":"SECRET team"}`)
		m.courier.Must(t, "POST", "/recipients", `{"name":"SECRET Mary","phone":"+12125550142","notes":"SECRET dog","metadata":[{"name":"SECRET debt","type":"number","value":1}]}`)
		m.shop.Must(t, "POST", "/recipients", `{"name":"CLIENT other","phone":"+12125550149","notes":"CLIENT notes"}`)
		secrets := map[string][]string{
			"shop": {
				"SECRET", "+12125550178", m.team, fmt.Sprint(sibling["id"]), fmt.Sprint(sibling["organization"]), of(rival), invited,
			},
			"courier":  {"CLIENT", "+12125550149", of(rival), invited, "SECRET rival", "SECRET other", fmt.Sprint(sibling["organization"])},
			"stranger": {"pickup notes", "Mary", m.clientID, of(m.shop), of(m.courier)},
		}
		base := "/" + of(m.shop)
		for _, trigger := range []int{0, 1, 2, 3, 4, 6, 7, 8, 9, 10} {
			more := ""
			if trigger == 1 || trigger == 2 {
				more = `,"threshold":1000`
			}
			id(t, m.shop, "/webhooks", hookBody(receiver, base+"/shop", trigger, more))
			id(t, m.courier, "/webhooks", hookBody(receiver, base+"/courier", trigger, more+`,"canReceiveConnectionEvents":true`))
			id(t, keyed(p, sibling), "/webhooks", hookBody(receiver, base+"/stranger", trigger, more))
			id(t, rival, "/webhooks", hookBody(receiver, base+"/stranger", trigger, more+`,"canReceiveConnectionEvents":true`))
		}

		const metadata = `"metadata":[{"name":"api only","type":"string","value":"1","visibility":["api"]},{"name":"dashboard only","type":"string","value":"1","visibility":["dashboard"]},{"name":"seen","type":"string","value":"1","visibility":["worker","api"]}]`
		made := m.shop.Must(t, "POST", "/taskOrders", `{"courier":"`+of(m.courier)+`","price":9,"currency":"USD",
			"pickupTask":{`+pickupPlace+`,"notes":"pickup notes",`+metadata+`},"dropoffTask":{`+dropoffPlace+`,"recipients":[{"name":"Mary","phone":"+12125550142","notes":"ring twice"}],`+metadata+`}}`)
		views := map[string]*view{}
		for _, side := range []string{"shop", "courier", "stranger"} {
			views[side] = &view{fields: map[string]bool{}}
		}
		read := func() {
			for name, c := range map[string]*apptest.Client{"shop": m.shop, "courier": m.courier} {
				views[name].add(t, "order", c.Call(t, "GET", "/taskOrders/"+fmt.Sprint(made["shortId"]), nil).OK(t).Body)
				for _, leg := range []string{"pickupTask", "dropoffTask"} {
					views[name].add(t, "task", c.Call(t, "GET", "/tasks/"+fmt.Sprint(part(made, leg, "id"))+"?assignmentHistory=true", nil).OK(t).Body)
					views[name].add(t, "history", c.Call(t, "GET", "/tasks/"+fmt.Sprint(part(made, leg, "id"))+"/history", nil).OK(t).Body)
				}
			}
		}
		pickup, dropoff := fmt.Sprint(part(made, "pickupTask", "id")), fmt.Sprint(part(made, "dropoffTask", "id"))
		read()
		m.courier.Must(t, "PUT", "/containers/teams/"+m.team, `{"tasks":[-1,"`+pickup+`","`+dropoff+`"]}`)
		read()
		m.courier.Must(t, "PUT", "/containers/workers/"+worker, `{"tasks":["`+pickup+`","`+dropoff+`"]}`)
		m.courier.Must(t, "POST", "/routePlans", fmt.Sprintf(`{"name":"SECRET plan","startTime":%d,"tasks":["%s","%s"],"worker":"%s"}`, p.Now().UnixMilli()+3_600_000, pickup, dropoff, worker))
		read()
		m.shop.Must(t, "PUT", "/taskOrders/"+fmt.Sprint(made["shortId"]), `{"pickupTask":{"notes":"pickup notes 2"},"dropoffTask":{}}`)
		phone.standsAt(t, -73.98, 40.751)
		for _, task := range []string{pickup, dropoff} {
			phone.do(t, "start", task, "s"+task, nil)
			read()
			phone.do(t, "arrive", task, "a"+task, nil)
			phone.do(t, "complete", task, "c"+task, map[string]any{"success": true, "notes": "left at the door"})
			read()
		}
		rejected := m.placed(t, `,"courier":"`+of(m.courier)+`"`)
		m.courier.Must(t, "PUT", "/containers/teams/"+m.team, `{"tasks":[-1,"`+fmt.Sprint(part(rejected, "pickupTask", "id"))+`"]}`)
		m.courier.Must(t, "POST", "/taskOrders/"+fmt.Sprint(rejected["shortId"])+"/reject", `{"reason":"full"}`)
		for name, c := range map[string]*apptest.Client{"shop": m.shop, "courier": m.courier} {
			views[name].add(t, "order", c.Call(t, "GET", "/taskOrders/"+fmt.Sprint(rejected["shortId"]), nil).OK(t).Body)
		}

		// A last event for each receiver marks the end of what arrives there.
		for name, c := range map[string]*apptest.Client{"shop": m.shop, "courier": m.courier, "sibling": keyed(p, sibling), "rival": rival} {
			last := id(t, c, "/tasks", plainTask)
			if name == "sibling" || name == "rival" {
				name = "stranger"
			}
			var all []apptest.Received
			apptest.Until(t, "the last event came to "+name, func() bool {
				all = receiver.Posts(base + "/" + name)
				return slices.ContainsFunc(all, func(r apptest.Received) bool { return strings.Contains(string(r.Body), last) })
			})
			for _, post := range all {
				if !strings.Contains(string(post.Body), last) {
					views[name].add(t, "event", post.Body)
				}
			}
		}
		for name, c := range map[string]*apptest.Client{"shop": m.shop, "courier": m.courier, "stranger": rival} {
			for _, body := range p.Events(t, c.Organization.ID) {
				views[name].add(t, "event", body)
			}
		}
		for side, hidden := range secrets {
			for _, got := range views[side].texts {
				for _, secret := range hidden {
					if strings.Contains(got, secret) {
						t.Errorf("%s sees %q in %s", side, secret, got)
					}
				}
			}
		}
		for side, v := range views {
			for path := range v.fields {
				if !seenBy(side, path) {
					t.Errorf("%s sees %s", side, path)
				}
			}
		}
	}, receiver.Reach)
}
