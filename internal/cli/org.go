package cli

import (
	"context"
	"errors"
	"flag"
	"strings"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/sms"
)

// organizationResult is an organization in the output of commands.
type organizationResult struct {
	ID       lastmile.OrganizationID `json:"id"`
	Name     string                  `json:"name"`
	Country  string                  `json:"country"`
	Timezone string                  `json:"timezone"`
}

func newOrganizationResult(o lastmile.Organization) organizationResult {
	return organizationResult{ID: o.ID, Name: o.Name, Country: o.Country, Timezone: o.Timezone}
}

func orgCreateCommand() command {
	return command{
		name: "org create", summary: "Create an organization with its first API key",
		examples: []string{
			`dray org create --name "My Courier" --country US --timezone America/New_York`,
			`dray org create --name "My Courier" --country DK --timezone Europe/Copenhagen --json`,
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			var draft lastmile.OrganizationDraft
			f.StringVar(&draft.Name, "name", "", "`name` of the organization")
			f.StringVar(&draft.Country, "country", "", "two-letter country `code` (ISO 3166-1)")
			f.StringVar(&draft.Timezone, "timezone", "", "IANA time `zone`")
			f.StringVar(&draft.Email, "email", "", "e-mail `address` of the account owner")
			f.StringVar(&draft.DriverSupportEmail, "driver-support-email", "", "e-mail `address` for support requests of workers")
			return func(ctx context.Context, inv *invocation) error { return createOrganization(ctx, inv, draft) }
		},
	}
}

func createOrganization(ctx context.Context, inv *invocation, draft lastmile.OrganizationDraft) error {
	switch {
	case strings.TrimSpace(draft.Name) == "":
		return usageErrorf("--name is required")
	case !sms.KnownCountry(draft.Country):
		return usageErrorf("--country must be a two-letter country code (ISO 3166-1) such as US, not %q", draft.Country)
	case draft.Timezone == "":
		return usageErrorf("--timezone is required, such as America/New_York")
	}
	if _, err := lastmile.NewOrganization("", draft, time.Time{}); err != nil {
		return usageErrorf("--%s", strings.Replace(err.Error(), "driverSupportEmail", "driver-support-email", 1))
	}
	return inv.withNew(ctx, func(a *app.App) error {
		made, err := a.Organizations.Create(ctx, draft)
		if err != nil {
			return err
		}
		result := struct {
			Organization  organizationResult `json:"organization"`
			APIKey        string             `json:"apiKey"`
			WebhookSecret string             `json:"webhookSecret"`
		}{newOrganizationResult(made.Organization), made.APIKey, made.WebhookSecret}
		return inv.print(result, "Organization    %s  %s\nAPI key         %s\nWebhook secret  %s\n\nThe key is shown only once.\n",
			made.Organization.ID, made.Organization.Name, made.APIKey, made.WebhookSecret)
	})
}

func orgListCommand() command {
	return command{
		name: "org list", summary: "List organizations",
		examples: []string{"dray org list", "dray org list --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			return func(ctx context.Context, inv *invocation) error {
				return inv.with(ctx, func(a *app.App) error {
					all, err := a.Organizations.List(ctx)
					if err != nil {
						return err
					}
					results, rows := []organizationResult{}, &table{header: []string{"ORGANIZATION ID", "COUNTRY", "TIME ZONE", "NAME"}}
					for _, o := range all {
						results = append(results, newOrganizationResult(o))
						rows.add(string(o.ID), o.Country, o.Timezone, o.Name)
					}
					return inv.printTable(results, rows, "There are no organizations; `dray org create` creates one.")
				})
			}
		},
	}
}

// clientResult is a client in the output of commands.
type clientResult struct {
	ID           lastmile.ClientID       `json:"id"`
	Name         string                  `json:"name"`
	Courier      lastmile.OrganizationID `json:"courier"`
	Organization lastmile.OrganizationID `json:"organization"`
	Status       app.ClientStatus        `json:"status"`
	APIKey       string                  `json:"apiKey,omitzero"`
}

func newClientResult(c app.Client) clientResult {
	return clientResult{ID: c.ID, Name: c.Name, Courier: c.Courier, Organization: c.Organization, Status: c.Status}
}

