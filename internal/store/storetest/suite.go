package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// Two organizations that are not connected.
const (
	acme   lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	zenith lastmile.OrganizationID = "zenithzenithzenithzenith"
)

var now = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

// id returns an id that begins with a readable name.
func id[T ~string](name string) T {
	return T((name + "000000000000000000000000")[:lastmile.IDLength])
}

// Run tests a store. open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("reading is scoped to the organization", func(t *testing.T) { testScope(t, open(t)) })
	t.Run("a record is read as it was saved", func(t *testing.T) { testRoundTrip(t, open(t)) })
	t.Run("records are shown with all changes, however many at once", func(t *testing.T) { testShowTogether(t, open(t)) })
	t.Run("a failed write keeps nothing", func(t *testing.T) { testAtomic(t, open(t)) })
	t.Run("a worker and its teams agree on membership", func(t *testing.T) { testMembership(t, open(t)) })
	t.Run("metadata finds the records that have all entries", func(t *testing.T) { testMetadata(t, open(t)) })
	t.Run("custom fields and templates are kept for each organization", func(t *testing.T) { testCustomFields(t, open(t)) })
	t.Run("organizations are connected as couriers and clients", func(t *testing.T) { testConnections(t, open(t)) })
	t.Run("a task is seen by the organization that placed it with another", func(t *testing.T) { testPlaced(t, open(t)) })
	t.Run("recipients are found by name and phone", func(t *testing.T) { testRecipients(t, open(t)) })
	t.Run("keys are found by hash and revoked for everybody", func(t *testing.T) { testKeys(t, open(t)) })
	t.Run("a receipt keeps the first response", func(t *testing.T) { testReceipts(t, open(t)) })
	t.Run("a worker signs in and acts", func(t *testing.T) { testDriver(t, open(t)) })
	t.Run("attempts to sign in are counted", func(t *testing.T) { testSignInAllowance(t, open(t)) })
	t.Run("estimates are refreshed when they are due", func(t *testing.T) { testEstimateSchedules(t, open(t)) })
	t.Run("a task fires once", func(t *testing.T) { testFiring(t, open(t)) })
	t.Run("positions are kept for a time", func(t *testing.T) { testPositionHistory(t, open(t)) })
	t.Run("an upload is kept until it is used or deleted", func(t *testing.T) { testUploads(t, open(t)) })
	t.Run("places and settings are kept", func(t *testing.T) { testGeography(t, open(t)) })
	t.Run("text messages are kept, one of a kind for a task", func(t *testing.T) { testMessages(t, open(t)) })
	t.Run("the results of sending text messages are kept", func(t *testing.T) { testMessageResults(t, open(t)) })
	t.Run("settings and opt-outs of text messages are kept", func(t *testing.T) { testMessageSettings(t, open(t)) })
	t.Run("deleting leaves nothing behind", func(t *testing.T) { testDelete(t, open(t)) })
	t.Run("a route plan is read with the tasks it has", func(t *testing.T) { testRoutePlans(t, open(t)) })
	t.Run("the duty and the completed tasks of a worker are kept", func(t *testing.T) { testDuty(t, open(t)) })
	t.Run("concurrent writers of one record lose nothing", func(t *testing.T) { testConcurrent(t, open(t)) })
	t.Run("services, quotes and orders are kept", func(t *testing.T) { testOrders(t, open(t)) })
	t.Run("pins are kept while a task has its worker", func(t *testing.T) { testPins(t, open(t)) })
	t.Run("requests to plan routes again are kept once", func(t *testing.T) { testReplanRequests(t, open(t)) })
	t.Run("the latest dispatches of a team are listed", func(t *testing.T) { testDispatchLists(t, open(t)) })
	runTasks(t, open)
	runWork(t, open)
	runJobs(t, open)
	runWebhooks(t, open)
	runCommits(t, open)
}

