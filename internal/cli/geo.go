package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"dray/internal/app"
	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// importBatch is the number of postal codes saved in one transaction.
const importBatch = 2_000

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
					count, countries, err := importPostalCodes(ctx, a, name)
					if err != nil {
						return err
					}
					return inv.print(map[string]any{"places": count, "countries": countries}, "%d places of %v imported.\n", count, countries)
				})
			}
		},
	}
}

// importPostalCodes replaces the postal codes of the countries in a file. It
// reads the whole file once before it changes anything, so a malformed file
// changes nothing.
func importPostalCodes(ctx context.Context, a *app.App, name string) (count int64, countries []string, err error) {
	err = readPostalFile(name, func(p lastmile.PostalPlace) error {
		if len(countries) == 0 || countries[len(countries)-1] != p.Country {
			countries = append(countries, p.Country)
		}
		return nil
	})
	if err == nil && len(countries) == 0 {
		err = fmt.Errorf("%s contains no postal codes", name)
	}
	if err != nil {
		return 0, nil, err
	}
	err = a.Store.Write(ctx, func(w store.Writer) error {
		for _, country := range countries {
			if err := w.DeletePostalPlaces(ctx, country); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	var page []lastmile.PostalPlace
	save := func() error {
		first := count
		count += int64(len(page))
		err := a.Store.Write(ctx, func(w store.Writer) error { return w.SavePostalPlaces(ctx, first, page) })
		page = page[:0]
		return err
	}
	err = readPostalFile(name, func(p lastmile.PostalPlace) error {
		if page = append(page, p); len(page) < importBatch {
			return nil
		}
		return save()
	})
	return count, countries, errors.Join(err, save())
}

func readPostalFile(name string, each func(lastmile.PostalPlace) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	codes, err := geo.OpenPostalFile(file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer codes.Close()
	if err := geo.ReadPostalCodes(codes, each); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func orgSetCommand() command {
	return command{
		name: "org set", summary: "Show or change the settings of an organization",
		examples: []string{"dray org set --org ID", "dray org set --org ID --geocoding-precision street", "dray org set --org ID --geofence warn --geofence-radius 150"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			precision := f.String("geocoding-precision", "", "minimum geocoding `precision` of addresses: any, city, postalCode, street or house")
			fence := f.String("geofence", "", "`action` when a worker completes a task away from its destination: off, warn or block")
			radius := f.Float64("geofence-radius", 0, "radius of the geofence around a destination in `metres` (default 200)")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				return setOrganization(ctx, inv, a, org, settingsChange(*precision, *fence, *radius))
			})
		},
	}
}

// settingsChange returns a function that applies the flags to settings and
// reports whether any flag was set.
func settingsChange(precision, fence string, radius float64) func(*lastmile.Settings) (bool, error) {
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
		return precision != "" || fence != "" || radius != 0, s.Geofence.Check()
	}
}

func setOrganization(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, change func(*lastmile.Settings) (bool, error)) error {
	var (
		settings lastmile.Settings
		trips    []lastmile.Trip
	)
	err := a.Store.Write(ctx, func(w store.Writer) (err error) {
		if _, err = w.Organization(ctx, org); err != nil {
			return err
		}
		if settings, err = w.Settings(ctx, org); err != nil {
			return err
		}
		if trips, err = w.Trips(ctx, org, travel.LearnedTrips); err != nil {
			return err
		}
		changed, err := change(&settings)
		if err != nil || !changed {
			return err
		}
		return w.SaveSettings(ctx, org, settings)
	})
	if err != nil {
		return err
	}
	learned := travel.Learn(trips)
	return inv.print(map[string]any{
		"geocodingPrecision": settings.GeocodingPrecision.String(),
		"geofence":           settings.Geofence.Level.String(), "geofenceRadius": settings.Geofence.Within(),
		"travelFactor": learned.Travel.Factor, "trips": learned.Travel.Trips, "serviceTime": learned.Service.Seconds(),
	}, "Geocoding precision  %s\nGeofence             %s, %.0f metres\nTravel factor        %.2f, learned from %d trips\nTime at a stop       %v\n",
		settings.GeocodingPrecision, settings.Geofence.Level, float64(settings.Geofence.Within()), learned.Travel.Factor, learned.Travel.Trips, learned.Service)
}
