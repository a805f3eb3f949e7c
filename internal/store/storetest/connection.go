package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

func testConnections(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	shop := id[lastmile.OrganizationID]("shop")
	client := func(courier lastmile.OrganizationID, name string, of lastmile.OrganizationID, at time.Duration) store.Client {
		return store.Client{
			ID: id[lastmile.ClientID](name), Courier: courier, Organization: of, Name: name, Status: store.ClientActive,
			Created: now.Add(at), Modified: now.Add(at),
		}
	}
	late, early, theirs := client(acme, "late", shop, time.Second), client(acme, "early", zenith, 0), client(zenith, "theirs", shop, 0)
	late.ShowName, late.Opened = true, true
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).SaveClient(ctx, late), orders(w).SaveClient(ctx, early), orders(w).SaveClient(ctx, theirs), orders(w).Connect(ctx, acme, shop), orders(w).Connect(ctx, acme, shop))
	})
	get := func(of lastmile.OrganizationID, key string) (store.Client, error) {
		var found store.Client
		err := s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			found, err = orders(r).Client(ctx, of, key)
			return err
		})
		return found, err
	}
	for _, key := range []string{string(late.ID), string(shop)} {
		if got, err := get(acme, key); err != nil || got != late {
			t.Errorf("client %s is %+v: %v", key, got, err)
		}
	}
	if _, err := get(zenith, string(late.ID)); err == nil || err.Error() != lastmile.OutsideScope(string(late.ID)).Error() {
		t.Errorf("another courier's client: %v", err)
	}
	for _, key := range []string{"missing", string(acme)} {
		if _, err := get(acme, key); !lastmile.IsNotFound(err) {
			t.Errorf("client %s: %v", key, err)
		}
	}
	clients := func(of lastmile.OrganizationID) []store.Client {
		return read(t, s, func(r *sqlstore.Tx) ([]store.Client, error) { return orders(r).Clients(ctx, of) })
	}
	same(t, "clients, oldest first", clients(acme), []store.Client{early, late})
	same(t, "couriers of an organization", read(t, s, func(r *sqlstore.Tx) ([]store.Client, error) { return orders(r).Couriers(ctx, shop) }), []store.Client{theirs, late})
	for _, key := range []string{string(late.ID), string(acme)} {
		same(t, "a courier by "+key, read(t, s, func(r *sqlstore.Tx) (store.Client, error) { return orders(r).Courier(ctx, shop, key) }), late)
	}
	late.Status, late.Name, late.ShowName, late.Modified = store.ClientDeleted, "renamed", false, now.Add(time.Hour)
	write(t, s, func(w *sqlstore.Tx) error { return orders(w).SaveClient(ctx, late) })
	same(t, "clients without those that were deleted", clients(acme), []store.Client{early})
	if got, err := get(acme, string(late.ID)); err != nil || got != late {
		t.Errorf("the deleted client is %+v: %v", got, err)
	}
	same(t, "how many clients there were", read(t, s, func(r *sqlstore.Tx) (int, error) { return orders(r).CountClients(ctx, acme) }), 2)
	for of, want := range map[lastmile.OrganizationID]bool{shop: true, zenith: false, acme: false} {
		same(t, "opened "+string(of), read(t, s, func(r *sqlstore.Tx) (bool, error) { return orders(r).IsOpened(ctx, of) }), want)
	}

	connected := func(one, other lastmile.OrganizationID) bool {
		return read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.Connected(ctx, one, other) })
	}
	same(t, "connections", read(t, s, func(r *sqlstore.Tx) ([]lastmile.OrganizationID, error) { return r.Delegatees(ctx, acme) }), []lastmile.OrganizationID{shop})
	same(t, "each direction of a connection", []bool{connected(acme, shop), connected(shop, acme), connected(acme, zenith)}, []bool{true, false, false})
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).Disconnect(ctx, acme, shop), orders(w).Disconnect(ctx, acme, shop))
	})
	same(t, "a connection that was removed", connected(acme, shop), false)
}

