package app

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dray/internal/access"
	"dray/internal/fleet"
	"dray/internal/lastmile"
)

// demoFile keeps the demonstration's API key in the data folder, so that the
// next start shows the same one.
const demoFile = "demo.json"

func demoCommand() command {
	return command{
		name: "demo", summary: "Serve a demonstration organization and say how to use it",
		examples: []string{"dray demo", "dray demo --listen 127.0.0.1:9000 --data try-it"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.LogFormat = "text"
			c.bindStorage(f)
			c.bindServer(f)
			return func(ctx context.Context, inv *invocation) error {
				return Run(ctx, inv.Config, func(a *App) error {
					shown, err := a.demonstration(ctx)
					if err != nil {
						return err
					}
					return shown.explain(inv.out, a.Config.url())
				})
			}
		},
	}
}

// demonstration is what a visitor needs to try the platform.
type demonstration struct {
	Organization lastmile.OrganizationID `json:"organization"`
	APIKey       string                  `json:"apiKey"`
	Worker       lastmile.WorkerID       `json:"worker"`
}

// demonstration makes the demonstration organization, or finds the one of an
// earlier start.
func (a *App) demonstration(ctx context.Context) (demonstration, error) {
	file := filepath.Join(a.Config.Data, demoFile)
	var shown demonstration
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &shown); err != nil {
			return shown, fmt.Errorf("read %s: %w", file, err)
		}
		if _, err := a.Keys.Authenticate(ctx, shown.APIKey); err == nil {
			return shown, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return shown, err
	}
	if shown, err = a.makeDemonstration(ctx); err != nil {
		return shown, err
	}
	if text, err = json.Marshal(shown); err != nil {
		return shown, err
	}
	if err := os.MkdirAll(a.Config.Data, 0o700); err != nil {
		return shown, err
	}
	return shown, os.WriteFile(file, text, 0o600)
}

func (a *App) makeDemonstration(ctx context.Context) (demonstration, error) {
	made, err := a.Directory.Create(ctx, lastmile.OrganizationDraft{
		Name: "Demonstration Courier", Country: "US", Timezone: "America/New_York",
	})
	if err != nil {
		return demonstration{}, err
	}
	who := access.Principal{Organization: made.Organization.ID}
	name, none, nobody := "Downtown", []lastmile.WorkerID{}, []lastmile.AdminID{}
	team, err := a.Fleet.CreateTeam(ctx, who, lastmile.TeamChange{Name: &name, Workers: &none, Managers: &nobody})
	if err != nil {
		return demonstration{}, err
	}
	hub := "City Hall Depot"
	_, err = a.Fleet.CreateHub(ctx, who, fleet.HubDraft{
		Change: lastmile.HubChange{Name: &hub, Teams: &[]lastmile.TeamID{team.Record.ID}},
		Address: &lastmile.DestinationDraft{
			Address:  &lastmile.Address{Number: "1", Street: "Centre Street", City: "New York", State: "New York", PostalCode: "10007", Country: "United States"},
			Location: &lastmile.Point{Lon: -74.0036, Lat: 40.7129},
		},
	})
	if err != nil {
		return demonstration{}, err
	}
	driver, vehicle := "Ada Example", string(lastmile.Bicycle)
	worker, err := a.Fleet.CreateWorker(ctx, who, fleet.WorkerDraft{WorkerDraft: lastmile.WorkerDraft{
		Phone: "+12125550142",
		Change: lastmile.WorkerChange{
			Name: &driver, Teams: &[]lastmile.TeamID{team.Record.ID}, Vehicle: &lastmile.VehicleChange{Type: &vehicle},
		},
	}})
	return demonstration{Organization: made.Organization.ID, APIKey: made.APIKey, Worker: worker.ID}, err
}

// explain prints what to do next.
func (d demonstration) explain(out io.Writer, url string) error {
	_, err := fmt.Fprintf(out, `
Dray is serving a demonstration organization.

  Dashboard   %[1]s/
  Reference   %[1]s/docs
  Interface   %[1]s/api/v2
  API key     %[2]s

Try it:

  curl -u %[2]s: %[1]s/api/v2/auth/test
  curl -u %[2]s: %[1]s/api/v2/workers
  curl -u %[2]s: %[1]s/api/v2/recipients -d '{"name":"Grace Example","phone":"+12125550199"}'

Text messages, such as the password of a new worker, are printed by:

  dray outbox

Ctrl-C stops the server; what it holds stays for the next start.

`, url, d.APIKey)
	return err
}
