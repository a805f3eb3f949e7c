package cli

import (
	"context"
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

func orgConnectCommand() command {
	return command{
		name: "org connect", summary: "Connect two organizations",
		examples: []string{"dray org connect --org ID --with ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			one := f.String("org", "", "`id` of one organization")
			other := f.String("with", "", "`id` of the other organization")
			return func(ctx context.Context, inv *invocation) error {
				if *one == "" || *other == "" {
					return usageErrorf("--org and --with are required")
				}
				return inv.with(ctx, func(a *app.App) error {
					if err := a.Organizations.Connect(ctx, lastmile.OrganizationID(*one), lastmile.OrganizationID(*other)); err != nil {
						return err
					}
					return inv.print(map[string]string{"organization": *one, "with": *other}, "%s and %s are connected.\n", *one, *other)
				})
			}
		},
	}
}
