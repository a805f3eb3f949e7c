package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

func testDriver(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	w := worker("w", "+12125550101")
	credential := store.Credential{Organization: acme, Worker: w.ID, Hash: "h", Temporary: true, Expires: now.Add(time.Hour)}
	session := lastmile.Session{Hash: "token", Organization: acme, Worker: w.ID, Created: now, Used: now, Temporary: true}
	action := store.Action{Organization: acme, Worker: w.ID, ID: "a", Task: "t", Verb: "start", At: now, Received: now}
	write(t, s, func(tx *sqlstore.Tx) error {
		org := lastmile.Organization{ID: acme, Created: now, Country: "US"}
		return errors.Join(tx.SaveOrganization(ctx, org), tx.SaveWorker(ctx, w), tx.SaveCredential(ctx, credential), tx.SaveSession(ctx, session), tx.SaveAction(ctx, action))
	})
	found := read(t, s, func(r *sqlstore.Tx) ([]store.Credential, error) { return r.CredentialsByPhone(ctx, w.Phone) })
	same(t, "credentials", found, []store.Credential{credential})
	countries := read(t, s, func(r *sqlstore.Tx) (map[lastmile.Phone][]string, error) {
		return r.CountriesByPhone(ctx, []lastmile.Phone{w.Phone, "+4930123456"})
	})
	same(t, "countries", countries, map[lastmile.Phone][]string{w.Phone: {"US"}})
	credential = store.Credential{Organization: acme, Worker: w.ID, Hash: "own"}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveCredential(ctx, credential) })
	found = read(t, s, func(r *sqlstore.Tx) ([]store.Credential, error) { return r.CredentialsByPhone(ctx, w.Phone) })
	same(t, "credentials with a password of the worker", found, []store.Credential{credential})
	credential = store.Credential{Organization: acme, Worker: w.ID, Hash: "h", Temporary: true, Expires: now.Add(time.Hour)}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveCredential(ctx, credential) })
	same(t, "session", read(t, s, func(r *sqlstore.Tx) (lastmile.Session, error) { return r.SessionByHash(ctx, "token") }), session)
	if got, err := s.FindSession(ctx, "token"); err != nil || got != session {
		t.Errorf("found session %+v, %v", got, err)
	}
	done := func(a store.Action) (done bool) {
		same(t, "action", read(t, s, func(r *sqlstore.Tx) (before store.Action, err error) {
			if before, done, err = r.ActionDone(ctx, a); !done {
				before = a
			}
			return before, err
		}), action)
		return done
	}
	if !done(action) || !done(store.Action{Organization: acme, Worker: w.ID, ID: "a", Task: "u", Verb: "complete"}) {
		t.Error("an action is known by its id")
	}
	action.ID = "b"
	if done(action) {
		t.Error("an action that was not done is known")
	}
	testSessions(t, s, session)
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteWorker(ctx, acme, w.ID) })
	err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.SessionByHash(ctx, "token")
		return err
	})
	if code(err) != lastmile.CodeUnauthenticated {
		t.Errorf("the session of a deleted worker: %v", err)
	}
	if _, err := s.FindSession(ctx, "token"); code(err) != lastmile.CodeUnauthenticated {
		t.Errorf("found the session of a deleted worker: %v", err)
	}
}

// testSessions saves and ends other sessions of a worker.
func testSessions(t *testing.T, s *sqlstore.Store, session lastmile.Session) {
	ctx := t.Context()
	left := func() (hashes []string) {
		for _, hash := range []string{"token", "1", "2", "3", "4"} {
			err := s.Read(ctx, func(r *sqlstore.Tx) error {
				_, err := r.SessionByHash(ctx, hash)
				return err
			})
			if err == nil {
				hashes = append(hashes, hash)
			}
		}
		return hashes
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		for i, hash := range []string{"1", "2", "3", "4"} {
			other := session
			other.Hash, other.Created, other.Used = hash, now.Add(time.Duration(i+1)*time.Minute), now.Add(time.Duration(4-i)*time.Minute)
			if err := tx.SaveSession(ctx, other); err != nil {
				return err
			}
		}
		return tx.DeleteOldSessions(ctx, acme, session.Worker, 4)
	})
	same(t, "the newest sessions", left(), []string{"1", "2", "3", "4"})
	write(t, s, func(tx *sqlstore.Tx) error {
		_, err := tx.DeleteUnusedSessions(ctx, now.Add(2*time.Minute), 10)
		return err
	})
	same(t, "sessions in use", left(), []string{"1", "2", "3"})
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteSession(ctx, "1") })
	same(t, "sessions after one ended", left(), []string{"2", "3"})
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.DeleteSessions(ctx, zenith, session.Worker, ""), tx.DeleteSessions(ctx, acme, session.Worker, "3"))
	})
	same(t, "sessions after all others ended", left(), []string{"3"})
}

