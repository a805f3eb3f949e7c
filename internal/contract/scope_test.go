package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/store/sqlstore"
)

// idPlace is a field of a request, or of its path, that takes the id of a record.
type idPlace struct {
	operation string // as the OpenAPI spec has it: "PUT /teams/{id}"
	field     string // "{id}" in the path, else as in a message: "workers[]"
	kind      string // kind of the record
	body      string // body of the request; ID stands for the id
	missing   rejection

	// Exceptions, which most places do not have.
	other    rejection // error for another organization's id, if not outsideScope
	own      rejection // error for the own id, if the state of the record does not allow the request
	ignored  bool      // the field has no meaning there and is ignored
	unmarked bool      // the OpenAPI spec does not say that it is an id
}

// resourcePlaces are the places that register has added.
var resourcePlaces []idPlace

// register adds an operation to the tables of the tests that cover all operations: two
// different bodies of a POST, for the test of idempotency keys, and the places that take
// ids.
func register(operation string, bodies [2]string, places ...idPlace) {
	if strings.HasPrefix(operation, "POST ") {
		postBodies[operation] = bodies
	}
	for _, at := range places {
		at.operation = operation
		resourcePlaces = append(resourcePlaces, at)
	}
}

// idPlaces returns all places. The test fails if the OpenAPI spec has another.
func idPlaces() []idPlace {
	const (
		address = `{"city":"X","country":"Y"}`
		members = `"workers":[],"managers":[]`
	)
	places := []idPlace{
		{operation: "GET /organizations/{id}", field: "{id}", kind: "organization", missing: notFound},
		{operation: "PUT /admins/{id}", field: "{id}", kind: "admin", body: `{"name":"Changed"}`, missing: notFound},
		{operation: "DELETE /admins/{id}", field: "{id}", kind: "admin", missing: notFound},
		{operation: "GET /destinations/{id}", field: "{id}", kind: "destination", missing: notFound},
		{operation: "GET /recipients/{id}", field: "{id}", kind: "recipient", missing: notFound},
		{operation: "PUT /recipients/{id}", field: "{id}", kind: "recipient", body: `{"name":"Changed"}`, missing: notFound},
		{operation: "POST /workers", field: "teams[]", kind: "team", body: `{"name":"W","phone":"NEW-phone","teams":["OWN-team","ID"]}`, missing: notFound},
		{operation: "POST /workers", field: "addresses.routing", kind: "destination", body: `{"name":"W","phone":"NEW-phone","teams":["OWN-team"],"addresses":{"routing":"ID"}}`, missing: notFound},
		{operation: "POST /workers", field: "address.routing", kind: "destination", body: `{"name":"W","phone":"NEW-phone","teams":["OWN-team"],"address":{"routing":"ID"}}`, missing: notFound},
		{operation: "GET /workers/{id}", field: "{id}", kind: "worker", missing: notFound},
		{operation: "PUT /workers/{id}", field: "{id}", kind: "worker", body: `{"name":"Changed"}`, missing: notFound},
		{operation: "PUT /workers/{id}", field: "teams[]", kind: "team", body: `{"name":"Changed","teams":["ID"]}`, missing: notFound},
		{operation: "PUT /workers/{id}", field: "addresses.routing", kind: "destination", body: `{"name":"Changed","addresses":{"routing":"ID"}}`, missing: notFound},
		{operation: "PUT /workers/{id}", field: "address.routing", kind: "destination", body: `{"name":"Changed","address":{"routing":"ID"}}`, missing: notFound},
		{operation: "DELETE /workers/{id}", field: "{id}", kind: "worker", missing: notFound},
		{operation: "DELETE /workers/{id}/sessions", field: "{id}", kind: "worker", missing: notFound},
		{operation: "POST /workers/{id}/invite", field: "{id}", kind: "worker", body: `{}`, missing: notFound},
		{operation: "POST /workers/{id}/invitation", field: "{id}", kind: "worker", body: `{}`, missing: notFound},
		{operation: "GET /workers/{id}/schedule", field: "{id}", kind: "worker", missing: notFound},
		{operation: "GET /workers/{id}/tasks", field: "{id}", kind: "worker", missing: notFound},
		{operation: "GET /teams/{id}/tasks", field: "{id}", kind: "team", missing: notFound},
		{operation: "GET /teams/{id}/estimate?dropoffLocation=1,2", field: "{id}", kind: "team", missing: notFound, own: notFound}, // no worker is on duty
		{operation: "POST /workers/{id}/schedule", field: "{id}", kind: "worker", body: `{"entries":[{"date":"2090-01-01","timezone":"UTC","shifts":[]}]}`, missing: notFound},
		{operation: "POST /teams", field: "workers[]", kind: "worker", body: `{"name":"NEW-name","workers":["OWN-worker","ID"],"managers":[]}`, missing: invalid},
		{operation: "POST /teams", field: "managers[]", kind: "admin", body: `{"name":"NEW-name","workers":[],"managers":["OWN-admin","ID"]}`, missing: invalid},
		{operation: "POST /teams", field: "hub", kind: "hub", body: `{"name":"NEW-name",` + members + `,"hub":"ID"}`, missing: notFound},
		{operation: "GET /teams/{id}", field: "{id}", kind: "team", missing: notFound},
		{operation: "PUT /teams/{id}", field: "{id}", kind: "team", body: `{"enableSelfAssignment":true}`, missing: notFound},
		{operation: "PUT /teams/{id}", field: "workers[]", kind: "worker", body: `{"name":"NEW-name","workers":["ID"]}`, missing: invalid},
		{operation: "PUT /teams/{id}", field: "managers[]", kind: "admin", body: `{"name":"NEW-name","managers":["ID"]}`, missing: invalid},
		{operation: "PUT /teams/{id}", field: "hub", kind: "hub", body: `{"name":"NEW-name","hub":"ID"}`, missing: notFound},
		{operation: "DELETE /teams/{id}", field: "{id}", kind: "team", missing: notFound},
		{operation: "POST /hubs", field: "teams[]", kind: "team", body: `{"name":"H","address":` + address + `,"location":[1,2],"teams":["OWN-team","ID"]}`, missing: notFound},
		{operation: "PUT /hubs/{id}", field: "{id}", kind: "hub", body: `{"name":"Changed"}`, missing: notFound},
		{operation: "PUT /hubs/{id}", field: "teams[]", kind: "team", body: `{"name":"Changed","teams":["ID"]}`, missing: notFound},
		{operation: "GET /cfGroups/task/{id}", field: "{id}", kind: "template", missing: notFound},
		{operation: "PUT /cfGroups/task/{id}", field: "{id}", kind: "template", body: `{"fields":[]}`, missing: notFound},
		{operation: "DELETE /cfGroups/task/{id}", field: "{id}", kind: "template", missing: notFound},
	}
	return slices.Concat(places, taskPlaces(), webhookPlaces())
}