// testPlaced places tasks of one organization with another.
func testPlaced(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	shop := id[lastmile.OrganizationID]("shop")
	ann, theirs := recipient(shop, "ann", "+12125550100"), recipient(acme, "other", "+12125550100")
	entry := lastmile.Metadata{{Name: "of", Type: lastmile.MetadataString, Visibility: []string{"api"}, Value: "shop"}}
	var placed []lastmile.Task
	for i := range 5 {
		made := task(acme, fmt.Sprintf("placed%dx", i), home, now.Add(time.Duration(i)*time.Second))
		made.Origin, made.Recipient, made.Metadata = shop, &ann, entry
		placed = append(placed, made)
	}
	own, foreign := task(shop, "own", lastmile.OrganizationContainer(shop), now.Add(2500*time.Millisecond)), task(acme, "foreign", home, now)
	placed[4].Dependencies = []lastmile.TaskID{placed[3].ID}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveRecipient(ctx, ann), w.SaveRecipient(ctx, theirs))
	})
	saveTasks(t, s, append(slices.Clone(placed), own, foreign)...)

	for limit, want := range map[int]int{10: 5, 3: 3} {
		same(t, "open tasks with others", read(t, s, func(r *sqlstore.Tx) (int, error) { return r.CountPlaced(ctx, shop, limit) }), want)
	}
	same(t, "open tasks of an executor with others", read(t, s, func(r *sqlstore.Tx) (int, error) { return r.CountPlaced(ctx, acme, 10) }), 0)

	same(t, "what the executor reads", readTask(t, s, "placed0x"), placed[0])
	visible := func(org lastmile.OrganizationID, task lastmile.TaskID) (found lastmile.Task, err error) {
		err = s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			found, err = r.VisibleTask(ctx, org, task)
			return err
		})
		return found, err
	}
	for _, org := range []lastmile.OrganizationID{acme, shop} {
		if got, err := visible(org, placed[0].ID); err != nil {
			t.Errorf("%s reads %v", org, err)
		} else {
			same(t, "the task, by its id", got, placed[0])
		}
		same(t, "the task, by its short id", read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) { return r.TaskByShortID(ctx, org, placed[0].ShortID) }), placed[0])
		doc, err := s.Show(ctx, store.Tasks, org, string(placed[0].ID))
		var shown struct {
			Organization, Executor string
			Recipients             []struct{ ID, Organization string }
		}
		if err == nil {
			err = json.Unmarshal(doc, &shown)
		}
		if err != nil || shown.Organization != string(shop) || shown.Executor != string(acme) || len(shown.Recipients) != 1 || shown.Recipients[0].ID != string(ann.ID) {
			t.Errorf("%s is shown %s: %v", org, doc, err)
		}
		if again, err := s.ShowAll(ctx, store.Tasks, org, []string{string(placed[1].ID), string(placed[0].ID)}); err != nil || len(again) != 2 || string(again[1]) != string(doc) {
			t.Errorf("%s is shown %s among others: %v", org, again, err)
		}
		if left := read(t, s, func(r *sqlstore.Tx) (map[lastmile.TaskID][]byte, error) {
			return r.TasksLeft(ctx, org, []lastmile.TaskID{placed[0].ID, id[lastmile.TaskID]("gone")}, 1<<20)
		}); len(left) != 1 || string(left[placed[0].ID]) != string(doc) {
			t.Errorf("%s has left %s", org, left)
		}
		found, err := s.Find(ctx, store.Tasks, org, "", entry, 3)
		if err != nil || !slices.Equal(found, []string{string(placed[0].ID), string(placed[1].ID), string(placed[2].ID)}) {
			t.Errorf("%s finds %v: %v", org, found, err)
		}
	}
	for what, at := range map[string]struct {
		org  lastmile.OrganizationID
		task lastmile.TaskID
	}{"a stranger reads": {zenith, placed[0].ID}, "the origin reads another": {shop, foreign.ID}, "the executor reads the origin's own": {acme, own.ID}} {
		if _, err := visible(at.org, at.task); err == nil || err.Error() != lastmile.OutsideScope(string(at.task)).Error() {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Show(ctx, store.Tasks, at.org, string(at.task)); err == nil || err.Error() != lastmile.OutsideScope(string(at.task)).Error() {
			t.Errorf("%s, to be shown: %v", what, err)
		}
	}
	list := func(f store.TaskFilter) (names []string) {
		page, err := s.ShowTasks(ctx, shop, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range page {
			names = append(names, string(shown.ID))
		}
		return names
	}
	names := func(tasks ...lastmile.Task) (names []string) {
		for _, task := range tasks {
			names = append(names, string(task.ID))
		}
		return names
	}
	all := store.TaskFilter{From: now, Limit: 4}
	same(t, "the first page", list(all), names(placed[0], placed[1], placed[2], own))
	all.After = own.ID
	same(t, "the second page", list(all), names(placed[3], placed[4]))
	all.After = placed[2].ID
	same(t, "a page after a placed task", list(all), names(own, placed[3], placed[4]))
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTask(ctx, acme, placed[2].ID) })
	same(t, "a page after one that is gone", list(all), names(own, placed[3], placed[4]))
	same(t, "those with a dependency", list(store.TaskFilter{From: now, Dependencies: []lastmile.TaskID{placed[3].ID}}), names(placed[4]))
	same(t, "those in a container", list(store.TaskFilter{From: now, Containers: []string{string(shop)}}), names(own))
	same(t, "those of a state that none has", list(store.TaskFilter{From: now, States: []lastmile.TaskState{lastmile.TaskActive}}), []string(nil))
	if found, err := s.Find(ctx, store.Tasks, shop, "", entry, 0); err != nil || slices.Contains(found, string(placed[2].ID)) {
		t.Errorf("found %v: %v", found, err)
	}

	done := placed[1]
	done.State, done.Container, done.Completion.At = lastmile.TaskCompleted, lastmile.ContainerRef{}, now.Add(2*time.Hour)
	done.Metadata = nil
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, done) })
	same(t, "those completed in a window that begins later", list(store.TaskFilter{From: now.Add(time.Hour)}), names(done))
	if found, err := s.Find(ctx, store.Tasks, shop, "", entry, 0); err != nil || slices.Contains(found, string(done.ID)) {
		t.Errorf("found %v: %v", found, err)
	}
}