func testScope(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveDestination(ctx, destination(acme, "d")), w.SaveRecipient(ctx, recipient(acme, "r", "+12125550100")),
			w.SaveWorker(ctx, worker("w", "+12125550101")), w.SaveTeam(ctx, team("t")),
			w.SaveAdmin(ctx, admin(acme, "a")), w.SaveHub(ctx, hub(acme, "h")), w.SaveTemplate(ctx, template(acme, "p")),
			w.SaveTask(ctx, task(acme, "k", home, now)), w.SaveDestination(ctx, destination(acme, "placea")),
		)
	})
	readers := map[string]func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error{
		"d": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Destination(ctx, org, lastmile.DestinationID(id))
			return err
		},
		"r": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Recipient(ctx, org, lastmile.RecipientID(id))
			return err
		},
		"w": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Worker(ctx, org, lastmile.WorkerID(id))
			return err
		},
		"t": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Team(ctx, org, lastmile.TeamID(id))
			return err
		},
		"a": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Admin(ctx, org, lastmile.AdminID(id))
			return err
		},
		"p": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Template(ctx, org, lastmile.TemplateID(id))
			return err
		},
		"h": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Hub(ctx, org, lastmile.HubID(id))
			return err
		},
		"k": func(r *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
			_, err := r.Task(ctx, org, lastmile.TaskID(id))
			return err
		},
	}
	kinds := map[string]store.Kind{
		"d": store.Destinations, "r": store.Recipients, "w": store.Workers, "t": store.Teams, "a": store.Admins, "h": store.Hubs,
		"p": store.Templates, "k": store.Tasks,
	}
	tests := map[string]struct {
		org  lastmile.OrganizationID
		id   func(name string) string
		want lastmile.Code
	}{
		"its own record":                    {acme, id[string], 0},
		"another organization's record":     {zenith, id[string], lastmile.CodeOutsideScope},
		"a record that does not exist":      {acme, func(name string) string { return id[string]("x" + name) }, lastmile.CodeNotFound},
		"a record with no possible id":      {acme, func(string) string { return "short" }, lastmile.CodeNotFound},
		"an id with characters of no id":    {acme, func(string) string { return "'; DROP TABLE worker; --" }, lastmile.CodeNotFound},
		"an empty id":                       {acme, func(string) string { return "" }, lastmile.CodeNotFound},
		"another organization asks nothing": {zenith, func(name string) string { return id[string]("y" + name) }, lastmile.CodeNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for noun, look := range readers {
				err := s.Read(ctx, func(r *sqlstore.Tx) error { return look(r, test.org, test.id(noun)) })
				if code(err) != test.want || (err != nil) != (test.want != 0) {
					t.Errorf("read %s: %v, want code %v", kinds[noun], err, test.want)
				}
				doc, err := s.Show(ctx, kinds[noun], test.org, test.id(noun))
				if code(err) != test.want || (err != nil) != (test.want != 0) || (err == nil) != (len(doc) > 0) {
					t.Errorf("show %s: %v, want code %v", kinds[noun], err, test.want)
				}
			}
		})
	}
}

