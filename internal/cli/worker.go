package cli

import (
	"context"
	"flag"

	"dray/internal/app"
	"dray/internal/lastmile"
)

func workerInviteCommand() command {
	return command{
		name: "worker invite", args: "WORKER-ID", summary: "Send a worker a new temporary password and sign the worker out",
		examples: []string{"dray worker invite --org ID --public-url https://dray.example.com WORKER-ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "public `URL` of the server, for the link in the text message")
			c.SMS.BindLimits(f) // must be the same as those of the server, which are not stored
			return ofWorker(f, c, func(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WorkerID) error {
				if c.PublicURL == "" { // the command does not know where the server listens
					return usageErrorf("--public-url is required: the text message contains a link to the server")
				}
				worker, err := a.Fleet.Invite(ctx, who, id)
				if err != nil {
					return err
				}
				return inv.print(map[string]any{"id": id, "invited": true}, "%s is invited by a text message to %s.\n", id, worker.Phone)
			})
		},
	}
}

func workerSignOutCommand() command {
	return command{
		name: "worker sign-out", args: "WORKER-ID", summary: "End all sessions of a worker",
		examples: []string{"dray worker sign-out --org ID WORKER-ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			return ofWorker(f, c, func(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WorkerID) error {
				if err := a.Fleet.SignOut(ctx, who, id); err != nil {
					return err
				}
				return inv.print(map[string]any{"id": id, "signedOut": true}, "%s is signed out.\n", id)
			})
		},
	}
}

// ofWorker adds the flags of a command on one worker and returns the function that
// runs it.
func ofWorker(
	f *flag.FlagSet, c *app.Config, act func(context.Context, *invocation, *app.App, lastmile.Principal, lastmile.WorkerID) error,
) func(context.Context, *invocation) error {
	return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
		if len(inv.Args) != 1 {
			return usageErrorf("a worker id is required")
		}
		return act(ctx, inv, a, lastmile.Principal{Organization: org}, lastmile.WorkerID(inv.Args[0]))
	})
}
