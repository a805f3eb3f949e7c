package app

import (
	"context"
	"errors"
	"flag"
)

func serveCommand() command {
	return command{
		name: "serve", summary: "Serve the platform",
		examples: []string{
			"dray serve",
			"dray serve --listen 0.0.0.0:8080 --public-url https://dray.example.com --data /var/lib/dray",
			"DRAY_DATABASE=postgres://dray@db/dray dray serve",
		},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.bindStorage(f)
			c.bindServer(f)
			return func(ctx context.Context, inv *invocation) error {
				return Run(ctx, inv.Config, func(context.Context, *App) error { return nil })
			}
		},
	}
}

// Run serves the platform until ctx ends. ready is called once it answers, with
// a context that ends when the server begins to stop.
func Run(ctx context.Context, c Config, ready func(context.Context, *App) error) error {
	log := c.logger()
	a, err := New(ctx, c, log, Clock, true)
	if err != nil {
		return err
	}
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Store.Close())
	}
	log.Info("serving", "address", a.Address(), "url", c.url(), "engine", a.Store.Engine(), "version", Version)
	serving, end := context.WithCancel(ctx)
	defer end()
	err = ready(serving, a)
	if err == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping")
		case err = <-a.failed:
		}
	}
	end()
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}
