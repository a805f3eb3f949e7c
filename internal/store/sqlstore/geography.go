package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// CachedResponse returns the cached reply of a map service, or nil.
func (t geographyTx) CachedResponse(ctx context.Context, key string, now time.Time) ([]byte, error) {
	var value []byte
	err := t.row(ctx, `SELECT value FROM geo_cache WHERE key = $1 AND expires > $2`, key, now.UnixMilli()).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a cached response: %w", err)
	}
	return value, nil
}

// CachedResponses returns the cached replies with the given keys.
func (t geographyTx) CachedResponses(ctx context.Context, keys []string, now time.Time) (map[string][]byte, error) {
	found := make(map[string][]byte, len(keys))
	for chunk := range slices.Chunk(keys, 200) {
		where := &condition{text: `expires > $1`, args: []any{now.UnixMilli()}}
		in(where, `key`, chunk)
		_, err := collect(ctx, t, func(r rows) (none struct{}, err error) {
			var (
				key   string
				value []byte
			)
			err = r.Scan(&key, &value)
			found[key] = value
			return none, err
		}, `SELECT key, value FROM geo_cache WHERE `+where.text, where.args...)
		if err != nil {
			return nil, fmt.Errorf("read cached responses: %w", err)
		}
	}
	return found, nil
}

// SaveResponse caches the reply of a map service until it expires.
func (t geographyTx) SaveResponse(ctx context.Context, key string, value []byte, expires time.Time) error {
	const query = `
		INSERT INTO geo_cache (key, value, expires) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`
	if _, err := t.exec(ctx, query, key, value, expires.UnixMilli()); err != nil {
		return fmt.Errorf("cache a response: %w", err)
	}
	return nil
}

// DeleteCachedResponses deletes about most expired replies, and returns how many it
// deleted.
func (t geographyTx) DeleteCachedResponses(ctx context.Context, now time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `geo_cache`, `expires`, ``, now.UnixMilli()+1, most)
}

// PostalAreas returns the areas with a postal code, and reports whether any
// code of the country was imported.
func (t geographyTx) PostalAreas(ctx context.Context, country, code string) ([]lastmile.PostalArea, bool, error) {
	scan := func(r rows) (p lastmile.PostalArea, err error) {
		err = r.Scan(&p.Country, &p.Code, &p.Name, &p.State, &p.County, &p.Location.Lon, &p.Location.Lat)
		return p, err
	}
	found, err := collect(ctx, t, scan,
		`SELECT country, code, name, state, county, lon, lat FROM postal_place WHERE country = $1 AND code = $2 ORDER BY nth`, country, code)
	if err != nil {
		return nil, false, fmt.Errorf("read postal code %s %s: %w", country, code, err)
	}
	if len(found) > 0 {
		return found, true, nil
	}
	some, err := t.exists(ctx, `SELECT 1 FROM postal_place WHERE country = $1 LIMIT 1`, country)
	return nil, some, err
}

// DeletePostalAreas deletes the postal areas of a country.
func (t geographyTx) DeletePostalAreas(ctx context.Context, country string) error {
	if _, err := t.exec(ctx, `DELETE FROM postal_place WHERE country = $1`, country); err != nil {
		return fmt.Errorf("delete postal codes of %s: %w", country, err)
	}
	return nil
}

// SavePostalAreas adds postal areas of a country, numbered from first.
func (t geographyTx) SavePostalAreas(ctx context.Context, first int64, places []lastmile.PostalArea) error {
	for i, p := range places {
		const query = `
			INSERT INTO postal_place (country, code, nth, name, state, county, lon, lat) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT DO NOTHING`
		if _, err := t.exec(ctx, query, p.Country, p.Code, first+int64(i), p.Name, p.State, p.County, p.Location.Lon, p.Location.Lat); err != nil {
			return fmt.Errorf("save postal code %s %s: %w", p.Country, p.Code, err)
		}
	}
	return nil
}

const selectSettings = `SELECT precision_wanted, geofence, geofence_radius, hide_barcodes, failure_reasons FROM organization_setting WHERE org = $1`

// Settings returns the settings of an organization.
func (t geographyTx) Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error) {
	var (
		precision, level, hide int64
		radius                 float64
		reasons                string
	)
	err := t.row(ctx, selectSettings, org).Scan(&precision, &level, &radius, &hide, &reasons)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return lastmile.Settings{}, fmt.Errorf("read settings of %s: %w", org, err)
	}
	return lastmile.Settings{
		GeocodingPrecision: lastmile.Precision(precision),
		Geofence:           lastmile.Geofence{Level: lastmile.GeofenceLevel(level), Radius: lastmile.Meters(radius)},
		HideBarcodes:       hide != 0,
		FailureReasons:     reasons,
	}, nil
}

// SaveSettings saves the settings of an organization.
func (t geographyTx) SaveSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.Settings) error {
	const query = `
		INSERT INTO organization_setting (org, precision_wanted, geofence, geofence_radius, hide_barcodes, failure_reasons) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org) DO UPDATE SET precision_wanted = excluded.precision_wanted, geofence = excluded.geofence,
			geofence_radius = excluded.geofence_radius, hide_barcodes = excluded.hide_barcodes, failure_reasons = excluded.failure_reasons`
	if _, err := t.exec(ctx, query, org, int64(s.GeocodingPrecision), int64(s.Geofence.Level), float64(s.Geofence.Radius), engine.Flag(s.HideBarcodes), s.FailureReasons); err != nil {
		return fmt.Errorf("save settings of %s: %w", org, err)
	}
	return nil
}

// Trips returns an organization's latest most trips.
func (t geographyTx) Trips(ctx context.Context, org lastmile.OrganizationID, most int) ([]lastmile.Trip, error) {
	scan := func(r rows) (trip lastmile.Trip, err error) {
		var estimated, actual, service int64
		err = r.Scan(&estimated, &actual, &service)
		trip.Estimated, trip.Actual = time.Duration(estimated)*time.Millisecond, time.Duration(actual)*time.Millisecond
		trip.Service = time.Duration(service) * time.Millisecond
		return trip, err
	}
	found, err := collect(ctx, t, scan, `SELECT estimated, actual, service FROM trip WHERE org = $1 ORDER BY at DESC`+limit(most), org)
	if err != nil {
		return nil, fmt.Errorf("read trips: %w", err)
	}
	return found, nil
}

// SaveTrip saves how long a trip was estimated to take and how long it took.
func (t geographyTx) SaveTrip(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, at time.Time, trip lastmile.Trip) error {
	const query = `INSERT INTO trip (org, task, at, estimated, actual, service) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`
	if _, err := t.exec(ctx, query, org, task, at.UnixMilli(), trip.Estimated.Milliseconds(), trip.Actual.Milliseconds(), trip.Service.Milliseconds()); err != nil {
		return fmt.Errorf("save trip to task %s: %w", task, err)
	}
	return nil
}
