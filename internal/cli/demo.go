package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"

	"dray/internal/simulate"
	"dray/internal/textmessage"
)

// demoFile stores the API key of the demonstration in the data folder, so that
// the next start uses the same one.
const demoFile = "demo.json"

// The workers of the demonstration. Their numbers are from the range reserved
// for fiction.
const (
	demoPassword = "demonstration"
	demoPrefix   = "+1212555"
	demoFirst    = 100
	demoMost     = 42 // maximum number of workers; the next phone number is the visitor's
	demoVisitor  = "+12125550142"
	demoShop     = "Corner Shop"  // client of the organization
	demoPhone    = "+12125550143" // the number that recipients can call
	demoEmail    = "demo@dray.example"
)

func demoCommand() command {
	return command{
		name: "demo", summary: "Serve a demonstration organization with workers on the move",
		endless:  true,
		examples: []string{"dray demo", "dray demo --listen 127.0.0.1:9000 --data try-it", "dray demo --workers 40 --speed 8", "dray demo --map copenhagen.osm.pbf --data copenhagen"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.LogFormat, c.LogLevel, c.ShortRetention, c.Demo = "text", slog.LevelWarn, true, true
			c.BindStorage(f)
			c.BindServer(f)
			pace := simulate.Options{Interval: 3 * time.Second, Radius: 1500, Offline: 0.08, Unassigned: 4, Pause: 15 * time.Second}
			f.IntVar(&pace.Workers, "workers", 18, "`number` of simulated workers; 0 for none")
			f.Float64Var(&pace.Speed, "speed", 4, "`factor` by which everything that takes time is faster than in real life")
			f.Uint64Var(&pace.Seed, "seed", 1, "`seed` of the random number generator")
			file := f.String("map", "", "`file` of a city to play in, an extract of OpenStreetMap (.osm.pbf) (default a generated town)")
			return func(ctx context.Context, inv *invocation) error {
				if err := checkPace(pace); err != nil {
					return err
				}
				if pace.Workers > demoMost {
					return usageErrorf("--workers must be at most %d", demoMost)
				}
				inv.Config.Speed = pace.Speed
				where, err := prepareCity(ctx, inv, *file, pace.Seed)
				if err != nil {
					return err
				}
				return app.Run(ctx, inv.Config, func(ctx context.Context, a *app.App) error {
					whole := context.WithoutCancel(ctx) // also when interrupted, the instructions are printed
					shown, err := openDemonstration(whole, a, where, pace.Workers > 0)
					if err == nil && pace.Workers > 0 {
						err = shown.scaleMessages(whole, a, pace.Speed)
					}
					if err != nil {
						return err
					}
					return shown.start(ctx, a, pace, inv)
				})
			}
		},
	}
}

// demonstration is the demonstration organization.
type demonstration struct {
	Organization lastmile.OrganizationID `json:"organization"`
	APIKey       string                  `json:"apiKey"`
	Map          string                  `json:"map,omitempty"`     // name of the city's map; empty for a grid of streets, as of older versions
	ShopKey      string                  `json:"shopKey,omitempty"` // key of the client that orders deliveries
	Starts       uint64                  `json:"starts"`            // each start creates different tasks
}

// readDemonstration returns the demonstration of an earlier start, if there is one.
func readDemonstration(data string) (shown demonstration, err error) {
	file := filepath.Join(data, demoFile)
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &shown); err != nil {
			return shown, fmt.Errorf("read %s: %w", file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return shown, err
	}
	return shown, nil
}

// prepareCity imports the map of the demonstration's city, and returns its name. Workers
// and tasks of an earlier start stay in their city, so that another city needs another data
// folder.
func prepareCity(ctx context.Context, inv *invocation, file string, seed uint64) (name string, err error) {
	before, err := readDemonstration(inv.Config.Data)
	if err != nil {
		return "", err
	}
	if file == "" && (before.APIKey == "" || before.Map == app.TownMap) {
		inv.progress.report("the town is built", 0)
		defer inv.progress.watch("demo")()
		return app.TownMap, inv.Config.ImportTown(ctx, seed, func(product string, share float64) {
			inv.progress.report("the town, "+product+" "+bar(share), 0)
		})
	}
	if file == "" {
		return before.Map, nil
	}
	name = app.MapName(file)
	if before.APIKey != "" && before.Map != name {
		return "", usageErrorf("the demonstration in %s plays elsewhere; choose another folder with --data", inv.Config.Data)
	}
	folder := inv.Config.MapFolder()
	maps, err := folder.List()
	if err != nil || slices.ContainsFunc(maps, func(m app.ImportedMap) bool { return m.Name == name }) {
		return name, err
	}
	inv.progress.report(name, 0)
	defer inv.progress.watch("demo")()
	_, err = folder.Import(ctx, file, name, func(product string, share float64) {
		inv.progress.report(name+", "+product+" "+bar(share), 0)
	})
	return name, err
}

