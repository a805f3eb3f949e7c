package cli

import (
	"context"
	"flag"

	"dray/internal/app"
	"dray/internal/lastmile"
)

func geoImportCommand() command {
	return command{
		name: "geo import", args: "FILE", summary: "Import the postal codes of a country from a GeoNames file",
		examples: []string{"dray geo import DE.zip", "dray geo import FR.txt --database postgres://dray@db/dray"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			return func(ctx context.Context, inv *invocation) error {
				name, err := inv.fileArgument()
				if err != nil {
					return err
				}
				return inv.with(ctx, func(a *app.App) error {
					count, countries, err := a.ImportPostalCodes(ctx, name, inv.progress.report)
					if err != nil {
						return err
					}
					return inv.print(map[string]any{"places": count, "countries": countries}, "%d places of %v imported.\n", count, countries)
				})
			}
		},
	}
}

func orgSetCommand() command {
	return command{
		name: "org set", summary: "Show or change the settings of an organization",
		examples: []string{"dray org set --org ID", "dray org set --org ID --geocoding-precision street", "dray org set --org ID --geofence warn --geofence-radius 150"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			precision := f.String("geocoding-precision", "", "minimum geocoding `precision` of addresses: any, city, postalCode, street or house")
			fence := f.String("geofence", "", "`action` when a worker completes a task away from its destination: off, warn or block")
			radius := f.Float64("geofence-radius", 0, "radius of the geofence around a destination in `metres` (default 200)")
			barcodes := f.String("barcodes", "", "`visibility` of expected barcodes in the driver app: show or hide")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				return setOrganization(ctx, inv, a, org, settingsChange(*precision, *fence, *radius, *barcodes))
			})
		},
	}
}

// settingsChange returns a function that applies the flags to settings and
// reports whether any flag was set.
func settingsChange(precision, fence string, radius float64, barcodes string) func(*lastmile.Settings) (bool, error) {
	return func(s *lastmile.Settings) (changed bool, err error) {
		if precision != "" {
			if s.GeocodingPrecision, err = lastmile.ParsePrecision(precision); err != nil {
				return false, err
			}
		}
		if fence != "" {
			if s.Geofence.Level, err = lastmile.ParseGeofenceLevel(fence); err != nil {
				return false, err
			}
		}
		if radius != 0 {
			s.Geofence.Radius = lastmile.Meters(radius)
		}
		switch barcodes {
		case "":
		case "show", "hide":
			s.HideBarcodes = barcodes == "hide"
		default:
			return false, lastmile.Invalid("barcodes must be show or hide, not %q", barcodes)
		}
		return precision != "" || fence != "" || radius != 0 || barcodes != "", s.Geofence.Check()
	}
}

func setOrganization(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, change func(*lastmile.Settings) (bool, error)) error {
	settings, learned, err := a.ChangeSettings(ctx, org, change)
	if err != nil {
		return err
	}
	return inv.print(map[string]any{
		"geocodingPrecision": settings.GeocodingPrecision.String(),
		"geofence":           settings.Geofence.Level.String(), "geofenceRadius": settings.Geofence.Within(),
		"hideBarcodes": settings.HideBarcodes,
		"travelFactor": learned.Travel.Factor, "trips": learned.Travel.Trips, "serviceTime": learned.Service.Seconds(),
	}, "Geocoding precision  %s\nGeofence             %s, %.0f metres\nBarcodes             %s\nTravel factor        %.2f, learned from %d trips\nTime at a stop       %v\n",
		settings.GeocodingPrecision, settings.Geofence.Level, float64(settings.Geofence.Within()), map[bool]string{false: "shown", true: "hidden"}[settings.HideBarcodes], learned.Travel.Factor, learned.Travel.Trips, learned.Service)
}
