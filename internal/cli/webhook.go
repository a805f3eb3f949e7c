package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/webhook"
	"dray/internal/wire"
)

// hookCommand returns a command on one webhook of an organization. It takes at
// most maxArgs positional arguments.
func hookCommand(name, summary string, maxArgs int, examples []string, more func(*flag.FlagSet), act func(context.Context, *invocation, *app.App, lastmile.Principal, lastmile.WebhookID) error) command {
	return command{
		name: "webhook " + name, args: "WEBHOOK-ID", summary: summary, examples: examples,
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			org := orgFlag(f)
			if more != nil {
				more(f)
			}
			return func(ctx context.Context, inv *invocation) error {
				id, err := org()
				if err != nil {
					return err
				}
				switch {
				case len(inv.Args) < 1:
					return usageErrorf("a webhook id is required; `dray webhook list` shows the ids")
				case len(inv.Args) > maxArgs:
					return usageErrorf("unexpected %q", inv.Args[maxArgs])
				}
				return inv.with(ctx, func(a *app.App) error {
					return act(ctx, inv, a, lastmile.Principal{Organization: id}, lastmile.WebhookID(inv.Args[0]))
				})
			}
		},
	}
}

func webhookListCommand() command {
	return command{
		name: "webhook list", summary: "List an organization's webhooks",
		examples: []string{"dray webhook list --org ID", "dray webhook list --org ID --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			return ofOrganization(f, c, listWebhooks)
		},
	}
}

func listWebhooks(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
	who := lastmile.Principal{Organization: org}
	if _, err := a.Organizations.Own(ctx, who); err != nil {
		return err
	}
	hooks, err := a.Webhooks.List(ctx, who)
	if err != nil {
		return err
	}
	forms := make([]wire.Webhook, 0, len(hooks))
	var text strings.Builder
	for _, h := range hooks {
		forms = append(forms, wire.NewWebhook(h))
		state := "enabled"
		if !h.Enabled {
			state = "disabled"
		}
		fmt.Fprintf(&text, "%s  %-8s  %d delivered, %d failed in a row  %s  %s\n", h.ID, state, h.Count, h.FailureStreak, h.Trigger, h.URL)
	}
	return inv.print(forms, "%s", text.String())
}

func webhookLogCommand() command {
	return hookCommand("log", "Show the notifications of a webhook, or the attempts of one notification", 2,
		[]string{"dray webhook log --org ID WEBHOOK-ID", "dray webhook log --org ID WEBHOOK-ID NOTIFICATION-ID"}, nil,
		func(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WebhookID) error {
			if len(inv.Args) > 1 {
				return printAttempts(ctx, inv, a, who, id)
			}
			log, err := a.Webhooks.Log(ctx, who, id, webhook.LogQuery{})
			if err != nil {
				return err
			}
			forms := make([]wire.Notification, 0, len(log))
			var text strings.Builder
			for _, n := range log {
				forms = append(forms, wire.NewNotification(n))
				fmt.Fprintf(&text, "%s  %s  %-20s %-9s %d attempts, next %s\n", n.ID, formatTime(n.Due), n.Trigger, n.State, n.Attempts, formatTime(n.Next))
			}
			return inv.print(forms, "%s", text.String())
		})
}

func printAttempts(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WebhookID) error {
	detail, err := a.Webhooks.Notification(ctx, who, id, inv.Args[1])
	if err != nil {
		return err
	}
	if inv.json {
		return inv.print(wire.NewDetailedNotification(detail), "")
	}
	for _, attempt := range detail.Attempts {
		fmt.Fprintf(inv.out, "%d  %s  %v  status %d  %s\n", attempt.Number, formatTime(attempt.At), attempt.Took.Round(time.Millisecond), attempt.Status, attempt.Reason)
	}
	_, err = fmt.Fprintf(inv.out, "%s\n", detail.Notification.Body)
	return err
}

func webhookRedeliverCommand() command {
	since := time.Duration(0)
	return hookCommand("redeliver", "Resend a notification, or all that failed", 2,
		[]string{"dray webhook redeliver --org ID WEBHOOK-ID NOTIFICATION-ID", "dray webhook redeliver --org ID --since 24h WEBHOOK-ID"},
		func(f *flag.FlagSet) {
			f.DurationVar(&since, "since", 0, "resend failed notifications of this last `duration`, such as 24h")
		},
		func(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WebhookID) error {
			var (
				count lastmile.Redelivered
				err   error
			)
			switch {
			case len(inv.Args) > 1:
				count, err = a.Webhooks.Redeliver(ctx, who, id, inv.Args[1])
			case since > 0:
				count, err = a.Webhooks.RedeliverFailed(ctx, who, id, a.Now().Add(-since))
			default:
				return usageErrorf("a notification id or --since is required")
			}
			if err != nil {
				return err
			}
			return inv.print(wire.Redelivered{Count: int(count)}, "%d will be resent.\n", count)
		})
}

func webhookTestCommand() command {
	return hookCommand("test", "Send a webhook a test event", 1, []string{"dray webhook test --org ID WEBHOOK-ID"}, nil,
		func(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, id lastmile.WebhookID) error {
			count, err := a.Webhooks.Test(ctx, who, id)
			if err != nil {
				return err
			}
			return inv.print(wire.Redelivered{Count: int(count)}, "The test event is queued; `dray webhook log` shows its delivery.\n")
		})
}

func webhookSecretCommand() command {
	return command{
		name: "webhook secret", summary: "Show or replace the secret that signs an organization's webhooks",
		examples: []string{"dray webhook secret --org ID", "dray webhook secret --org ID --rotate"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			rotate := f.Bool("rotate", false, "create a new secret; the old one stays valid for a day")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				if *rotate {
					secret, err := a.Organizations.RotateWebhookSecret(ctx, org)
					if err != nil {
						return err
					}
					return inv.print(map[string]string{"webhookSecret": secret}, "%s\n", secret)
				}
				secrets, err := a.Organizations.WebhookSecrets(ctx, org)
				if err != nil {
					return err
				}
				return inv.print(map[string]string{"webhookSecret": fmt.Sprintf("%x", secrets[0])}, "%x\n", secrets[0])
			})
		},
	}
}

func tailCommand() command {
	return command{
		name: "tail", summary: "Print an organization's events as they happen",
		examples: []string{"dray tail --org ID", "dray tail --org ID --since 0 --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			since := f.Int64("since", -1, "`number` of the last event seen (default: start with new events)")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				return tail(ctx, inv, a, lastmile.Principal{Organization: org}, *since)
			})
		},
	}
}

func tail(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, seq int64) error {
	if _, err := a.Organizations.Own(ctx, who); err != nil {
		return err
	}
	if seq < 0 {
		var err error
		if seq, err = a.Feed.Head(ctx, who); err != nil {
			return err
		}
	}
	var loops sync.WaitGroup
	loops.Go(func() { a.Feed.Run(ctx) })
	loops.Go(func() { a.Hub.Run(ctx) }) // wakes it for events that the server numbered
	defer loops.Wait()
	for ctx.Err() == nil {
		events, err := a.Feed.Next(ctx, who, seq)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, e := range events {
			seq = e.Seq
			if inv.json {
				fmt.Fprintf(inv.out, "{\"number\":%d,%s\n", e.Seq, e.Body[1:]) // which --since takes
				continue
			}
			fmt.Fprintf(inv.out, "%d  %-20s %s\n", e.Seq, e.Trigger, e.Body)
		}
	}
	return nil
}