func testRoundTrip(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	later := now.Add(1234 * time.Millisecond)
	battery, entry := 0.5, lastmile.MetadataEntry{Name: "floor", Type: "number", Visibility: []string{"api"}, Value: 3.5}
	d := destination(acme, "d")
	d.Notes, d.Warnings, d.GooglePlaceID, d.WasGeocoded = "door \"7\" <&> \u2028 é", []string{"MISMATCH_NUMBER"}, "place", true
	d.Address.Name, d.Modified, d.Metadata = "Shop", later, lastmile.Metadata{entry}
	w := worker("w", "+12125550101")
	w.DisplayName, w.Capacity, w.AdditionalCapacities = "W.", 12.5, lastmile.Capacities{A: 1, B: 2, C: 3}
	w.Vehicle = &lastmile.Vehicle{ID: id[lastmile.VehicleID]("v"), Type: lastmile.Truck, Color: "red", Modified: later}
	w.Routing, w.Timezone, w.Metadata, w.Modified = &d, "Europe/Paris", lastmile.Metadata{entry}, later
	w.Device = lastmile.Device{AppVersion: "1.2", Platform: "IOS", Description: "phone"}
	at := lastmile.Whereabouts{OnDuty: true, LastSeen: later, Location: &lastmile.Point{Lon: 12.5, Lat: 55.7}, Battery: &battery}
	days := lastmile.Schedule{{Date: "2026-03-05", Timezone: "Europe/Paris", Shifts: []lastmile.Shift{{Start: now, End: later}}}}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(
			tx.SaveDestination(ctx, d), tx.SaveWorker(ctx, w), tx.SaveWhereabouts(ctx, acme, w.ID, at), tx.SaveSchedule(ctx, acme, w.ID, days),
		)
	})
	same(t, "destination", read(t, s, func(r *sqlstore.Tx) (lastmile.Destination, error) { return r.Destination(ctx, acme, d.ID) }), d)
	w.Whereabouts = at
	routing := *w.Routing
	routing.WasGeocoded = false // the copy in a worker does not have it
	w.Routing = &routing
	same(t, "worker", read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Worker(ctx, acme, w.ID) }), w)
	same(t, "schedule", read(t, s, func(r *sqlstore.Tx) (lastmile.Schedule, error) { return r.Schedule(ctx, acme, w.ID) }), days)
}

// same fails the test if the dumps of two records differ.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := dump(got), dump(want); g != w {
		t.Errorf("%s\n got %s\nwant %s", what, g, w)
	}
}

func testAtomic(t *testing.T, s *sqlstore.Store) {
	ctx, broken := t.Context(), errors.New("broken")
	err := s.Write(ctx, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveDestination(ctx, destination(acme, "d")), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the function's own error", err)
	}
	err = s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.Destination(ctx, acme, id[lastmile.DestinationID]("d"))
		return err
	})
	if code(err) != lastmile.CodeNotFound {
		t.Errorf("the destination of a failed write: %v, want not found", err)
	}
}

func testMembership(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	one, two := worker("one", "+12125550101"), worker("two", "+12125550102")
	red, blue := team("red"), team("blue")
	red.Workers = []lastmile.WorkerID{two.ID, one.ID}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveTeam(ctx, blue), w.SaveWorker(ctx, one), w.SaveWorker(ctx, two), w.SaveTeam(ctx, red))
	})
	two.Teams = []lastmile.TeamID{blue.ID, red.ID}
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveWorker(ctx, two) })

	check := func(name string, want []lastmile.WorkerID) {
		t.Helper()
		got := read(t, s, func(r *sqlstore.Tx) (lastmile.Team, error) { return r.Team(ctx, acme, id[lastmile.TeamID](name)) })
		if !slices.Equal(got.Workers, want) {
			t.Errorf("workers of %s: %v, want %v", name, got.Workers, want)
		}
	}
	check("red", []lastmile.WorkerID{two.ID, one.ID})
	check("blue", []lastmile.WorkerID{two.ID})
	got := read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Worker(ctx, acme, two.ID) })
	if !slices.Equal(got.Teams, two.Teams) {
		t.Errorf("teams of two: %v, want %v", got.Teams, two.Teams)
	}
	in := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Worker, error) {
		return r.Workers(ctx, acme, store.WorkerFilter{Teams: []lastmile.TeamID{blue.ID}})
	})
	if len(in) != 1 || in[0].ID != two.ID {
		t.Errorf("workers in blue: %d", len(in))
	}
	red.Workers = nil
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTeam(ctx, red) })
	check("red", nil)
	check("blue", []lastmile.WorkerID{two.ID})

	boss, stranger := admin(acme, "boss"), admin(zenith, "stranger")
	write(t, s, func(w *sqlstore.Tx) error { return errors.Join(w.SaveAdmin(ctx, boss), w.SaveAdmin(ctx, stranger)) })
	members := store.Members{
		Teams: []lastmile.TeamID{blue.ID, red.ID}, Workers: []lastmile.WorkerID{two.ID, one.ID, two.ID}, Admins: []lastmile.AdminID{boss.ID},
	}
	missing := func(m store.Members, want string, wantCode lastmile.Code) {
		t.Helper()
		var got string
		err := s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			got, err = r.CheckMembers(ctx, acme, m)
			return err
		})
		if got != want || code(err) != wantCode {
			t.Errorf("the first member that is missing is %q, want %q: %v", got, want, err)
		}
	}
	if got := read(t, s, func(r *sqlstore.Tx) (string, error) { return r.CheckMembers(ctx, acme, members) }); got != "" {
		t.Errorf("%s is missing", got)
	}
	unknown := id[string]("unknown")
	missing(store.Members{Teams: []lastmile.TeamID{blue.ID, lastmile.TeamID(unknown)}}, unknown, lastmile.CodeNotFound)
	missing(store.Members{Workers: []lastmile.WorkerID{lastmile.WorkerID(unknown), one.ID}, Admins: members.Admins}, unknown, lastmile.CodeNotFound)
	missing(store.Members{Workers: members.Workers, Admins: []lastmile.AdminID{boss.ID, stranger.ID}}, string(stranger.ID), lastmile.CodeOutsideScope)
}

