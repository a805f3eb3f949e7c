package cli

import (
	"context"
	"flag"
	"fmt"
	"os"

	"dray/internal/app"
	"dray/internal/lastmile"
)

// orgPageCommand changes the same settings as `PUT /organization/trackingPage` and
// `PUT /organization/logo`.
func orgPageCommand() command {
	return command{
		name: "org page", summary: "Show or change what recipients see of an organization",
		examples: []string{
			"dray org page --org ID",
			"dray org page --org ID --phone +12125550100 --color '#0b6b50' --logo logo.png",
			"dray org page --org ID --new-times on --no-logo",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			var change lastmile.PageSettingsChange
			optional(f, "phone", "`number` that recipients can call; empty for none", &change.Phone)
			optional(f, "color", "`color` of links and buttons, as #rrggbb; empty for the default", &change.Color)
			f.Func("new-times", "whether recipients of failed tasks may request another time: `on or off`", onOrOff(&change.NewTimes))
			logo := f.String("logo", "", "`file` with the logo, a JPEG, PNG, WebP or GIF image")
			noLogo := f.Bool("no-logo", false, "remove the logo")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				if *logo != "" && *noLogo {
					return usageErrorf("--logo and --no-logo exclude each other")
				}
				return changePage(ctx, inv, a, org, change, *logo, *noLogo)
			})
		},
	}
}

func changePage(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, change lastmile.PageSettingsChange, logo string, noLogo bool) error {
	who := lastmile.Principal{Organization: org}
	settings, err := a.Pages.Settings(ctx, org)
	if err == nil && change != (lastmile.PageSettingsChange{}) {
		settings, err = a.Pages.Configure(ctx, org, change)
	}
	if err == nil && logo != "" {
		err = setLogo(ctx, a, who, logo)
	}
	if err == nil && noLogo {
		err = a.Uploads.RemoveLogo(ctx, who)
	}
	if err != nil {
		return err
	}
	of, err := a.Organizations.Own(ctx, who)
	if err != nil {
		return err
	}
	return inv.print(map[string]any{
		"phone": settings.Phone, "color": settings.Color, "newTimes": settings.NewTimes, "logo": of.Image,
	}, "Phone      %s\nColor      %s\nNew times  %s\nLogo       %s\n", settings.Phone, settings.Color, onOff(settings.NewTimes), of.Image)
}

// setLogo sets the logo from a file. It does not read files that are too large.
func setLogo(ctx context.Context, a *app.App, who lastmile.Principal, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > lastmile.MaxLogo {
		return fmt.Errorf("%s has more than %d bytes: scale it down", name, lastmile.MaxLogo)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if _, err := a.Uploads.SetLogo(ctx, who, data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
