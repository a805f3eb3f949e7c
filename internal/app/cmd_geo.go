package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// importAtOnce is how many postal codes one transaction takes.
const importAtOnce = 2_000

func geoImportCommand() command {
	return command{
		name: "geo import", args: "FILE", summary: "Import postal codes of a country from a file of GeoNames",
		examples: []string{"dray geo import DE.zip", "dray geo import FR.txt --database postgres://dray@db/dray"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.bindStorage(f)
			return func(ctx context.Context, inv *invocation) error {
				name, err := inv.fileArgument()
				if err != nil {
					return err
				}
				return inv.with(ctx, func(a *App) error {
					count, countries, err := a.importPostalCodes(ctx, name)
					if err != nil {
						return err
					}
					return inv.print(map[string]any{"places": count, "countries": countries}, "%d places of %v imported.\n", count, countries)
				})
			}
		},
	}
}

// importPostalCodes reads a file of postal codes. What was known of a country
// before is replaced. The file is read through once before anything is
// changed, so that one that is not of the form changes nothing.
func (a *App) importPostalCodes(ctx context.Context, name string) (count int64, countries []string, err error) {
	err = readPostalFile(name, func(p lastmile.PostalArea) error {
		if len(countries) == 0 || countries[len(countries)-1] != p.Country {
			countries = append(countries, p.Country)
		}
		return nil
	})
	if err == nil && len(countries) == 0 {
		err = fmt.Errorf("%s holds no postal code", name)
	}
	if err != nil {
		return 0, nil, err
	}
	err = a.Store.Write(ctx, func(w store.Writer) error {
		for _, country := range countries {
			if err := w.DeletePostalAreas(ctx, country); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	var page []lastmile.PostalArea
	save := func() error {
		first := count
		count += int64(len(page))
		err := a.Store.Write(ctx, func(w store.Writer) error { return w.SavePostalAreas(ctx, first, page) })
		page = page[:0]
		return err
	}
	err = readPostalFile(name, func(p lastmile.PostalArea) error {
		if page = append(page, p); len(page) < importAtOnce {
			return nil
		}
		return save()
	})
	return count, countries, errors.Join(err, save())
}

func readPostalFile(name string, each func(lastmile.PostalArea) error) error {
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
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			precision := f.String("geocoding-precision", "", "the least `precision` that addresses must be found with: any, city, postalCode, street or house")
			fence := f.String("geofence", "", "what happens when a worker completes a task elsewhere: off, warn or block")
			radius := f.Float64("geofence-radius", 0, "`metres` around a destination that are not elsewhere; 200 unless set")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *App, org lastmile.OrganizationID) error {
				return setOrganization(ctx, inv, a, org, settingsChange(*precision, *fence, *radius))
			})
		},
	}
}

// settingsChange applies the flags that were given to settings. It tells whether
// there were any.
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

func setOrganization(ctx context.Context, inv *invocation, a *App, org lastmile.OrganizationID, change func(*lastmile.Settings) (bool, error)) error {
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