// webhookPlaces returns the places of webhooks. The webhook is deleted last, because the
// others need its notifications.
func webhookPlaces() []idPlace {
	return []idPlace{
		{operation: "PUT /webhooks/{id}", field: "{id}", kind: "webhook", body: `{"name":"Changed"}`, missing: notFound},
		{operation: "GET /webhooks/{id}/notifications", field: "{id}", kind: "webhook", missing: notFound},
		{operation: "GET /webhooks/{id}/notifications/{notification}", field: "{id}", kind: "webhook", missing: notFound},
		{operation: "GET /webhooks/{id}/notifications/{notification}", field: "{notification}", kind: "notification", missing: notFound, unmarked: true},
		{operation: "POST /webhooks/{id}/notifications/{notification}/redeliver", field: "{id}", kind: "webhook", missing: notFound},
		{operation: "POST /webhooks/{id}/notifications/{notification}/redeliver", field: "{notification}", kind: "notification", missing: notFound, unmarked: true},
		{operation: "POST /webhooks/{id}/redeliver", field: "{id}", kind: "webhook", body: `{"since":1500000000000}`, missing: notFound},
		{operation: "POST /webhooks/{id}/test", field: "{id}", kind: "webhook", missing: notFound},
		{operation: "DELETE /webhooks/{id}", field: "{id}", kind: "webhook", missing: notFound},
	}
}