func testMetadata(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	color := func(value any) lastmile.MetadataEntry {
		return lastmile.MetadataEntry{Name: "color", Type: "string", Visibility: []string{"api"}, Value: value}
	}
	size := lastmile.MetadataEntry{Name: "size", Type: "number", Visibility: []string{"api"}, Value: 4.0}
	first, second, other := recipient(acme, "first", "+12125550101"), recipient(acme, "second", "+12125550102"), recipient(zenith, "other", "+12125550103")
	first.Metadata, second.Metadata, other.Metadata = lastmile.Metadata{color("red"), size}, lastmile.Metadata{color("red")}, lastmile.Metadata{color("red")}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveRecipient(ctx, first), w.SaveRecipient(ctx, second), w.SaveRecipient(ctx, other))
	})
	find := func(entries ...lastmile.MetadataEntry) (names []string) {
		found, err := s.Find(ctx, store.Recipients, acme, "", entries, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range found {
			r := read(t, s, func(r *sqlstore.Tx) (lastmile.Recipient, error) {
				return r.Recipient(ctx, acme, lastmile.RecipientID(id))
			})
			names = append(names, r.Name)
		}
		slices.Sort(names)
		return names
	}
	if got := find(color("red")); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("red: %v", got)
	}
	for most, want := range map[int]int{1: 1, 2: 2, 3: 2} {
		if got, err := s.Find(ctx, store.Recipients, acme, "", lastmile.Metadata{color("red")}, most); err != nil || len(got) != want {
			t.Errorf("red, up to %d: %v: %v", most, got, err)
		}
	}
	if got := find(color("red"), size); !slices.Equal(got, []string{"first"}) {
		t.Errorf("red and of size 4: %v", got)
	}
	first.Metadata, first.Modified = lastmile.Metadata{color("blue")}, now.Add(time.Millisecond)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, first) })
	if got := find(color("red")); !slices.Equal(got, []string{"second"}) {
		t.Errorf("red after a change: %v", got)
	}
	if got := find(color("blue")); !slices.Equal(got, []string{"first"}) {
		t.Errorf("blue after a change: %v", got)
	}
}

