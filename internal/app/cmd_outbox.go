package app

import (
	"context"
	"flag"
	"fmt"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// messageResult is a text message in the output of commands.
type messageResult struct {
	ID           lastmile.MessageID      `json:"id"`
	Organization lastmile.OrganizationID `json:"organization"`
	To           lastmile.Phone          `json:"to"`
	Body         string                  `json:"body"`
	Time         int64                   `json:"time"`
}

func outboxCommand() command {
	return command{
		name: "outbox", summary: "Print the text messages that were sent",
		examples: []string{"dray outbox --to +12125550123", "dray outbox --json --limit 1"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.bindStorage(f)
			var filter store.MessageFilter
			f.StringVar((*string)(&filter.To), "to", "", "only to this `phone` number, with its leading plus")
			f.StringVar((*string)(&filter.Organization), "org", "", "only of this organization, by `id`")
			f.IntVar(&filter.Limit, "limit", 100, "the newest so `many`")
			return func(ctx context.Context, inv *invocation) error {
				if filter.Limit < 1 {
					return misuse("--limit must be at least 1")
				}
				return inv.with(ctx, func(a *App) error { return printOutbox(ctx, inv, a, filter) })
			}
		},
	}
}

func printOutbox(ctx context.Context, inv *invocation, a *App, filter store.MessageFilter) error {
	var messages []lastmile.TextMessage
	err := a.Store.Read(ctx, func(r store.Reader) (err error) {
		messages, err = r.Messages(ctx, filter)
		return err
	})
	if err != nil {
		return err
	}
	results, text := []messageResult{}, ""
	for _, m := range messages {
		results = append(results, messageResult{ID: m.ID, Organization: m.Organization, To: m.To, Body: m.Body, Time: m.Created.UnixMilli()})
		text += fmt.Sprintf("%s  to %s\n  %s\n", shownTime(m.Created), m.To, m.Body)
	}
	return inv.print(results, "%s", text)
}
