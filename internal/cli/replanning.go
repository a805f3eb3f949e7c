package cli

import (
	"context"
	"flag"
	"fmt"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// orgReplanningCommand changes the same settings as `PUT /organization/replanning`.
func orgReplanningCommand() command {
	return command{
		name: "org replanning", summary: "Show or change how routes are planned again during the day",
		examples: []string{
			"dray org replanning --org ID",
			"dray org replanning --org ID --enabled on --interval 5m --lateness 15m",
			"dray org replanning --org ID --move workers --assign on --ahead 6h",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			var change wire.ReplanningBody
			f.Func("enabled", "whether routes are planned again: `on or off`", onOrOff(&change.Enabled))
			f.Func("move", "what may move: `order or workers`, for the tasks of each worker only or between workers as well", textOf(&change.Move))
			f.Func("assign", "whether tasks that no worker has may be assigned: `on or off`", onOrOff(&change.Assign))
			f.Func("interval", "`time` between two runs for a team, at least", minutesOf(&change.Interval))
			f.Func("lateness", "expected lateness of a worker that causes a run, as a `time`", minutesOf(&change.Lateness))
			f.Func("ahead", "how far ahead tasks are assigned and moved to other workers, as a `time`", minutesOf(&change.Ahead))
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				settings, err := a.Replanner.Settings(ctx, org)
				if err == nil && change != (wire.ReplanningBody{}) {
					settings, err = a.Replanner.Configure(ctx, org, change.Change())
				}
				if err != nil {
					return err
				}
				return inv.print(wire.NewReplanning(settings), "Enabled   %s\nMove      %s\nAssign    %s\nInterval  %s\nLateness  %s\nAhead     %s\n", onOff(settings.Enabled), settings.Move, onOff(settings.Assign),
					shortTime(settings.Interval), shortTime(settings.Lateness), shortTime(settings.Ahead))
			})
		},
	}
}

// shortTime returns a duration of whole minutes, as in 4h or 1h30m.
func shortTime(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%.0fh", d.Hours())
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%gm", d.Minutes())
}

func textOf[T ~string](to **T) func(string) error {
	return func(text string) error {
		*to = new(T(text))
		return nil
	}
}

func minutesOf(to **wire.Minutes) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		*to = new(wire.Minutes(d))
		return err
	}
}

func onOrOff(to **bool) func(string) error {
	return func(text string) error {
		if text != "on" && text != "off" {
			return fmt.Errorf("must be on or off, not %q", text)
		}
		*to = new(text == "on")
		return nil
	}
}
