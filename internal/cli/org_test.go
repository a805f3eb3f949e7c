package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/ordering"
)

// failingWrites is a store whose next write fails.
type failingWrites struct {
	ordering.ClientStore
	err error
}

func (s *failingWrites) Write(ctx context.Context, fn func(ordering.ClientWriter) error) error {
	if err := s.err; err != nil {
		s.err = nil
		return err
	}
	return s.ClientStore.Write(ctx, fn)
}

// TestEndReportsErrors ends the connection with a client while the database fails. The
// command must report that error, and not go on as if the id were that of a courier.
func TestEndReportsErrors(t *testing.T) {
	config := app.DefaultConfig()
	config.Data = t.TempDir()
	inv := &invocation{Config: config, out: screen{Writer: &bytes.Buffer{}}, errs: screen{Writer: &bytes.Buffer{}}}
	err := inv.withNew(t.Context(), func(a *app.App) error {
		made, err := a.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Courier", Country: "US", Timezone: "UTC"})
		if err != nil {
			return err
		}
		who := lastmile.Principal{Organization: made.Organization.ID}
		client, err := a.Clients.Link(t.Context(), who.Organization, app.ClientDraft{New: lastmile.OrganizationDraft{Name: "Shop"}})
		if err != nil {
			return err
		}
		full := errors.New("the disk is full")
		a.Clients.Store = &failingWrites{a.Clients.Store, full}
		if err := manageClients(t.Context(), inv, a, who, nil, new(string(client.ID))); !errors.Is(err, full) {
			t.Errorf("the error is %v", err)
		}
		return manageClients(t.Context(), inv, a, who, nil, new(string(client.ID)))
	})
	if err != nil {
		t.Error(err)
	}
}
