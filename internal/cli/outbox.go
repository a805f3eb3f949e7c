package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// messageResult is a text message in the output of commands.
type messageResult struct {
	ID           lastmile.MessageID      `json:"id"`
	Organization lastmile.OrganizationID `json:"organization"`
	Kind         textmessage.Kind        `json:"kind"`
	Task         lastmile.TaskID         `json:"task,omitzero"`
	From         string                  `json:"from,omitzero"`
	To           lastmile.Phone          `json:"to"`
	Body         string                  `json:"body"`
	Segments     int                     `json:"segments"`
	Time         int64                   `json:"time"`
	State        textmessage.State       `json:"state"`
	Reason       string                  `json:"reason,omitzero"`
	Gateway      string                  `json:"gateway,omitzero"`
	GatewayID    string                  `json:"gatewayId,omitzero"`
	Attempts     int64                   `json:"attempts"`
}

func newMessageResult(m textmessage.Message) messageResult {
	return messageResult{
		ID: m.ID, Organization: m.Organization, Kind: m.Kind, Task: m.Task, From: m.From, To: m.To, Body: m.Body,
		Segments: textmessage.Segments(m.Body), Time: m.Created.UnixMilli(), State: m.State, Reason: m.Reason,
		Gateway: m.Gateway, GatewayID: m.GatewayID, Attempts: m.Attempts,
	}
}

func outboxCommand() command {
	return command{
		name: "outbox", summary: "List text messages and their states",
		examples: []string{"dray outbox --to +12125550123", "dray outbox --state failed", "dray outbox --json --limit 1"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			var filter store.MessageFilter
			f.StringVar((*string)(&filter.To), "to", "", "only messages to this `phone` number, with a leading plus")
			f.StringVar((*string)(&filter.Organization), "org", "", "only messages of the organization with this `id`")
			f.StringVar((*string)(&filter.State), "state", "", "only messages in this `state`: queued, sending, sent, delivered, failed or suppressed")
			f.IntVar(&filter.Limit, "limit", 100, "maximum number of messages `n`, newest first")
			return func(ctx context.Context, inv *invocation) error {
				if filter.Limit < 1 {
					return usageErrorf("--limit must be at least 1")
				}
				if filter.State != "" && !slices.Contains(textmessage.States, filter.State) {
					return usageErrorf("--state must be one of %v, not %q", textmessage.States, filter.State)
				}
				return inv.with(ctx, func(a *app.App) error { return printOutbox(ctx, inv, a, filter) })
			}
		},
	}
}

func printOutbox(ctx context.Context, inv *invocation, a *app.App, filter store.MessageFilter) error {
	var messages []textmessage.Message
	err := a.Store.Read(ctx, func(r store.Reader) (err error) {
		if filter.Organization != "" {
			if _, err := r.Organization(ctx, filter.Organization); err != nil {
				return err
			}
		}
		messages, err = r.Messages(ctx, filter)
		return err
	})
	if err != nil {
		return err
	}
	results, text := []messageResult{}, ""
	for _, m := range messages {
		results = append(results, newMessageResult(m))
		state, body := string(m.State), m.Body
		if m.Reason != "" {
			state += " (" + m.Reason + ")"
		}
		if body == "" {
			body = "(not stored)"
		}
		text += fmt.Sprintf("%s  to %s  %s  %s\n  %s\n", formatTime(m.Created), m.To, m.Kind, state, body)
	}
	return inv.print(results, "%s", text)
}
