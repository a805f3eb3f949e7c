package cli

import (
	"context"
	"flag"
	"fmt"

	"dray/internal/app"
)

func serveCommand() command {
	return command{
		name: "serve", summary: "Serve the platform",
		endless: true,
		examples: []string{
			"dray serve",
			"dray serve --listen 0.0.0.0:8080 --public-url https://dray.example.com --data /var/lib/dray",
			"DRAY_DATABASE=postgres://dray@db/dray dray serve",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			c.BindServer(f)
			f.Float64Var(&c.Speed, "travel-speed", c.Speed, "`factor` by which workers are faster than in reality; only for simulations")
			return func(ctx context.Context, inv *invocation) error {
				return app.Run(ctx, inv.Config, func(ctx context.Context, a *app.App) error { return showSetup(ctx, inv, a) })
			}
		},
	}
}

// showSetup prints and logs the link that creates the first organization, unless there is
// one. It is the only secret in the log: until the first organization exists, anyone who
// can read the log can create it.
func showSetup(ctx context.Context, inv *invocation, a *app.App) error {
	link, err := a.Links.SetupLink(ctx)
	if err != nil || link == "" {
		return err
	}
	a.Log.Info("there is no organization yet: open the link to create one", "link", link)
	_, err = fmt.Fprintf(inv.out, "\nDray is ready. Open this link to create your organization; it works once:\n\n  %s\n\n", link)
	return err
}