func testRecipients(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	kept := recipient(acme, "Åse", "+4520123456")
	kept.ID, kept.Keeper = "kept", zenith
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveRecipient(ctx, recipient(acme, "Åse Ørsted", "+4520123456")), w.SaveRecipient(ctx, recipient(zenith, "Bob", "+12125550102")),
			w.AddRecipient(ctx, kept),
		)
	})
	find := func(f store.RecipientFilter) int {
		return len(read(t, s, func(r *sqlstore.Tx) ([]lastmile.Recipient, error) { return r.Recipients(ctx, acme, f) }))
	}
	for name, test := range map[string]struct {
		filter store.RecipientFilter
		want   int
	}{
		"by name":                       {store.RecipientFilter{Name: "Åse Ørsted"}, 1},
		"by name in other letter case":  {store.RecipientFilter{Name: "åSE øRSTED"}, 1},
		"by part of a name":             {store.RecipientFilter{Name: "Åse"}, 0},
		"by phone":                      {store.RecipientFilter{Phone: "+4520123456"}, 1},
		"by another organization's":     {store.RecipientFilter{Phone: "+12125550102"}, 0},
		"by phone, of a keeper":         {store.RecipientFilter{Phone: "+4520123456", Keeper: zenith}, 1},
		"by several phones":             {store.RecipientFilter{Phones: []lastmile.Phone{"+4520123456", "+12125550102"}}, 1},
		"all":                           {store.RecipientFilter{}, 2},
		"by name with a wildcard in it": {store.RecipientFilter{Name: "%"}, 0},
	} {
		if got := find(test.filter); got != test.want {
			t.Errorf("%s: %d found, want %d", name, got, test.want)
		}
	}
}

func testKeys(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	key := lastmile.APIKey{ID: id[lastmile.KeyID]("k"), Organization: acme, Name: "shop", Hint: "abcd", Hash: "hash", Created: now}
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveKey(ctx, key) })
	same(t, "key", read(t, s, func(r *sqlstore.Tx) (lastmile.APIKey, error) { return r.KeyByHash(ctx, "hash") }), key)
	err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.KeyByHash(ctx, "no such hash")
		return err
	})
	if code(err) != lastmile.CodeUnauthenticated {
		t.Errorf("an unknown key: %v", err)
	}
	generation := func() int64 { return read(t, s, func(r *sqlstore.Tx) (int64, error) { return r.KeyGeneration(ctx) }) }
	before := generation()
	key.Revoked, key.LastUsed = now.Add(time.Hour), now.Add(time.Minute)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveKeyUse(ctx, map[lastmile.KeyID]time.Time{key.ID: key.LastUsed}),
			w.SaveKeyUse(ctx, map[lastmile.KeyID]time.Time{key.ID: now}), // an older time
			w.SaveKey(ctx, key), w.RaiseKeyGeneration(ctx),
		)
	})
	same(t, "revoked key", read(t, s, func(r *sqlstore.Tx) (lastmile.APIKey, error) { return r.KeyByHash(ctx, "hash") }), key)
	if after := generation(); after <= before {
		t.Errorf("generation %d after %d", after, before)
	}
}

func testReceipts(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	receipt := lastmile.Receipt{Organization: acme, Key: "once", Method: "POST", Path: "/teams", BodyHash: "h", Created: now}
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveReceipt(ctx, receipt, []byte(`{"name":"red"}`)) })
	find := func(r lastmile.Receipt) (kept lastmile.Receipt, err error) {
		err = s.Read(ctx, func(tx *sqlstore.Tx) (err error) {
			kept, err = tx.Receipt(ctx, r)
			return err
		})
		return kept, err
	}
	kept, err := find(receipt)
	if err != nil || string(kept.Reply) != `{"name":"red"}` || kept.BodyHash != "h" || !kept.Created.Equal(now) {
		t.Errorf("kept %+v, %v", kept, err)
	}
	for name, other := range map[string]lastmile.Receipt{
		"another organization": {Organization: zenith, Key: "once", Method: "POST", Path: "/teams"},
		"another key":          {Organization: acme, Key: "twice", Method: "POST", Path: "/teams"},
		"another method":       {Organization: acme, Key: "once", Method: "PUT", Path: "/teams"},
		"another path":         {Organization: acme, Key: "once", Method: "POST", Path: "/hubs"},
	} {
		if _, err := find(other); code(err) != lastmile.CodeNotFound {
			t.Errorf("%s: %v, want not found", name, err)
		}
	}
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.DeleteReceipts(ctx, now.Add(time.Second), 10)
		return err
	})
	if _, err := find(receipt); code(err) != lastmile.CodeNotFound {
		t.Errorf("after its time: %v, want not found", err)
	}
}