// taskPlaces returns the places of tasks, containers and route plans, and those that
// register has added.
func taskPlaces() []idPlace {
	const append1, success = `{"tasks":[-1,"OWN-task"]}`, `{"completionDetails":{"success":true}}`
	places := []idPlace{
		{operation: "GET /tasks/{id}", field: "{id}", kind: "task", missing: notFound},
		{operation: "GET /tasks/{id}/explanation", field: "{id}", kind: "task", missing: notFound, own: notFound}, // nothing to explain
		{operation: "GET /tasks/shortId/{shortId}", field: "{shortId}", kind: "shortId", missing: notFound, other: notFound},
		{operation: "PUT /tasks/{id}", field: "{id}", kind: "task", body: `{"notes":"Changed"}`, missing: notFound},
		{operation: "POST /tasks/{id}/clone", field: "{id}", kind: "task", missing: notFound},
		{operation: "POST /tasks/{id}/complete", field: "{id}", kind: "task", body: success, missing: notFound, own: invalid},
		{operation: "DELETE /tasks/{id}", field: "{id}", kind: "task", missing: notFound},
		{operation: "POST /tasks/autoAssign", field: "tasks[]", kind: "task", body: `{"tasks":["OWN-task","ID"]}`, missing: notFound},
		{operation: "POST /tasks/autoAssign", field: "options.team", kind: "team", body: `{"tasks":["OWN-task"],"options":{"mode":"load","team":"ID"}}`, missing: notFound},
		{operation: "POST /tasks/autoAssign", field: "options.teams[]", kind: "team", body: `{"tasks":["OWN-task"],"options":{"mode":"load","teams":["ID"]}}`, missing: notFound},
		{operation: "POST /tasks/autoAssign", field: "options.excludedWorkerIds[]", kind: "worker", body: `{"tasks":["OWN-task"],"options":{"mode":"load","excludedWorkerIds":["ID"]}}`, missing: notFound},
		{operation: "PUT /containers/{id}", field: "{id}", kind: "worker", body: append1, missing: notFound},
		{operation: "PUT /containers/{kind}/{id}", field: "tasks[]", kind: "task", body: `{"tasks":["OWN-task","ID"]}`, missing: notFound},
		{operation: "PUT /containers/{kind}/{id}", field: "tasks[]", kind: "task", body: `{"tasks":[0,"ID"]}`, missing: notFound},
		{operation: "PUT /containers/{id}", field: "tasks[]", kind: "task", body: `{"tasks":[-1,"ID"]}`, missing: notFound},
	}
	for field, f := range map[string][2]string{
		"worker": {"worker", `"ID"`}, "team": {"team", `"ID"`}, "startingHubId": {"hub", `"ID","startAt":"HUB"`}, "endingHubId": {"hub", `"ID","endAt":"HUB"`},
		"tasks[]": {"task", `["ID"]`}, "taskIds[]": {"task", `["ID"]`},
	} {
		member := `"` + strings.TrimSuffix(field, "[]") + `":` + f[1]
		places = append(places,
			idPlace{operation: "POST /routePlans", field: field, kind: f[0], body: `{"name":"P","startTime":4000000000000,` + member + `}`, missing: notFound},
			idPlace{operation: "PUT /routePlans/{id}", field: field, kind: f[0], body: `{` + member + `}`, missing: notFound})
		if f[0] == "task" {
			places = append(places, idPlace{operation: "PUT /routePlans/{id}/tasks", field: field, kind: "task", body: `{` + member + `}`, missing: notFound})
		}
	}
	for operation, body := range map[string]string{
		"GET /routePlans/{id}": ``, "PUT /routePlans/{id}": `{"name":"Changed"}`, "PUT /routePlans/{id}/tasks": `{"tasks":["OWN-task"]}`, "DELETE /routePlans/{id}": ``,
	} {
		places = append(places, idPlace{operation: operation, field: "{id}", kind: "routePlan", body: body, missing: notFound})
	}
	for _, owner := range []string{"worker", "team", "organization"} {
		places = append(places,
			idPlace{operation: "GET /containers/{kind}/{id}", field: "{id}", kind: owner, missing: notFound},
			idPlace{operation: "PUT /containers/{kind}/{id}", field: "{id}", kind: owner, body: append1, missing: notFound})
	}
	// The fields of a task are sent in four ways. Fields that only a new task has are ignored
	// in the others.
	for _, at := range []struct{ operation, prefix, before, after string }{
		{"POST /tasks", "", `{`, `}`},
		{"PUT /tasks/{id}", "", `{`, `}`},
		{"POST /tasks/{id}/clone", "overrides.", `{"overrides":{`, `}}`},
		{"POST /tasks/{id}/clone", "options.overrides.", `{"options":{"overrides":{`, `}}}`},
	} {
		isNew, isClone := at.operation == "POST /tasks", at.prefix != ""
		for _, f := range []struct {
			field, kind, value string
			ignored, unmarked  bool
		}{
			{"destination", "destination", `"destination":"ID"`, false, false},
			{"recipients[]", "recipient", `"recipients":["ID"]`, false, true},
			{"merchant", "organization", `"merchant":"ID"`, false, false},
			{"executor", "organization", `"executor":"ID"`, false, false},
			{"dependencies[]", "task", `"dependencies":["ID"]`, false, false},
			{"customFieldGroup", "template", `"customFieldGroup":"ID"`, false, false},
			{"container.worker", "worker", `"container":{"type":"WORKER","worker":"ID"}`, isClone, true},
			{"container.team", "team", `"container":{"type":"TEAM","team":"ID"}`, isClone, true},
			{"container.organization", "organization", `"container":{"type":"ORGANIZATION","organization":"ID"}`, isClone, true},
			{"autoAssign.team", "team", `"autoAssign":{"mode":"load","team":"ID"}`, !isNew, false},
			{"autoAssign.teams[]", "team", `"autoAssign":{"mode":"load","teams":["ID"]}`, !isNew, false},
			{"autoAssign.excludedWorkerIds[]", "worker", `"autoAssign":{"mode":"load","excludedWorkerIds":["ID"]}`, !isNew, false},
		} {
			members := []string{f.value}
			for field, needed := range map[string]string{"destination": `"destination":"OWN-destination"`, "recipients[]": `"recipients":[]`} {
				if isNew && field != f.field {
					members = append(members, needed)
				}
			}
			places = append(places, idPlace{
				operation: at.operation, field: at.prefix + f.field, kind: f.kind, body: at.before + strings.Join(members, ",") + at.after,
				missing: notFound, ignored: f.ignored, unmarked: f.unmarked,
			})
		}
	}
	return append(places, resourcePlaces...)
}

