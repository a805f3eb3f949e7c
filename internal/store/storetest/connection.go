package storetest

import (
	"errors"
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
		return errors.Join(w.SaveClient(ctx, late), w.SaveClient(ctx, early), w.SaveClient(ctx, theirs), w.Connect(ctx, acme, shop), w.Connect(ctx, acme, shop))
	})
	get := func(of lastmile.OrganizationID, key string) (store.Client, error) {
		var found store.Client
		err := s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			found, err = r.Client(ctx, of, key)
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
	for _, key := range []string{"nobody", string(acme)} {
		if _, err := get(acme, key); !lastmile.IsNotFound(err) {
			t.Errorf("client %s: %v", key, err)
		}
	}
	clients := func(of lastmile.OrganizationID) []store.Client {
		return read(t, s, func(r *sqlstore.Tx) ([]store.Client, error) { return r.Clients(ctx, of) })
	}
	same(t, "clients, oldest first", clients(acme), []store.Client{early, late})
	same(t, "couriers of an organization", read(t, s, func(r *sqlstore.Tx) ([]store.Client, error) { return r.Couriers(ctx, shop) }), []store.Client{theirs, late})
	for _, key := range []string{string(late.ID), string(acme)} {
		same(t, "a courier by "+key, read(t, s, func(r *sqlstore.Tx) (store.Client, error) { return r.Courier(ctx, shop, key) }), late)
	}
	late.Status, late.Name, late.ShowName, late.Modified = store.ClientDeleted, "renamed", false, now.Add(time.Hour)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveClient(ctx, late) })
	same(t, "clients without those that were deleted", clients(acme), []store.Client{early})
	if got, err := get(acme, string(late.ID)); err != nil || got != late {
		t.Errorf("the deleted client is %+v: %v", got, err)
	}
	same(t, "how many clients there were", read(t, s, func(r *sqlstore.Tx) (int, error) { return r.CountClients(ctx, acme) }), 2)
	for of, want := range map[lastmile.OrganizationID]bool{shop: true, zenith: false, acme: false} {
		same(t, "opened "+string(of), read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.IsOpened(ctx, of) }), want)
	}

	connected := func(one, other lastmile.OrganizationID) bool {
		return read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.Connected(ctx, one, other) })
	}
	same(t, "connections", read(t, s, func(r *sqlstore.Tx) ([]lastmile.OrganizationID, error) { return r.Delegatees(ctx, acme) }), []lastmile.OrganizationID{shop})
	same(t, "each direction of a connection", []bool{connected(acme, shop), connected(shop, acme), connected(acme, zenith)}, []bool{true, false, false})
	write(t, s, func(w *sqlstore.Tx) error { return errors.Join(w.Disconnect(ctx, acme, shop), w.Disconnect(ctx, acme, shop)) })
	same(t, "a connection that was removed", connected(acme, shop), false)
}
