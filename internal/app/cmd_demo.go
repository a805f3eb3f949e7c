package app

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/simulate"
)

// demoFile keeps the demonstration's API key in the data folder, so that the
// next start shows the same one.
const demoFile = "demo.json"

// The demonstration's workers. The numbers are of the range that is nobody's.
const (
	demoPassword = "demonstration"
	demoPrefix   = "+1212555"
	demoFirst    = 100
	demoMost     = 42 // the next number is the visitor's
	demoVisitor  = "+12125550142"
)

func demoCommand() command {
	return command{
		name: "demo", summary: "Serve a demonstration organization with workers on the move",
		examples: []string{"dray demo", "dray demo --listen 127.0.0.1:9000 --data try-it", "dray demo --workers 40 --speed 8"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.LogFormat, c.keepShort = "text", true
			c.bindStorage(f)
			c.bindServer(f)
			pace := simulate.Options{Interval: 3 * time.Second, Radius: 1100, Offline: 0.12, Pause: 12 * time.Second, BusyPeriod: time.Hour}
			f.IntVar(&pace.Workers, "workers", 18, "`number` of simulated workers; 0 for none")
			f.Float64Var(&pace.Speed, "speed", 4, "how many `times` faster than in life they are")
			f.Uint64Var(&pace.Seed, "seed", 1, "`number` from which everything that happens is drawn")
			return func(ctx context.Context, inv *invocation) error {
				if err := checkPace(pace); err != nil {
					return err
				}
				if pace.Workers > demoMost {
					return misuse("--workers must be at most %d", demoMost)
				}
				return Run(ctx, inv.Config, func(ctx context.Context, a *App) error {
					shown, err := a.demonstration(ctx)
					if err != nil {
						return err
					}
					return a.showDemonstration(ctx, shown, pace, inv.out)
				})
			}
		},
	}
}

// demonstration is what a visitor needs to try the platform.
type demonstration struct {
	Organization lastmile.OrganizationID `json:"organization"`
	APIKey       string                  `json:"apiKey"`
	Starts       uint64                  `json:"starts"` // each brings work of its own
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
	case !errors.Is(err, fs.ErrNotExist):
		return shown, err
	}
	if _, err := a.Keys.Authenticate(ctx, shown.APIKey); err != nil {
		made, err := a.Directory.Create(ctx, lastmile.OrganizationDraft{
			Name: "Demonstration Courier", Country: "US", Timezone: "America/New_York",
		})
		if err != nil {
			return shown, err
		}
		shown = demonstration{Organization: made.Organization.ID, APIKey: made.APIKey}
	}
	shown.Starts++
	if text, err = json.Marshal(shown); err != nil {
		return shown, err
	}
	if err := os.MkdirAll(a.Config.Data, 0o700); err != nil {
		return shown, err
	}
	return shown, os.WriteFile(file, text, 0o600)
}

// startTime is how long the visitor waits for the first worker to be on the
// way before being told what to do.
const startTime = 20 * time.Second

// showDemonstration lets the workers move in the background and says what to do
// next.
func (a *App) showDemonstration(ctx context.Context, shown demonstration, o simulate.Options, out io.Writer) error {
	var underWay simulate.Active
	if o.Workers > 0 {
		started := make(chan simulate.Active, 1)
		o.Ready = func(active simulate.Active) { started <- active }
		a.loops.Go(func() { a.moveDemonstration(ctx, shown, o) })
		late := time.NewTimer(startTime)
		defer late.Stop()
		select {
		case underWay = <-started:
		case <-late.C:
		case <-ctx.Done():
		}
	}
	if !a.serves(ctx, strings.TrimPrefix(underWay.TrackingURL, a.Config.url())) {
		underWay.TrackingURL = ""
	}
	return shown.explain(out, a.Config.url(), o.Workers > 0, underWay)
}

// serves tells whether the server has a page at a path: none is promised that
// would not open.
func (a *App) serves(ctx context.Context, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.Address()+path, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// moveDemonstration moves the workers until the context ends.
func (a *App) moveDemonstration(ctx context.Context, shown demonstration, o simulate.Options) {
	o.URL, o.Key, o.Password = "http://"+a.Address(), shown.APIKey, demoPassword
	o.Now, o.Log = time.Now, a.Log
	o.Prefix, o.First = demoPrefix, demoFirst
	o.Visitor = &simulate.Person{Name: "Ada Example", Phone: demoVisitor}
	o.Temporary = func(ctx context.Context, phone string) (string, error) {
		return a.temporaryPassword(ctx, shown.Organization, lastmile.Phone(phone))
	}
	for ; ctx.Err() == nil; shown.Starts++ {
		o.Run, o.Errand = access.RandomSecret(12), shown.Starts<<24
		if _, err := simulate.Run(ctx, o); err != nil && ctx.Err() == nil {
			a.Log.Error("the demonstration stopped and begins again", "error", err)
			wait := time.NewTimer(startTime)
			select {
			case <-wait.C:
			case <-ctx.Done():
			}
			wait.Stop()
		}
	}
}

// explain prints what to do next.
func (d demonstration) explain(out io.Writer, url string, moving bool, underWay simulate.Active) error {
	text := fmt.Sprintf(`
Dray is serving a demonstration organization.

  Start page  %[1]s/
  Reference   %[1]s/docs
  Interface   %[1]s/api/v2
  API key     %[2]s
`, url, d.APIKey)
	if moving {
		text += fmt.Sprintf(`
Its workers are at work in New York. See where they are, and what happens:

  curl -u %[2]s: '%[1]s/api/v2/workers?filter=name,location,activeTask'
  curl -u %[2]s: -N %[1]s/api/v2/events

One worker, with tasks in her list, waits for you to play her in the worker's app:

  Open        %[1]s/driver
  Phone       %[3]s
  Password    %[4]s
`, url, d.APIKey, demoVisitor, demoPassword)
	}
	if underWay.Task != "" {
		text += fmt.Sprintf(`
A task under way:

  curl -u %[2]s: %[1]s/api/v2/tasks/%[3]s
`, url, d.APIKey, underWay.Task)
	}
	if underWay.TrackingURL != "" {
		text += fmt.Sprintf("\nWhat its recipient sees:\n\n  Open        %s\n", underWay.TrackingURL)
	}
	text += `
Ctrl-C stops the server; what it holds stays for the next start.

`
	_, err := io.WriteString(out, text)
	return err
}
