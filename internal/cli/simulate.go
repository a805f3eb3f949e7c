package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/simulate"
)

const (
	simulationName   = "Simulation"     // name of the organization that is created when --key is not set
	simulationShop   = "Simulated Shop" // name of its client
	simulationPrefix = "+1646555"
	simulationMost   = 10_000 // maximum number of workers, whose phone numbers differ in four digits
)

// simulationFlags holds the flags of `dray simulate`.
type simulationFlags struct {
	simulate.Options
	key, city string
}

func simulateCommand() command {
	return command{
		name: "simulate", summary: "Simulate a courier's day against a running server and verify its responses",
		examples: []string{
			"dray simulate --data dray-data --workers 50 --duration 5m",
			"dray simulate --data dray-data --map town --speed 4 --workers 30 --duration 15m",
			"dray simulate --url https://dray.example.com --key KEY --data /var/lib/dray --tasks 2000 --speed 20",
			"dray simulate --url https://dray.example.com --key KEY --password PASSWORD --workers 10",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.Data = "" // by default no folder is opened
			c.BindStorage(f)
			s := &simulationFlags{Options: simulate.Options{Now: time.Now, Prefix: simulationPrefix, Check: true, Shop: simulationShop}}
			f.StringVar(&s.URL, "url", "http://127.0.0.1:8080", "`URL` of the server")
			f.StringVar(&s.key, "key", "", "API `key` of the organization (default: an organization named "+simulationName+" is created)")
			f.StringVar(&s.Password, "password", "simulated-worker", "`password` of the simulated workers")
			f.IntVar(&s.Workers, "workers", 10, "`number` of workers")
			f.IntVar(&s.Tasks, "tasks", 0, "`number` of tasks to create and complete; 0 for no limit")
			f.DurationVar(&s.Duration, "duration", time.Minute, "`duration` of the simulation, such as 90s or 8h; 0 for no limit")
			f.StringVar(&s.city, "map", "", "`name` of an imported map to play in, with --data (default a part of Manhattan)")
			f.Uint64Var(&s.Seed, "seed", 1, "`seed` of the random number generator")
			f.Float64Var(&s.Speed, "speed", 10, "`factor` by which everything that takes time is faster than in real life; the server needs the same --travel-speed")
			f.DurationVar(&s.Interval, "every", 3*time.Second, "`interval` at which a phone reports its position")
			f.Float64Var(&s.Radius, "radius", 1500, "radius around the hub in which a team works, in `meters`")
			f.Float64Var(&s.Offline, "offline", 0.12, "`fraction` of trips on which a phone loses the network, 0 to 1")
			return func(ctx context.Context, inv *invocation) error { return runSimulation(ctx, inv, s) }
		},
	}
}

// checkPace rejects options that cannot be simulated.
func checkPace(o simulate.Options) error {
	switch {
	case o.Workers < 0:
		return usageErrorf("--workers must not be negative")
	case !(o.Speed >= 0.1 && o.Speed <= 1000):
		return usageErrorf("--speed must be between 0.1 and 1000")
	case o.Interval < 50*time.Millisecond:
		return usageErrorf("--every must be at least 50ms")
	case !(o.Offline >= 0 && o.Offline <= 1):
		return usageErrorf("--offline must be between 0 and 1")
	case !(o.Radius >= 100 && o.Radius <= 2000):
		return usageErrorf("--radius must be between 100 and 2000")
	}
	return nil
}

func (s *simulationFlags) check(stored bool) error {
	if err := checkPace(s.Options); err != nil {
		return err
	}
	target, err := url.Parse(s.URL)
	switch {
	case err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https"):
		return usageErrorf("--url must be an http or https URL, not %q", s.URL)
	case s.Workers < 1 || s.Workers > simulationMost:
		return usageErrorf("--workers must be between 1 and %d", simulationMost)
	case s.Tasks < 0 || s.Duration < 0:
		return usageErrorf("--tasks and --duration must not be negative")
	case len(s.Password) < access.MinPassword:
		return usageErrorf("--password must have at least %d characters", access.MinPassword)
	case s.city != "" && !stored:
		return usageErrorf("--map needs --data (or --database) of the server")
	case s.key == "" && !stored:
		return usageErrorf("--key is required, or --data (or --database) of the server")
	}
	return nil
}