// openDemonstration creates the demonstration organization, or finds the one of
// an earlier start. If workers are moving, a client orders deliveries from it.
func openDemonstration(ctx context.Context, a *app.App, where string, moving bool) (demonstration, error) {
	shown, err := readDemonstration(a.Config.Data)
	if err != nil {
		return shown, err
	}
	if _, err := a.Keys.Authenticate(ctx, shown.APIKey); err != nil {
		made, err := a.Organizations.Create(ctx, lastmile.OrganizationDraft{
			Name: "Demonstration Courier", Country: "US", Timezone: "America/New_York",
		})
		if err != nil {
			return shown, err
		}
		shown = demonstration{Organization: made.Organization.ID, APIKey: made.APIKey, Map: where}
		_, err = a.Pages.Configure(ctx, shown.Organization, lastmile.PageSettingsChange{Phone: new(demoPhone), NewTimes: new(true)})
		if err != nil {
			return shown, err
		}
	}
	if err := openAccount(ctx, a, shown.Organization); err != nil {
		return shown, err
	}
	if shown.ShopKey == "" && moving {
		client, err := a.Clients.Link(ctx, shown.Organization, app.ClientDraft{New: lastmile.OrganizationDraft{Name: demoShop}})
		if err != nil {
			return shown, err
		}
		shown.ShopKey = client.APIKey
	}
	shown.Starts++
	text, err := json.Marshal(shown)
	if err != nil {
		return shown, err
	}
	if err := os.MkdirAll(a.Config.Data, 0o700); err != nil {
		return shown, err
	}
	return shown, os.WriteFile(filepath.Join(a.Config.Data, demoFile), text, 0o600)
}

// openAccount creates the administrator of the demonstration, who owns the
// installation, unless there is one.
func openAccount(ctx context.Context, a *app.App, org lastmile.OrganizationID) error {
	name, kind := "Ada Example", string(lastmile.AdminSuper)
	_, err := a.Admins.Create(ctx, lastmile.Principal{Organization: org}, access.AdminDraft{
		Change: lastmile.AdminChange{Name: &name, Email: new(demoEmail), Type: &kind}, Created: a.Links.InviteOwner,
	})
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok && rejected.Code == lastmile.CodeDuplicate {
		return nil
	}
	return err
}

// scaleMessages sets the times of text messages to those of the demonstration.
func (d demonstration) scaleMessages(ctx context.Context, a *app.App, speed float64) error {
	_, err := a.Messages.Configure(ctx, d.Organization, func(s *textmessage.Settings) error {
		scaled := func(usual time.Duration) time.Duration {
			return max(time.Duration(float64(usual)/speed).Truncate(time.Second), time.Second)
		}
		s.Thresholds = textmessage.Thresholds{ETA: scaled(textmessage.DefaultThresholds.ETA), Delay: scaled(textmessage.DefaultThresholds.Delay)}
		return nil
	})
	return err
}

const (
	// startTimeout is the maximum time to wait for the first active task before the
	// instructions are printed.
	startTimeout = 20 * time.Second

	// choiceTime is the time to wait after the first active task for others, whose pages may
	// have more to show.
	choiceTime = 3 * time.Second
)

// start moves the workers in the background and prints the instructions.
func (d demonstration) start(ctx context.Context, a *app.App, o simulate.Options, inv *invocation) error {
	var pages trackingPages
	where := "New York"
	if d.Map != "" {
		city, err := a.City(ctx, d.Map)
		if err != nil {
			return err
		}
		o.City, where = city, city.Doors[0].Address.City
	}
	if o.Workers > 0 {
		inv.progress.report("the workers begin their day", 0)
		defer inv.progress.watch("demo")()
		started := make(chan simulate.Active)
		chosen := make(chan struct{}) // closed when nothing receives from started any more
		o.Started = func(active simulate.Active) {
			select {
			case started <- active:
			case <-chosen:
			}
		}
		a.Go(func() { d.moveWorkers(ctx, a, o) })
		pages = choosePages(ctx, started)
		close(chosen)
	}
	if !serves(ctx, a, strings.TrimPrefix(pages.underWay.TrackingURL, a.Config.URL())) {
		pages.underWay.TrackingURL = ""
	}
	_, dashboard, err := a.Links.ForOperator(context.WithoutCancel(ctx), demoEmail, app.SignInLink, false)
	if err != nil {
		return err
	}
	return d.explain(inv.out, a.Config, dashboard.Link, o.Workers > 0, where, pages)
}