// documented returns a place as documentedPlaces names it.
func (at idPlace) documented() string {
	operation, _, _ := strings.Cut(at.operation, "?")
	return operation + " " + at.field
}

// elsewhere reports whether an operation is tested with its resource, because it needs more
// than one request: batches run later, the marketplace wraps a request in a request,
// uploads come from workers, any organization can be invited, and orders are between two
// organizations.
func elsewhere(operation string) bool {
	return slices.ContainsFunc([]string{" /tasks/batch", " /integrations", " /uploads", " /clients organization", " /taskOrders"}, func(path string) bool {
		return strings.Contains(operation, path)
	})
}

// world is an organization with a record of each kind. Every text in them contains its
// canary.
type world struct {
	*apptest.Client
	canary   string
	areaCode string            // of all its phone numbers
	own      map[string]string // ids by kind
	made     int
	receiver *apptest.Receiver // of its webhooks; nil before listen
}

// listen gives the organization a webhook with a notification.
func (w *world) listen(t testing.TB, receiver *apptest.Receiver) {
	t.Helper()
	w.receiver = receiver
	w.own["webhook"] = w.make(t, "webhook")
	w.own["notification"] = w.make(t, "notification")
}

func newWorld(t testing.TB, p *apptest.Platform, canary, areaCode string) *world {
	t.Helper()
	w := &world{Client: p.Organization(t, canary), canary: canary, areaCode: areaCode}
	w.own = map[string]string{"organization": string(w.Organization.ID)}
	for _, kind := range []string{"destination", "recipient", "admin", "hub", "team", "worker", "task", "template", "routePlan", "dispatch", "client", "invitation", "deliveryService", "apiKey"} {
		w.own[kind] = w.make(t, kind)
	}
	w.own["spare task"] = w.make(t, "task")
	w.own["shortId"] = fmt.Sprint(w.Must(t, "GET", "/tasks/"+w.own["task"], nil)["shortId"])
	return w
}