func orgConnectCommand() command {
	return command{
		name: "org connect", summary: "Connect two organizations, or a courier and a client",
		examples: []string{
			"dray org connect --org ID --with ID",
			"dray org connect --org ID --with ID --client",
			`dray org connect --org ID --client --name "My Shop" --email orders@example.com`,
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			var draft app.ClientDraft
			one := f.String("org", "", "`id` of one organization; with --client, of the courier")
			f.StringVar((*string)(&draft.Organization), "with", "", "`id` of the other organization; without it, --client opens one")
			client := f.Bool("client", false, "make the other organization a client of the first")
			f.StringVar(&draft.New.Name, "name", "", "`name` of the client")
			f.StringVar(&draft.New.Email, "email", "", "e-mail `address` of the account owner of a new organization")
			f.StringVar(&draft.New.Country, "country", "", "two-letter country `code` (ISO 3166-1) of a new organization; default that of the courier")
			f.StringVar(&draft.New.Timezone, "timezone", "", "IANA time `zone` of a new organization; default that of the courier")
			return func(ctx context.Context, inv *invocation) error {
				switch {
				case *one == "":
					return usageErrorf("--org is required")
				case draft.Organization == "" && !*client:
					return usageErrorf("--with is required, or --client with --name")
				case draft.Organization == "" && strings.TrimSpace(draft.New.Name) == "":
					return usageErrorf("--name is required, or --with")
				}
				return inv.with(ctx, func(a *app.App) error {
					return connect(ctx, inv, a, lastmile.OrganizationID(*one), draft, *client)
				})
			}
		},
	}
}

func connect(ctx context.Context, inv *invocation, a *app.App, one lastmile.OrganizationID, draft app.ClientDraft, client bool) error {
	if !client {
		if err := a.Clients.Connect(ctx, one, draft.Organization); err != nil {
			return err
		}
		return inv.print(map[string]string{"organization": string(one), "with": string(draft.Organization)}, "%s and %s are connected.\n", one, draft.Organization)
	}
	made, err := a.Clients.Link(ctx, one, draft)
	if err != nil {
		return err
	}
	result := newClientResult(made.Client)
	result.APIKey = made.APIKey
	if made.APIKey == "" {
		return inv.print(result, "%s is a client of %s.\n", made.Organization, one)
	}
	return inv.print(result, "Client        %s  %s\nOrganization  %s\nAPI key       %s\n\nThe key is shown only once.\n", made.ID, made.Name, made.Organization, made.APIKey)
}

func orgClientsCommand() command {
	return command{
		name: "org clients", summary: "List the clients of an organization and the couriers it is a client of",
		examples: []string{"dray org clients --org ID", "dray org clients --org ID --accept ID", "dray org clients --org ID --end ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			var accept, end *string
			optional(f, "accept", "accept the invitation of the courier with this `id`", &accept)
			optional(f, "end", "end the connection with the client or courier with this `id`, or decline its invitation", &end)
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				switch {
				case accept != nil && end != nil:
					return usageErrorf("--accept and --end exclude each other")
				case accept != nil && *accept == "":
					return usageErrorf("--accept must be the id of a courier, not empty")
				case end != nil && *end == "":
					return usageErrorf("--end must be the id of a client or courier, not empty")
				}
				return manageClients(ctx, inv, a, lastmile.Principal{Organization: org}, accept, end)
			})
		},
	}
}

func manageClients(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, accept, end *string) error {
	if accept != nil {
		if _, err := a.Clients.Accept(ctx, who, *accept); err != nil {
			return err
		}
	}
	if end != nil {
		err := a.Clients.Delete(ctx, who, *end)
		rejected, ok := errors.AsType[*lastmile.Error](err)
		if ok && (rejected.Code == lastmile.CodeNotFound || rejected.Code == lastmile.CodeOutsideScope) { // not a client; it may be a courier
			err = a.Clients.Leave(ctx, who, *end)
		}
		if err != nil {
			return err
		}
	}
	clients, err := a.Clients.List(ctx, who)
	if err != nil {
		return err
	}
	couriers, err := a.Clients.Couriers(ctx, who)
	if err != nil {
		return err
	}
	for _, courier := range couriers {
		clients = append(clients, courier.Client)
	}
	results, rows := []clientResult{}, &table{header: []string{"CLIENT ID", "COURIER", "ORGANIZATION", "STATUS", "NAME"}}
	for _, c := range clients {
		results = append(results, newClientResult(c))
		rows.add(string(c.ID), string(c.Courier), string(c.Organization), string(c.Status), c.Name)
	}
	return inv.printTable(results, rows, "There are no clients; `dray org connect --client` makes one.")
}
