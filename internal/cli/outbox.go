package cli

import (
	"context"
	"flag"
	"slices"

	"dray/internal/app"
	"dray/internal/lastmile"
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
			var filter app.MessageFilter
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

func printOutbox(ctx context.Context, inv *invocation, a *app.App, filter app.MessageFilter) error {
	messages, err := a.Outbox(ctx, filter)
	if err != nil {
		return err
	}
	results, rows := []messageResult{}, &table{header: []string{"TIME", "TO", "KIND", "STATE", "TEXT"}}
	for _, m := range messages {
		results = append(results, newMessageResult(m))
		state, body := string(m.State), m.Body
		if m.Reason != "" {
			state += " (" + m.Reason + ")"
		}
		if body == "" {
			body = "(not stored)"
		}
		rows.add(formatTime(m.Created), string(m.To), string(m.Kind), state, body)
		rows.color(3, messageStyles[m.State])
	}
	return inv.printTable(results, rows, "There are no such text messages.")
}

var messageStyles = map[textmessage.State]style{
	textmessage.StateDelivered: green, textmessage.StateFailed: red, textmessage.StateSuppressed: yellow,
}
