package cli

import (
	"context"
	"flag"

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
				return app.Run(ctx, inv.Config, func(context.Context, *app.App) error { return nil })
			}
		},
	}
}