// dispatch saves a dispatch of a team that no longer exists.
func (w *world) dispatch(t testing.TB, status lastmile.DispatchStatus) string {
	t.Helper()
	now := w.Platform.Now()
	options, err := planning.Request{}.Options(now)
	made := lastmile.Dispatch{
		ID: apptest.NewID[lastmile.DispatchID](), Organization: w.Organization.ID, Team: apptest.NewID[lastmile.TeamID](), Created: now, Status: status, Options: options,
	}
	if err == nil {
		err = w.Platform.Store.Write(t.Context(), func(tx *sqlstore.Tx) error { return tx.AddDispatch(t.Context(), made) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(made.ID)
}

// make creates another record of a kind and returns its id.
func (w *world) make(t testing.TB, kind string) string {
	t.Helper()
	w.made++
	switch kind {
	case "dispatch":
		return w.dispatch(t, lastmile.DispatchSucceeded)
	case "invitation":
		other := w.Platform.Organization(t, w.canary)
		return id(t, other, "/clients", `{"organization":"`+string(w.Organization.ID)+`","name":"`+w.canary+`"}`)
	case "webhook":
		return id(t, w.Client, "/webhooks", hookBody(w.receiver, "/scope", 6, `,"name":"`+w.canary+`"`))
	case "notification":
		w.Must(t, "POST", "/webhooks/"+w.own["webhook"]+"/test", nil)
		return ids(list(t, w.Client, "/webhooks/"+w.own["webhook"]+"/notifications"))[0]
	}
	var (
		metadata = `[{"name":"of","type":"string","value":"` + w.canary + `"}]`
		place    = `"address":{"name":"CANARY","number":"CANARY","street":"CANARY","apartment":"CANARY","city":"CANARY","state":"CANARY","postalCode":"CANARY","country":"CANARY"},"location":[1.25,2.5]`
		body     = map[string]string{
			"destination": `{` + place + `,"notes":"CANARY","metadata":` + metadata + `}`,
			"recipient":   `{"name":"CANARY NEW-name","phone":"NEW-phone","notes":"CANARY","metadata":` + metadata + `}`,
			"admin":       `{"name":"CANARY","email":"CANARY-NEW-name@example.com","phone":"NEW-phone","metadata":` + metadata + `}`,
			"hub":         `{"name":"CANARY",` + place + `,"phone":"NEW-phone"}`,
			"team":        `{"name":"CANARY NEW-name","workers":[],"managers":["OWN-admin"],"hub":"OWN-hub","metadata":` + metadata + `}`,
			"worker": `{"name":"CANARY","displayName":"CANARY","phone":"NEW-phone","teams":["OWN-team"],"vehicle":{"type":"CAR","description":"CANARY","licensePlate":"CANARY","color":"CANARY"},
				"addresses":{"routing":"OWN-destination"},"metadata":` + metadata + `}`,
			"task":            `{"destination":"OWN-destination","recipients":["OWN-recipient"],"notes":"CANARY","recipientName":"CANARY","recipientNotes":"CANARY","metadata":` + metadata + `}`,
			"template":        `{"name":"CANARY NEW-name","contextSaveConditions":[],"fields":[]}`,
			"routePlan":       `{"name":"CANARY","startTime":4000000000000}`,
			"client":          `{"name":"CANARY"}`,
			"apiKey":          `{"name":"CANARY"}`,
			"deliveryService": `{"displayName":"CANARY","currency":"USD","rates":[{"name":"CANARY","ratingType":"flat","isBaseRate":true,"amount":1}]}`,
		}[kind]
	)
	path := "/" + kind + "s"
	if kind == "template" {
		path = "/cfGroups/task"
	}
	return id(t, w.Client, path, w.fill(strings.ReplaceAll(body, "CANARY", w.canary)))
}

// fill puts the organization's own ids and new names and numbers into a body. The texts
// that it replaces have a character that no id has.
func (w *world) fill(body string) string {
	for kind, own := range w.own {
		body = strings.ReplaceAll(body, "OWN-"+kind, own)
	}
	return strings.NewReplacer("NEW-name", fmt.Sprintf("n%d", w.made), "NEW-phone", fmt.Sprintf("+1%s555%04d", w.areaCode, w.made)).Replace(body)
}

// pick returns the id of a record of the organization for a place.
func (w *world) pick(at idPlace) string {
	if at.kind == "task" && at.field != "{id}" {
		return w.own["spare task"] // the other one is in the path
	}
	return w.own[at.kind]
}

// call sends the request of a place with an id in it.
func (w *world) call(t testing.TB, at idPlace, id string) apptest.Response {
	t.Helper()
	method, path, body := w.request(at, id)
	return send(t, w.Client, method, path, body)
}

// request returns the request of a place with an id in it.
func (w *world) request(at idPlace, id string) (method, path, body string) {
	w.made++
	method, path, _ = strings.Cut(at.operation, " ")
	owner := strings.TrimSuffix(strings.Split(path, "/")[1], "s")
	if owner == "container" {
		owner = "worker"
	}
	if strings.HasPrefix(at.field, "{") {
		path = strings.Replace(path, at.field, url.PathEscape(id), 1)
	}
	if at.field == "{id}" {
		owner = at.kind
	}
	path = strings.NewReplacer("{kind}", owner+"s", "{id}", w.own[owner], "{notification}", w.own["notification"]).Replace(path)
	return method, path, w.fill(strings.ReplaceAll(at.body, `"ID"`, text(id)))
}

// everything returns all that an organization can see of itself.
func (w *world) everything(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	paths := []string{"/organization", "/admins", "/teams", "/hubs", "/clients", "/clients/invitations", "/deliveryServices", "/apiKeys", "/workers", "/workers/" + w.own["worker"] + "/schedule", "/tasks/all?from=1500000000000", "/cfGroups/task", "/webhooks"}
	if w.own["webhook"] != "" {
		paths = append(paths, "/webhooks/"+w.own["webhook"]+"/notifications")
	}
	for _, path := range paths {
		all.Write(w.Call(t, "GET", path, nil).OK(t).Body)
	}
	for _, path := range []string{"/destinations/metadata", "/recipients/metadata"} {
		all.Write(w.Call(t, "POST", path, `[{"name":"of","type":"string","value":"`+w.canary+`"}]`).OK(t).Body)
	}
	return all.String()
}

func TestScopeContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := newWorld(t, p, "acme-canary", "212"), newWorld(t, p, "zenith-canary", "646")
		acme.listen(t, receiver)
		zenith.listen(t, receiver)
		leak := func(t *testing.T, a apptest.Response) {
			t.Helper()
			for _, secret := range []string{zenith.canary, zenith.areaCode + "555"} {
				if strings.Contains(string(a.Body), secret) {
					t.Errorf("the response holds %q of the other organization: %s", secret, a.Body)
				}
			}
		}
		t.Run("every field of the OpenAPI spec that takes an id is in the matrix", func(t *testing.T) {
			tested := map[string]bool{}
			for _, at := range idPlaces() {
				tested[at.documented()] = true
			}
			documented := documentedPlaces(t, p)
			for place := range documented {
				if !tested[place] && !elsewhere(place) {
					t.Errorf("%s is not tested", place)
				}
			}
			for _, at := range idPlaces() {
				if place := at.documented(); !documented[place] && !at.unmarked {
					t.Errorf("%s is not in the OpenAPI spec", place)
				}
			}
		})
		before := zenith.everything(t)
		for _, at := range idPlaces() {
			t.Run(at.operation+" takes "+at.field+" of the own organization only", func(t *testing.T) {
				committed := p.Store.Stats().Operations
				reject := func(what, id string, want rejection) {
					t.Helper()
					a := acme.call(t, at, id)
					leak(t, a)
					if at.ignored {
						a.OK(t)
						return
					}
					if !t.Run(what, func(t *testing.T) { want.check(t, a) }) {
						committed = p.Store.Stats().Operations
					}
					if now := p.Store.Stats().Operations; now != committed {
						t.Errorf("%s: a rejected request wrote something (%d writes)", what, now-committed)
						committed = now
					}
				}
				other := at.other
				if other == (rejection{}) {
					other = outsideScope
				}
				reject("another organization's", zenith.pick(at), other)
				reject("unknown", unknownID, at.missing)
				for i, id := range malformedIDs {
					reject(fmt.Sprint("malformed ", i), id, at.missing)
				}
				if strings.HasPrefix(at.field, "{") {
					for i, id := range []string{"\x00", "nobodyhasthis\x00dentifier0", "nobodyhasthis\xffdentifier0", "..", "a/b"} {
						reject(fmt.Sprint("not even text ", i), id, at.missing)
					}
				}
				if at.kind == "admin" {
					reject("a hub's", acme.own["hub"], at.missing)
				} else {
					reject("an administrator's", acme.own["admin"], at.missing)
				}
				if slices.Contains([]string{"admin", "team", "worker", "task", "routePlan", "webhook", "client", "deliveryService"}, at.kind) {
					gone := acme.make(t, at.kind)
					acme.Call(t, "DELETE", "/"+at.kind+"s/"+gone, nil).OK(t)
					committed = p.Store.Stats().Operations
					reject("deleted", gone, at.missing)
				}
				id := acme.pick(at)
				if at.kind == "task" && strings.Contains(at.operation, "/routePlans") {
					id = acme.make(t, "task") // a task is in one plan only
				}
				own := acme.call(t, at, id)
				leak(t, own)
				if at.own != (rejection{}) {
					at.own.check(t, own)
				} else if own.Status != http.StatusNoContent {
					own.OK(t)
				}
				if strings.HasPrefix(at.operation, "DELETE") {
					acme.own[at.kind] = acme.make(t, at.kind)
				}
				p.Settle(t) // background work that it started writes as well
			})
		}
		t.Run("no request has changed the other organization", func(t *testing.T) {
			if after := zenith.everything(t); after != before {
				t.Errorf("there was\n%s\nand is\n%s", before, after)
			}
		})
		t.Run("another organization's records are not found by name, phone, filter or search", func(t *testing.T) {
			theirs := zenith.Must(t, "GET", "/recipients/"+zenith.own["recipient"], nil)
			notFound.check(t, acme.Call(t, "GET", "/recipients/name/"+url.PathEscape(fmt.Sprint(theirs["name"])), nil))
			notFound.check(t, acme.Call(t, "GET", "/recipients/phone/"+fmt.Sprint(theirs["phone"]), nil))
			phone := fmt.Sprint(zenith.Must(t, "GET", "/workers/"+zenith.own["worker"], nil)["phone"])
			matches(t, list(t, acme.Client, "/workers?phones="+url.QueryEscape(phone)), `[]`)
			matches(t, list(t, acme.Client, "/workers?teams="+zenith.own["team"]), `[]`)
			for _, kind := range []string{"admin", "destination", "recipient", "team", "worker"} {
				found := acme.Call(t, "POST", "/"+kind+"s/metadata", `[{"name":"of","type":"string","value":"zenith-canary"}]`).OK(t)
				matches(t, found.List(t), `[]`)
			}
		})
		t.Run("a list shows the own organization only", func(t *testing.T) {
			if all := acme.everything(t); strings.Contains(all, zenith.canary) {
				t.Errorf("the other organization's canary is in %s", all)
			}
		})
	}, receiver.Reach)
}

