package cli

import (
	"context"
	"errors"
	"flag"
	"slices"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
)

// keyResult is an API key in the output of commands.
type keyResult struct {
	ID       lastmile.KeyID `json:"id"`
	Name     string         `json:"name"`
	Hint     string         `json:"hint"`
	APIKey   string         `json:"apiKey,omitempty"` // only for a new key
	Created  *int64         `json:"timeCreated"`
	LastUsed *int64         `json:"timeLastUsed"`
	Revoked  *int64         `json:"timeRevoked"`
}

func newKeyResult(k lastmile.APIKey, key string) keyResult {
	return keyResult{
		ID: k.ID, Name: k.Name, Hint: k.Hint, APIKey: key, Created: optionalMillis(k.Created),
		LastUsed: optionalMillis(k.LastUsed), Revoked: optionalMillis(k.Revoked),
	}
}

// orgFlag adds the flag --org and returns a function that finds the organization.
// The flag is required only if there are several organizations, and not in the data
// folder of the demonstration unless it has others than the courier and its clients.
func orgFlag(f *flag.FlagSet) func(context.Context, *app.App) (lastmile.OrganizationID, error) {
	id := f.String("org", "", "`id` of the organization; required if there are several")
	return func(ctx context.Context, a *app.App) (lastmile.OrganizationID, error) {
		if *id != "" {
			found, err := a.Organizations.Own(ctx, lastmile.Principal{Organization: lastmile.OrganizationID(*id)})
			return found.ID, err
		}
		all, err := a.Organizations.List(ctx)
		switch {
		case err != nil:
			return "", err
		case len(all) == 0:
			return "", errors.New("there is no organization yet; `dray org create` creates one")
		case len(all) == 1:
			return all[0].ID, nil
		}
		if courier, err := courierOfAll(ctx, a, all); courier != "" || err != nil {
			return courier, err
		}
		return "", usageErrorf("--org is required, because there are %d organizations; `dray org list` shows their ids", len(all))
	}
}

// courierOfAll returns the courier of the demonstration, or "" if there is none or an
// organization that is not its client.
func courierOfAll(ctx context.Context, a *app.App, all []lastmile.Organization) (lastmile.OrganizationID, error) {
	shown, err := readDemonstration(a.Config.Data)
	if err != nil || shown.Organization == "" {
		return "", err
	}
	clients, err := a.Clients.List(ctx, lastmile.Principal{Organization: shown.Organization})
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if o.ID != shown.Organization && !slices.ContainsFunc(clients, func(c app.Client) bool { return c.Organization == o.ID }) {
			return "", nil
		}
	}
	return shown.Organization, nil
}

// ofOrganization adds the flags of a command on one organization and returns
// the function that runs it.
func ofOrganization(f *flag.FlagSet, c *app.Config, act func(context.Context, *invocation, *app.App, lastmile.OrganizationID) error) func(context.Context, *invocation) error {
	c.BindStorage(f)
	org := orgFlag(f)
	return func(ctx context.Context, inv *invocation) error {
		return inv.with(ctx, func(a *app.App) error {
			id, err := org(ctx, a)
			if err != nil {
				return err
			}
			return act(ctx, inv, a, id)
		})
	}
}

func keyCreateCommand() command {
	return command{
		name: "key create", summary: "Create another API key",
		examples: []string{"dray key create --org ID --name shop"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			name := f.String("name", "", "`name` that describes what the key is for")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				key, record, err := a.APIKeys.Create(ctx, org, *name)
				if err != nil {
					return err
				}
				return inv.print(newKeyResult(record, key), "Key id   %s\nAPI key  %s\n\nThe key is shown only once.\n", record.ID, key)
			})
		},
	}
}

func keyListCommand() command {
	return command{
		name: "key list", summary: "List an organization's API keys",
		examples: []string{"dray key list --org ID", "dray key list --org ID --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			return ofOrganization(f, c, listKeys)
		},
	}
}

func listKeys(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
	keys, err := a.APIKeys.List(ctx, org)
	if err != nil {
		return err
	}
	results, rows := []keyResult{}, &table{header: []string{"KEY ID", "HINT", "LAST USED", "STATE", "NAME"}}
	for _, k := range keys {
		results = append(results, newKeyResult(k, ""))
		state, as := "active", green
		if !k.Active() {
			state, as = "revoked "+formatTime(k.Revoked), dim
		}
		rows.add(string(k.ID), "…"+k.Hint, formatTime(k.LastUsed), state, k.Name)
		rows.color(3, as)
	}
	return inv.printTable(results, rows, "There are no API keys.")
}

func keyRevokeCommand() command {
	return command{
		name: "key revoke", args: "KEY-ID", summary: "Revoke an API key",
		examples: []string{"dray key revoke --org ID KEY-ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			key := f.String("key", "", "`id` of the key, instead of the argument")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				if *key == "" && len(inv.Args) == 1 {
					*key = inv.Args[0]
				}
				if *key == "" {
					return usageErrorf("a key id is required; `dray key list` shows the ids")
				}
				return revokeKey(ctx, inv, a, org, lastmile.KeyID(*key))
			})
		},
	}
}

// revokeKey revokes a key and waits until every server has read the keys again.
func revokeKey(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, key lastmile.KeyID) error {
	err := a.APIKeys.Revoke(ctx, org, key)
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok && rejected.Code == lastmile.CodeOutsideScope {
		err = lastmile.NotFound("key", string(key)) // it belongs to another organization
	}
	if err != nil {
		return err
	}
	noticed := time.NewTimer(2 * a.RefreshKeysEvery())
	defer noticed.Stop()
	select {
	case <-noticed.C:
	case <-ctx.Done():
	}
	return inv.print(map[string]any{"id": key, "revoked": true}, "%s is revoked.\n", key)
}
