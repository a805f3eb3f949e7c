package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/simulate"
	"dray/internal/store"
	"dray/internal/textmessage"
)

const (
	simulationName   = "Simulation" // of the organization that is made when no key is given
	simulationPrefix = "+1646555"
	simulationMost   = 10_000 // workers: four digits
)

// simulationFlags is what `dray simulate` is told.
type simulationFlags struct {
	simulate.Options
	key string
}

func simulateCommand() command {
	return command{
		name: "simulate", summary: "Play a courier's day against a running server, and check what it says",
		examples: []string{
			"dray simulate --data dray-data --workers 50 --duration 5m",
			"dray simulate --url https://dray.example.com --key KEY --data /var/lib/dray --tasks 2000 --speed 20",
			"dray simulate --url https://dray.example.com --key KEY --password PASSWORD --workers 10",
		},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.Data = "" // a folder that is named is read
			c.bindStorage(f)
			s := &simulationFlags{Options: simulate.Options{Now: time.Now, Prefix: simulationPrefix, Check: true}}
			f.StringVar(&s.URL, "url", "http://127.0.0.1:8080", "`URL` of the server")
			f.StringVar(&s.key, "key", "", "API `key` of the organization; one named "+simulationName+" unless given")
			f.StringVar(&s.Password, "password", "simulated-worker", "`password` that the workers have, or will set")
			f.IntVar(&s.Workers, "workers", 10, "`number` of workers")
			f.IntVar(&s.Tasks, "tasks", 0, "`number` of tasks to make and do; 0 for no end")
			f.DurationVar(&s.Duration, "duration", time.Minute, "`how` long, such as 90s or 8h; 0 for no end")
			f.Uint64Var(&s.Seed, "seed", 1, "`number` from which everything that happens is drawn")
			f.Float64Var(&s.Speed, "speed", 10, "how many `times` faster than in life vehicles are, and stops shorter")
			f.DurationVar(&s.Interval, "every", 3*time.Second, "`how` often a phone tells its position")
			f.Float64Var(&s.Radius, "radius", 1100, "`meters` from its hub that a team works in")
			f.Float64Var(&s.Offline, "offline", 0.12, "`part` of the ways on which a phone loses the network: 0 to 1")
			return func(ctx context.Context, inv *invocation) error { return runSimulation(ctx, inv, s) }
		},
	}
}

// checkPace refuses what cannot be simulated.
func checkPace(o simulate.Options) error {
	switch {
	case o.Workers < 0:
		return misuse("--workers must not be negative")
	case !(o.Speed >= 0.1 && o.Speed <= 1000):
		return misuse("--speed must be between 0.1 and 1000")
	case o.Interval < 50*time.Millisecond:
		return misuse("--every must be at least 50ms")
	case !(o.Offline >= 0 && o.Offline <= 1):
		return misuse("--offline must be between 0 and 1")
	case !(o.Radius >= 100 && o.Radius <= 2000):
		return misuse("--radius must be between 100 and 2000")
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
		return misuse("--url must be an http or https URL, not %q", s.URL)
	case s.Workers < 1 || s.Workers > simulationMost:
		return misuse("--workers must be between 1 and %d", simulationMost)
	case s.Tasks < 0 || s.Duration < 0:
		return misuse("--tasks and --duration must not be negative")
	case len(s.Password) < access.MinPassword:
		return misuse("--password must have at least %d characters", access.MinPassword)
	case s.key == "" && !stored:
		return misuse("--key is required, or --data (or --database) of the server")
	}
	return nil
}