func testDelete(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	w, red, boss, depot := worker("w", "+12125550101"), team("red"), admin(acme, "boss"), hub(acme, "depot")
	red.Workers, red.Managers, red.Hub = []lastmile.WorkerID{w.ID}, []lastmile.AdminID{boss.ID}, depot.ID
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveWorker(ctx, w), tx.SaveAdmin(ctx, boss), tx.SaveHub(ctx, depot), tx.SaveTeam(ctx, red))
	})
	got := read(t, s, func(r *sqlstore.Tx) (lastmile.Hub, error) { return r.Hub(ctx, acme, depot.ID) })
	if !slices.Equal(got.Teams, []lastmile.TeamID{red.ID}) {
		t.Errorf("teams of the hub: %v", got.Teams)
	}
	second := hub(acme, "second")
	second.Location, second.Created = lastmile.Point{Lon: 1.5, Lat: -2.5}, now.Add(time.Second)
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveHub(ctx, second) })
	for limit, want := range map[int][]lastmile.Point{1: {depot.Location}, 5: {depot.Location, second.Location}} {
		got := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Point, error) { return r.HubLocations(ctx, acme, limit) })
		if !slices.Equal(got, want) {
			t.Errorf("the locations of at most %d hubs are %v, want %v", limit, got, want)
		}
	}
	if got := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Point, error) { return r.HubLocations(ctx, zenith, 5) }); len(got) > 0 {
		t.Errorf("another organization has the hubs %v", got)
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.DeleteWorker(ctx, acme, w.ID), tx.DeleteAdmin(ctx, acme, boss.ID))
	})
	left := read(t, s, func(r *sqlstore.Tx) (lastmile.Team, error) { return r.Team(ctx, acme, red.ID) })
	if len(left.Workers)+len(left.Managers) > 0 {
		t.Errorf("members after they were deleted: %v %v", left.Workers, left.Managers)
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveWorker(ctx, w), tx.SaveAdmin(ctx, boss), tx.DeleteTeam(ctx, acme, red.ID))
	})
	if got := read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Worker(ctx, acme, w.ID) }); len(got.Teams) > 0 {
		t.Errorf("teams of a worker after the team was deleted: %v", got.Teams)
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteWorker(ctx, zenith, w.ID) })
	read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Worker(ctx, acme, w.ID) })
}

func testConcurrent(t *testing.T, s *sqlstore.Store) {
	const writers, rounds = 8, 10
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTeam(ctx, team("red")) })
	var wg sync.WaitGroup
	failures := make(chan error, writers*rounds)
	for n := range writers {
		wg.Go(func() {
			for round := range rounds {
				failures <- addWorker(ctx, s, fmt.Sprintf("w%dx%d", n, round))
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, s, func(r *sqlstore.Tx) (lastmile.Team, error) { return r.Team(ctx, acme, id[lastmile.TeamID]("red")) })
	if len(got.Workers) != writers*rounds {
		t.Errorf("%d workers in the team, want %d", len(got.Workers), writers*rounds)
	}
}

// addWorker reads a team, adds a worker to it, and saves it.
func addWorker(ctx context.Context, s *sqlstore.Store, name string) error {
	return s.Write(ctx, func(w *sqlstore.Tx) error {
		red, err := w.Team(ctx, acme, id[lastmile.TeamID]("red"))
		if err != nil {
			return err
		}
		made := worker(name, lastmile.Phone("+1"+name))
		red.Workers = append(red.Workers, made.ID)
		return errors.Join(w.SaveWorker(ctx, made), w.SaveTeam(ctx, red))
	})
}
