package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
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
				switch {
				case len(inv.Args) < 1:
					return usageErrorf("a webhook id is required; `dray webhook list` shows the ids")
				case len(inv.Args) > maxArgs:
					return usageErrorf("unexpected %q", inv.Args[maxArgs])
				}
				return inv.with(ctx, func(a *app.App) error {
					id, err := org(ctx, a)
					if err != nil {
						return err
					}
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
	rows := &table{header: []string{"WEBHOOK ID", "STATE", "DELIVERED", "FAILED IN A ROW", "TRIGGER", "URL"}}
	for _, h := range hooks {
		forms = append(forms, wire.NewWebhook(h))
		state, as := "enabled", green
		if !h.Enabled {
			state, as = "disabled", red
		}
		rows.add(string(h.ID), state, fmt.Sprint(h.Count), fmt.Sprint(h.FailureStreak), h.Trigger.String(), h.URL)
		rows.color(1, as)
	}
	return inv.printTable(forms, rows, "There are no webhooks.")
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
			rows := &table{header: []string{"NOTIFICATION ID", "TIME", "TRIGGER", "STATE", "ATTEMPTS", "NEXT ATTEMPT"}}
			for _, n := range log {
				forms = append(forms, wire.NewNotification(n))
				rows.add(n.ID, formatTime(n.Due), n.Trigger.String(), fmt.Sprint(n.State), fmt.Sprint(n.Attempts), formatTime(n.Next))
			}
			return inv.printTable(forms, rows, "There are no notifications.")
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
	rows := &table{header: []string{"ATTEMPT", "TIME", "TOOK", "STATUS", "REASON"}}
	for _, attempt := range detail.Attempts {
		rows.add(fmt.Sprint(attempt.Number), formatTime(attempt.At), fmt.Sprint(attempt.Took.Round(time.Millisecond)), fmt.Sprint(attempt.Status), attempt.Reason)
	}
	_, err = fmt.Fprintf(inv.out, "%s%s%s\n", rows.format(inv.out), responses(detail.Attempts), detail.Notification.Body)
	return err
}

// responses returns how the responses of failed attempts begin, indented.
func responses(attempts []lastmile.Attempt) string {
	var b strings.Builder
	for _, attempt := range attempts {
		if attempt.Response == "" {
			continue
		}
		fmt.Fprintf(&b, "\nResponse of attempt %d:\n", attempt.Number)
		for line := range strings.Lines(attempt.Response) {
			fmt.Fprintf(&b, "  %s\n", strings.TrimRight(printable(line), " "))
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
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
					secret, err := a.Organizations.RotateWebhookSecret(ctx, lastmile.Principal{Organization: org})
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
