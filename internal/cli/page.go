package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
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
			var logo *string
			optional(f, "logo", "`file` with the logo, a JPEG, PNG, WebP or GIF image", &logo)
			noLogo := f.Bool("no-logo", false, "remove the logo")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				switch {
				case logo != nil && *noLogo:
					return usageErrorf("--logo and --no-logo exclude each other")
				case logo != nil && *logo == "":
					return usageErrorf("--logo must be the name of a file, not empty")
				}
				return changePage(ctx, inv, a, org, change, logo, *noLogo)
			})
		},
	}
}

func changePage(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, change lastmile.PageSettingsChange, logo *string, noLogo bool) error {
	who := lastmile.Principal{Organization: org}
	settings, err := a.Pages.Settings(ctx, org)
	var image []byte
	if err == nil && logo != nil { // reject an invalid one before anything is saved
		image, err = readLogo(ctx, a, who, *logo)
	}
	if err == nil && change != (lastmile.PageSettingsChange{}) {
		settings, err = a.Pages.Configure(ctx, org, change)
	}
	if err == nil && logo != nil {
		_, err = a.Uploads.SetLogo(ctx, who, image)
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

// readLogo reads a logo and checks it. It reads at most one byte more than a logo may have.
func readLogo(ctx context.Context, a *app.App, who lastmile.Principal, name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, lastmile.MaxLogo+1))
	if err != nil {
		return nil, err
	}
	if err := a.Uploads.CheckLogo(ctx, who, data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}