// trackingPages has the tracking pages to open.
type trackingPages struct {
	underWay simulate.Active // the task whose worker is on the way for the longest time
	later    string          // URL of the last task of the longest list
}

// choosePages waits for workers to start, and returns the pages of tasks that have something
// to show for a while.
func choosePages(ctx context.Context, started <-chan simulate.Active) (pages trackingPages) {
	end := time.NewTimer(startTimeout)
	defer end.Stop()
	longest := 0
	for {
		select {
		case a := <-started:
			if pages.underWay.Task == "" {
				end.Reset(choiceTime)
			}
			if a.Drive > pages.underWay.Drive {
				pages.underWay = a
			}
			if len(a.Then) > longest {
				longest, pages.later = len(a.Then), a.Then[len(a.Then)-1]
			}
		case <-end.C:
			return pages
		case <-ctx.Done():
			return pages
		}
	}
}

// serves reports whether the server has a page at a path. Only such links are printed.
func serves(ctx context.Context, a *app.App, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.Address()+path, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// moveWorkers moves the workers until the context ends.
func (d demonstration) moveWorkers(ctx context.Context, a *app.App, o simulate.Options) {
	o.URL, o.Key, o.Password = "http://"+a.Address(), d.APIKey, demoPassword
	o.Now, o.Log = time.Now, a.Log
	o.Prefix, o.First, o.Shop, o.ShopKey = demoPrefix, demoFirst, demoShop, d.ShopKey
	o.Visitor = &simulate.Person{Name: "Ada Example", Phone: demoVisitor}
	o.Temporary = func(ctx context.Context, phone string) (string, error) {
		return readTemporaryPassword(ctx, a, d.Organization, lastmile.Phone(phone))
	}
	o.Reply = func(ctx context.Context, from, text string) error {
		return a.Messages.Receive(ctx, lastmile.Reply{Gateway: "demo", ID: access.RandomSecret(12), From: lastmile.Phone(from), Body: text})
	}
	for ; ctx.Err() == nil; d.Starts++ {
		o.Run, o.Errand = access.RandomSecret(12), d.Starts<<24
		if _, err := simulate.Run(ctx, o); err != nil && ctx.Err() == nil {
			a.Log.Error("the demonstration failed and restarts", "error", err)
			wait := time.NewTimer(startTimeout)
			select {
			case <-wait.C:
			case <-ctx.Done():
			}
			wait.Stop()
		}
	}
}

// explain prints the instructions.
func (d demonstration) explain(out io.Writer, c app.Config, dashboard string, moving bool, where string, pages trackingPages) error {
	url, data := c.URL(), c.Data
	text := fmt.Sprintf(`
Dray is serving a demonstration organization.

  Start page  %[1]s/
  Reference   %[1]s/docs
  API         %[1]s/api/v2
  API key     %[2]s

This link signs you in to the dashboard, once, within the next hour:

  %[3]s
`, url, d.APIKey, dashboard)
	if moving {
		text += fmt.Sprintf(`
Its workers are at work in %[7]s. See what happens, and where they are:

  %[5]s tail --data %[6]s
  curl -u %[2]s: '%[1]s/api/v2/workers?filter=name,location,activeTask'
  curl -u %[2]s: -N %[1]s/api/v2/events

One worker with a list of tasks is yours to play in the driver app:

  Open        %[1]s/driver
  Phone       %[3]s
  Password    %[4]s
`, url, d.APIKey, demoVisitor, demoPassword, os.Args[0], data, where)
	}
	if moving {
		text += fmt.Sprintf(`
A shop orders deliveries from it. What the shop sees:

  curl -u %[2]s: '%[1]s/api/v2/tasks/all?from=1'
`, url, d.ShopKey)
	}
	if pages.underWay.Task != "" {
		text += fmt.Sprintf(`
A task under way:

  curl -u %[2]s: %[1]s/api/v2/tasks/%[3]s
`, url, d.APIKey, pages.underWay.Task)
	}
	if pages.underWay.TrackingURL != "" {
		text += fmt.Sprintf("\nIts tracking page; the drive takes about %s:\n\n  Open        %s\n", minutes(pages.underWay.Drive), pages.underWay.TrackingURL)
		if pages.later != "" {
			text += fmt.Sprintf("\nThe tracking page of a task that is not under way yet:\n\n  Open        %s\n", pages.later)
		}
	}
	text += `
Ctrl-C stops the server; its data is kept for the next start.

`
	_, err := io.WriteString(out, text)
	return err
}
