package cli

import (
	"context"
	"flag"
	"fmt"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
)

// keyResult is an API key in the output of commands.
type keyResult struct {
	ID       lastmile.KeyID `json:"id"`
	Name     string         `json:"name"`
	Hint     string         `json:"hint"`
	APIKey   string         `json:"apiKey,omitempty"` // only of a new key
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

// orgFlag adds the required flag --org and returns a function that reads it.
func orgFlag(f *flag.FlagSet) func() (lastmile.OrganizationID, error) {
	id := f.String("org", "", "`id` of the organization")
	return func() (lastmile.OrganizationID, error) {
		if *id == "" {
			return "", usageErrorf("--org is required; `dray org list` shows the ids")
		}
		return lastmile.OrganizationID(*id), nil
	}
}

// ofOrganization adds the flags of a command on one organization and returns
// the function that runs it.
func ofOrganization(f *flag.FlagSet, c *app.Config, act func(context.Context, *invocation, *app.App, lastmile.OrganizationID) error) func(context.Context, *invocation) error {
	c.BindStorage(f)
	org := orgFlag(f)
	return func(ctx context.Context, inv *invocation) error {
		id, err := org()
		if err != nil {
			return err
		}
		return inv.with(ctx, func(a *app.App) error { return act(ctx, inv, a, id) })
	}
}

func keyCreateCommand() command {
	return command{
		name: "key create", summary: "Create another API key",
		examples: []string{"dray key create --org ID --name shop"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			name := f.String("name", "", "`name` that describes what the key is for")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				key, record, err := a.Organizations.CreateKey(ctx, org, *name)
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
	keys, err := a.Organizations.Keys(ctx, org)
	if err != nil {
		return err
	}
	results, text := []keyResult{}, ""
	for _, k := range keys {
		results = append(results, newKeyResult(k, ""))
		state := "active"
		if !k.Active() {
			state = "revoked " + formatTime(k.Revoked)
		}
		text += fmt.Sprintf("%s  …%s  last used %s  %s  %s\n", k.ID, k.Hint, formatTime(k.LastUsed), state, k.Name)
	}
	return inv.print(results, "%s", text)
}

func keyRevokeCommand() command {
	return command{
		name: "key revoke", args: "KEY-ID", summary: "Revoke an API key",
		examples: []string{"dray key revoke --org ID KEY-ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			org := orgFlag(f)
			key := f.String("key", "", "`id` of the key, instead of the argument")
			return func(ctx context.Context, inv *invocation) error {
				id, err := org()
				if err != nil {
					return err
				}
				if *key == "" && len(inv.Args) == 1 {
					*key = inv.Args[0]
				}
				if *key == "" {
					return usageErrorf("a key id is required; `dray key list` shows the ids")
				}
				return inv.with(ctx, func(a *app.App) error { return revokeKey(ctx, inv, a, id, lastmile.KeyID(*key)) })
			}
		},
	}
}

// revokeKey revokes a key and returns once every server has had time to notice.
func revokeKey(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, key lastmile.KeyID) error {
	if err := a.Organizations.RevokeKey(ctx, org, key); err != nil {
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