// runSimulation simulates with the server's data at hand, or as a stranger.
func runSimulation(ctx context.Context, inv *invocation, s *simulationFlags) error {
	stored := inv.Config.Data != "" || inv.Config.Database != ""
	if err := s.check(stored); err != nil {
		return err
	}
	s.Key, s.Run = s.key, access.RandomSecret(12)
	s.Log = slog.New(slog.NewTextHandler(inv.errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if !stored {
		return simulateAndTell(ctx, inv, s.Options)
	}
	return inv.with(ctx, func(a *App) error {
		if s.Key == "" {
			var err error
			if s.Key, err = a.simulationKey(ctx); err != nil {
				return err
			}
		}
		who, err := a.Keys.Authenticate(ctx, s.Key)
		if err != nil {
			return fmt.Errorf("the key is not of this data: %w", err)
		}
		s.Temporary = func(ctx context.Context, phone string) (string, error) {
			return a.temporaryPassword(ctx, who.Organization, lastmile.Phone(phone))
		}
		return simulateAndTell(ctx, inv, s.Options)
	})
}

// simulationKey makes a key of the organization that simulations use, and the
// organization if it is not there yet.
func (a *App) simulationKey(ctx context.Context) (string, error) {
	all, err := a.Directory.Organizations(ctx)
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if o.Name == simulationName {
			key, _, err := a.Directory.CreateKey(ctx, o.ID, "dray simulate")
			return key, err
		}
	}
	made, err := a.Directory.Create(ctx, lastmile.OrganizationDraft{Name: simulationName, Country: "US", Timezone: "America/New_York"})
	return made.APIKey, err
}

var temporaryPassword = regexp.MustCompile(`temporary password (\S+)`)

// temporaryPassword reads the password of a new worker in the outbox.
func (a *App) temporaryPassword(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (string, error) {
	var messages []textmessage.Message
	err := a.Store.Read(ctx, func(r store.Reader) (err error) {
		messages, err = r.Messages(ctx, store.MessageFilter{Organization: org, To: phone, Limit: 1})
		return err
	})
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

// errBroken says that the server did not keep what it promised.
var errBroken = errors.New("promises were broken")

func simulateAndTell(ctx context.Context, inv *invocation, o simulate.Options) error {
	report, err := simulate.Run(ctx, o)
	if inv.json {
		err = errors.Join(err, inv.print(report, ""))
	} else {
		_, failed := fmt.Fprint(inv.out, shownReport(report))
		err = errors.Join(err, failed)
	}
	if err == nil && report.Breaches > 0 {
		return fmt.Errorf("%w: %d", errBroken, report.Breaches)
	}
	return err
}

// shownReport is a report for people to read.
func shownReport(r simulate.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.1f s, %d workers, %d requests, %.1f a second\n", r.Seconds, r.Workers, r.Requests, r.PerSecond)
	fmt.Fprintf(&b, "Tasks      %d made, %d completed, %d failed, %d to be done\n", r.Created, r.Completed, r.Failed, r.Open)
	fmt.Fprintf(&b, "Actions    %d done, %d sent again, %d told later than done, %d refused\n", r.Actions, r.Resent, r.CaughtUp, r.Abandoned)
	fmt.Fprintf(&b, "Positions  %d sent, %d believed\n\n", r.Positions, r.Believed)
	fmt.Fprintf(&b, "%-40s %8s %8s %8s %8s %8s\n", "Milliseconds", "answered", "p50", "p95", "p99", "max")
	for _, route := range r.Routes {
		fmt.Fprintf(&b, "%-40s %8d %8.1f %8.1f %8.1f %8.1f", route.Name, route.Answered, route.P50, route.P95, route.P99, route.Max)
		if route.Unanswered > 0 {
			fmt.Fprintf(&b, "  %d not answered", route.Unanswered)
		}
		for status, n := range route.Refused {
			fmt.Fprintf(&b, "  %d with status %d", n, status)
		}
		if route.Why != "" {
			fmt.Fprintf(&b, ": %s", route.Why)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d tasks compared with what the server says, %d promises broken\n", r.Checked, r.Breaches)
	for _, broken := range r.Broken {
		fmt.Fprintf(&b, "  %s\n", broken)
	}
	return b.String()
}
