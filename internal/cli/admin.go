package cli

import (
	"context"
	"flag"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
)

// adminResult is an administrator in the output of commands.
type adminResult struct {
	ID       lastmile.AdminID   `json:"id"`
	Name     string             `json:"name"`
	Email    string             `json:"email"`
	Type     lastmile.AdminType `json:"type"`
	ReadOnly bool               `json:"isReadOnly"`
	Active   bool               `json:"isActive"`
	Link     string             `json:"link,omitzero"`
	Expires  string             `json:"expires,omitzero"`
}

func newAdminResult(a lastmile.Admin) adminResult {
	return adminResult{ID: a.ID, Name: a.Name, Email: a.Email, Type: a.Type, ReadOnly: a.ReadOnly, Active: a.Active}
}

func adminListCommand() command {
	return command{
		name: "admin list", summary: "List the administrators of an organization",
		examples: []string{"dray admin list --org ID", "dray admin list --org ID --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				all, err := a.Admins.List(ctx, lastmile.Principal{Organization: org}, nil)
				if err != nil {
					return err
				}
				results, rows := []adminResult{}, &table{header: []string{"ADMINISTRATOR ID", "TYPE", "ACTIVE", "E-MAIL", "NAME"}}
				for _, admin := range all {
					results = append(results, newAdminResult(admin))
					kind, active := string(admin.Type), "no"
					if admin.ReadOnly {
						kind += ", read-only"
					}
					if admin.Active {
						active = "yes"
					}
					rows.add(string(admin.ID), kind, active, admin.Email, admin.Name)
				}
				return inv.printTable(results, rows, "There are no administrators; `dray admin invite` invites one.")
			})
		},
	}
}

// bindURL adds the flags that set the server in links.
func bindURL(f *flag.FlagSet, c *app.Config) {
	f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "public `URL` of the server, for the link")
	f.StringVar(&c.Listen, "listen", c.Listen, "`address` of the server, for the link if it has no public URL")
}

func adminInviteCommand() command {
	return command{
		name: "admin invite", summary: "Invite an administrator to the dashboard",
		examples: []string{
			`dray admin invite --org ID --email ada@example.com --name "Ada Lovelace" --type super`,
			"dray admin invite --org ID --email ada@example.com --name Ada --type super --owner",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			bindURL(f, c)
			email := f.String("email", "", "e-mail `address` of the administrator")
			name := f.String("name", "", "`name` of the administrator")
			kind := f.String("type", string(lastmile.AdminStandard), "`type`: super or standard")
			readOnly := f.Bool("read-only", false, "the administrator can change nothing")
			owner := f.Bool("owner", false, "the administrator becomes the owner of the installation, in place of the present one, by using the link; owners may see its state")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				if *email == "" {
					return usageErrorf("--email is required")
				}
				if *name == "" {
					*name = *email
				}
				draft := access.AdminDraft{Change: lastmile.AdminChange{Name: name, Email: email, Type: kind, ReadOnly: readOnly}}
				note := ""
				if *owner {
					note = "Using it makes the administrator the owner of the installation, in place of the present one.\n"
					draft.Created = a.Links.InviteOwner
				}
				if _, err := a.Admins.Create(ctx, lastmile.Principal{Organization: org}, draft); err != nil {
					return err
				}
				return printLink(ctx, inv, a, *email, app.ResetLink, false, note)
			})
		},
	}
}

func adminResetCommand() command {
	return command{
		name: "admin reset", args: "E-MAIL", summary: "Make a link with which an administrator chooses another password",
		examples: []string{"dray admin reset ada@example.com", "dray admin reset ada@example.com --remove-second-factor"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			bindURL(f, c)
			drop := f.Bool("remove-second-factor", false, "the link also removes the second factor, for one who has lost it")
			return ofAdmin(func(ctx context.Context, inv *invocation, a *app.App, email string) error {
				return printLink(ctx, inv, a, email, app.ResetLink, *drop, "")
			})
		},
	}
}

func adminLinkCommand() command {
	return command{
		name: "admin link", args: "E-MAIL", summary: "Make a link that signs an administrator in without a password",
		examples: []string{"dray admin link ada@example.com"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			bindURL(f, c)
			return ofAdmin(func(ctx context.Context, inv *invocation, a *app.App, email string) error {
				return printLink(ctx, inv, a, email, app.SignInLink, false, "")
			})
		},
	}
}

// ofAdmin returns a function that runs a command whose only argument is the e-mail address
// of an administrator.
func ofAdmin(act func(context.Context, *invocation, *app.App, string) error) func(context.Context, *invocation) error {
	return func(ctx context.Context, inv *invocation) error {
		if len(inv.Args) != 1 {
			return usageErrorf("the e-mail address of the administrator is required")
		}
		return inv.with(ctx, func(a *app.App) error { return act(ctx, inv, a, inv.Args[0]) })
	}
}

// printLink creates a link for an administrator and prints it with a note about it, if any.
func printLink(ctx context.Context, inv *invocation, a *app.App, email string, kind app.LinkKind, dropFactor bool, note string) error {
	admin, made, err := a.Links.ForOperator(ctx, email, kind, dropFactor)
	if err != nil {
		return err
	}
	result := newAdminResult(admin)
	result.Link, result.Expires = made.Link, made.Expires.Format(time.RFC3339)
	return inv.print(result, "Administrator  %s  %s\nLink           %s\n\nThe link works once, until %s, and is shown only here.\n%s",
		admin.Email, admin.Name, made.Link, made.Expires.Format("2006-01-02 15:04 MST"), note)
}