// documentedPlaces returns the operations and fields that take ids, according to the
// OpenAPI document.
func documentedPlaces(t testing.TB, p *apptest.Platform) map[string]bool {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ In, Name string }
			RequestBody struct {
				Content map[string]struct{ Schema schemaNode }
			}
		}
		Components struct{ Schemas map[string]schemaNode }
	}
	if err := json.Unmarshal(p.Get(t, "/api/v2/openapi.json"), &doc); err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			name := strings.ToUpper(method) + " " + path
			for _, parameter := range op.Parameters {
				if parameter.In == "path" && strings.HasSuffix(strings.ToLower(parameter.Name), "id") {
					places[name+" {"+parameter.Name+"}"] = true
				}
			}
			for field := range idFields(op.RequestBody.Content["application/json"].Schema, doc.Components.Schemas, nil) {
				places[name+" "+field] = true
			}
		}
	}
	if len(places) == 0 {
		t.Fatal("the OpenAPI spec has no ids")
	}
	return places
}

// schemaNode has the parts of a JSON Schema that are needed to find ids.
type schemaNode struct {
	Ref          string `json:"$ref"`
	Pattern      string
	Items        *schemaNode
	OneOf, AnyOf []schemaNode
	Properties   map[string]schemaNode
}

// idFields returns the fields of a schema that hold ids.
func idFields(s schemaNode, named map[string]schemaNode, within []string) map[string]bool {
	found := map[string]bool{}
	if s.Ref != "" {
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		if slices.Contains(within, name) {
			return found
		}
		return idFields(named[name], named, append(slices.Clone(within), name))
	}
	if strings.Contains(s.Pattern, "{24}") {
		found[""] = true
	}
	for _, part := range slices.Concat(s.OneOf, s.AnyOf) {
		maps.Copy(found, idFields(part, named, within))
	}
	if s.Items != nil {
		for field := range idFields(*s.Items, named, within) {
			found["[]"+field] = true
		}
	}
	for name, property := range s.Properties {
		for field := range idFields(property, named, within) {
			found[strings.TrimSuffix(name+"."+field, ".")] = true
		}
	}
	joined := map[string]bool{}
	for field := range found {
		joined[strings.ReplaceAll(field, ".[]", "[]")] = true
	}
	return joined
}