// runSimulation simulates as a client, with access to the server's data if
// --data or --database is set.
func runSimulation(ctx context.Context, inv *invocation, s *simulationFlags) error {
	stored := inv.Config.Data != "" || inv.Config.Database != ""
	if err := s.check(stored); err != nil {
		return err
	}
	s.Key, s.Run = s.key, access.RandomSecret(12)
	s.Log = slog.New(slog.NewTextHandler(inv.errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if !stored {
		return simulateAndReport(ctx, inv, s.Options)
	}
	return inv.with(ctx, func(a *app.App) (err error) {
		if s.city != "" {
			if s.City, err = a.City(ctx, s.city); err != nil {
				return err
			}
		}
		if s.Key == "" {
			if s.Key, err = simulationKey(ctx, a); err != nil {
				return err
			}
		}
		who, err := a.Keys.Authenticate(ctx, s.Key)
		if err != nil {
			return fmt.Errorf("the key does not belong to this data: %w", err)
		}
		if s.ShopKey, err = shopKey(ctx, a, who); err != nil {
			return err
		}
		s.Temporary = func(ctx context.Context, phone string) (string, error) {
			return readTemporaryPassword(ctx, a, who.Organization, lastmile.Phone(phone))
		}
		return simulateAndReport(ctx, inv, s.Options)
	})
}

// simulationKey creates a key of the simulation organization, and the
// organization if it does not exist yet.
func simulationKey(ctx context.Context, a *app.App) (string, error) {
	all, err := a.Organizations.List(ctx)
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if o.Name == simulationName {
			key, _, err := a.APIKeys.Create(ctx, o.ID, "dray simulate")
			return key, err
		}
	}
	made, err := a.Organizations.Create(ctx, lastmile.OrganizationDraft{Name: simulationName, Country: "US", Timezone: "America/New_York"})
	return made.APIKey, err
}

// shopKey creates a key of the client that orders deliveries from an organization;
// empty if there is no such client yet.
func shopKey(ctx context.Context, a *app.App, courier lastmile.Principal) (string, error) {
	clients, err := a.Clients.List(ctx, courier)
	if err != nil {
		return "", err
	}
	for _, c := range clients {
		if c.Opened && c.Name == simulationShop {
			key, _, err := a.APIKeys.Create(ctx, c.Organization, "dray simulate")
			return key, err
		}
	}
	return "", nil
}

var temporaryPassword = regexp.MustCompile(`temporary password (\S+)`)

// readTemporaryPassword reads the password of a new worker in the outbox.
func readTemporaryPassword(ctx context.Context, a *app.App, org lastmile.OrganizationID, phone lastmile.Phone) (string, error) {
	messages, err := a.Outbox(ctx, app.MessageFilter{Organization: org, To: phone, Limit: 1})
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		if found := temporaryPassword.FindStringSubmatch(m.Body); found != nil {
			return found[1], nil
		}
	}
	return "", errors.New("a new worker's password is not in the outbox: the server uses other data")
}

// errBroken is the error of a simulation whose server violated its guarantees.
var errBroken = errors.New("guarantees were violated")

func simulateAndReport(ctx context.Context, inv *invocation, o simulate.Options) error {
	if o.Duration > 0 {
		inv.progress.report(fmt.Sprintf("simulating for %v", o.Duration), 0)
	}
	report, err := simulate.Run(ctx, o)
	if inv.json {
		err = errors.Join(err, inv.print(report, ""))
	} else {
		_, failed := fmt.Fprint(inv.out, formatReport(report))
		err = errors.Join(err, failed)
	}
	if err == nil && report.Breaches > 0 {
		return fmt.Errorf("%w: %d", errBroken, report.Breaches)
	}
	return err
}

// formatDay formats the results of the day and the accuracy of its predictions.
func formatDay(d simulate.Day) string {
	return fmt.Sprintf(`ETA at the start of a drive     off by %.0f %% (median), %.0f %% (9 of 10); %d drives
Expected ten minutes before     off by %.1f min (median), %.1f min (9 of 10); %d stops
Served inside the time window   %d of %d (%.0f %%)
Text messages per task          %.2f
Tracking pages sampled          %d
`, d.StartError, d.StartError90, d.Drives, d.TenError, d.TenError90, d.Stops,
		d.InWindow, d.Windowed, 100*float64(d.InWindow)/float64(max(d.Windowed, 1)), d.PerDelivery, d.Pages)
}

// formatReport formats a report for people.
func formatReport(r simulate.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.1f s, %d workers, %d requests, %.1f a second\n", r.Seconds, r.Workers, r.Requests, r.PerSecond)
	fmt.Fprintf(&b, "Tasks      %d created, %d completed, %d failed, %d open\n", r.Created, r.Completed, r.Failed, r.Open)
	fmt.Fprintf(&b, "Orders     %d placed, %d completed, %d failed, %d cancelled, %d open; %d quotes\n",
		r.Orders.Placed, r.Orders.Completed, r.Orders.Failed, r.Orders.Cancelled, r.Orders.Open, r.Orders.Quotes)
	fmt.Fprintf(&b, "Actions    %d done, %d resent, %d reported late, %d rejected\n", r.Actions, r.Resent, r.CaughtUp, r.Abandoned)
	fmt.Fprintf(&b, "Positions  %d sent, %d accepted\n\n", r.Positions, r.Accepted)
	b.WriteString(formatDay(r.Day) + "\n")
	fmt.Fprintf(&b, "%-40s %8s %8s %8s %8s %8s\n", "Milliseconds", "replies", "p50", "p95", "p99", "max")
	for _, route := range r.Routes {
		fmt.Fprintf(&b, "%-40s %8d %8.1f %8.1f %8.1f %8.1f", route.Name, route.Responses, route.P50, route.P95, route.P99, route.Max)
		if route.Lost > 0 {
			fmt.Fprintf(&b, "  %d without a reply", route.Lost)
		}
		for _, status := range slices.Sorted(maps.Keys(route.Rejected)) {
			fmt.Fprintf(&b, "  %d with status %d", route.Rejected[status], status)
		}
		if route.Why != "" {
			fmt.Fprintf(&b, ": %s", route.Why)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d tasks verified against the server, %d guarantees violated\n", r.Checked, r.Breaches)
	for _, broken := range r.Broken {
		fmt.Fprintf(&b, "  %s\n", broken)
	}
	return b.String()
}