func testSignInAllowance(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	full := func(account, source string) time.Time {
		return read(t, s, func(r *sqlstore.Tx) (time.Time, error) { return r.SignInAllowance(ctx, account, source) })
	}
	same(t, "an allowance that was not used", full("+12125550101", "a"), time.Time{})
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(
			tx.SaveSignInAllowance(ctx, "+12125550101", "a", now), tx.SaveSignInAllowance(ctx, "+12125550101", "a", now.Add(time.Minute)),
			tx.SaveSignInAllowance(ctx, "+12125550101", "b", now), tx.SaveSignInAllowance(ctx, "", "a", now.Add(time.Hour)),
		)
	})
	same(t, "an allowance that was used twice", full("+12125550101", "a"), now.Add(time.Minute))
	write(t, s, func(tx *sqlstore.Tx) error {
		n, err := tx.DeleteSignInAllowances(ctx, now.Add(time.Second), 10)
		same(t, "deleted allowances", n, 1)
		return err
	})
	same(t, "an allowance that is full", full("+12125550101", "b"), time.Time{})
	write(t, s, func(tx *sqlstore.Tx) error { return tx.ResetSignInAllowances(ctx, "+12125550101") })
	same(t, "an allowance after the reset", full("+12125550101", "a"), time.Time{})
	same(t, "the allowance of a network", full("", "a"), now.Add(time.Hour))
}

func testGeography(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	wanted := lastmile.Settings{
		HideBarcodes:       true,
		GeocodingPrecision: lastmile.PrecisionStreet, Geofence: lastmile.Geofence{Level: lastmile.GeofenceBlock, Radius: 120},
	}
	page := lastmile.PageSettings{Phone: "+12125550100", Color: "#0b6b50", NewTimes: true}
	places := []lastmile.PostalArea{
		{Country: "DK", Code: "1450", Name: "København K", State: "Hovedstaden", Location: lastmile.Point{Lon: 12.57, Lat: 55.68}},
		{Country: "DK", Code: "8000", Name: "Aarhus C", State: "Midtjylland", Location: lastmile.Point{Lon: 10.2, Lat: 56.16}},
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(
			tx.SavePostalAreas(ctx, 0, places), tx.SaveResponse(ctx, "k", []byte("v"), now.Add(time.Hour)),
			tx.SaveSettings(ctx, acme, wanted), tx.SavePageSettings(ctx, acme, lastmile.PageSettings{Color: "#000000"}), tx.SavePageSettings(ctx, acme, page),
			tx.SaveTrip(ctx, acme, "t", now, lastmile.Trip{Estimated: time.Minute, Actual: 2 * time.Minute}),
		)
	})
	look := func(country, code string) (count int, known bool) {
		read(t, s, func(r *sqlstore.Tx) (bool, error) {
			found, imported, err := r.PostalAreas(ctx, country, code)
			count, known = len(found), imported
			return imported, err
		})
		return count, known
	}
	if count, known := look("DK", "1450"); count != 1 || !known {
		t.Errorf("a known code: %d places, imported %v", count, known)
	}
	if count, known := look("DK", "9999"); count != 0 || !known {
		t.Errorf("an unknown code of a known country: %d places, imported %v", count, known)
	}
	if count, known := look("SE", "1450"); count != 0 || known {
		t.Errorf("an unknown country: %d places, imported %v", count, known)
	}
	reply := func(at time.Time) string {
		return string(read(t, s, func(r *sqlstore.Tx) ([]byte, error) { return r.CachedResponse(ctx, "k", at) }))
	}
	if reply(now) != "v" || reply(now.Add(2*time.Hour)) != "" {
		t.Error("a response is kept until it expires")
	}
	if got := read(t, s, func(r *sqlstore.Tx) (lastmile.Settings, error) { return r.Settings(ctx, acme) }); got != wanted {
		t.Errorf("settings %+v", got)
	}
	if got := read(t, s, func(r *sqlstore.Tx) (lastmile.Settings, error) { return r.Settings(ctx, zenith) }); got != (lastmile.Settings{}) {
		t.Errorf("settings of an unknown worker %+v", got)
	}
	for org, want := range map[lastmile.OrganizationID]lastmile.PageSettings{acme: page, zenith: {}} {
		if got := read(t, s, func(r *sqlstore.Tx) (lastmile.PageSettings, error) { return r.PageSettings(ctx, org) }); got != want {
			t.Errorf("settings of tracking pages of %s: %+v, want %+v", org, got, want)
		}
	}
	trips := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Trip, error) { return r.Trips(ctx, acme, 10) })
	if len(trips) != 1 || trips[0].Actual != 2*time.Minute {
		t.Errorf("trips %v", trips)
	}
}
