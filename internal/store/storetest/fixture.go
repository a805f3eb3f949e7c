package storetest

import (
	"errors"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func write(t *testing.T, s *sqlstore.Store, fn func(w *sqlstore.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func read[T any](t *testing.T, s *sqlstore.Store, fn func(r *sqlstore.Tx) (T, error)) T {
	t.Helper()
	var got T
	err := s.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
		got, err = fn(r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func code(err error) lastmile.Code {
	if rejection, ok := errors.AsType[*lastmile.Error](err); ok {
		return rejection.Code
	}
	return 0
}

// Sample records, as small as they can be.
func destination(org lastmile.OrganizationID, name string) lastmile.Destination {
	return lastmile.Destination{
		ID: id[lastmile.DestinationID](name), Organization: org, Created: now, Modified: now, UseGPS: true,
		Location: lastmile.Point{Lon: -74.0036, Lat: 40.7129}, Address: lastmile.Address{City: "New York", Country: "United States"},
	}
}

func recipient(org lastmile.OrganizationID, name string, phone lastmile.Phone) lastmile.Recipient {
	return lastmile.Recipient{ID: id[lastmile.RecipientID](name), Organization: org, Created: now, Modified: now, Name: name, Phone: phone}
}

func worker(name string, phone lastmile.Phone) lastmile.Worker {
	return lastmile.Worker{
		ID: id[lastmile.WorkerID](name), Organization: acme, Created: now, Modified: now, Name: name, Phone: phone,
		AccountStatus: lastmile.AccountInvited,
	}
}

func team(name string) lastmile.Team {
	return lastmile.Team{ID: id[lastmile.TeamID](name), Organization: acme, Created: now, Modified: now, Name: name}
}

func admin(org lastmile.OrganizationID, name string) lastmile.Admin {
	return lastmile.Admin{
		ID: id[lastmile.AdminID](name), Organization: org, Created: now, Modified: now, Name: name,
		Email: name + "@example.com", Type: lastmile.AdminStandard,
	}
}

func hub(org lastmile.OrganizationID, name string) lastmile.Hub {
	return lastmile.Hub{ID: id[lastmile.HubID](name), Organization: org, Created: now, Name: name}
}
