package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"dray/internal/geo"
	"dray/internal/tileapi"
)

// openMaps returns the geocoder and the source of travel times. Both query the configured map
// services and fall back to imported maps, and then to the built-in gazetteer and formula.
func openMaps(c Config, files *Maps, streets *geo.Streets, db geoStore, log *slog.Logger, now func() time.Time) (geo.Geocoder, *geo.Travel, error) {
	options := geo.Options{Now: now, UserAgent: c.userAgent()}
	onError := func(ctx context.Context, err error) {
		if !errors.Is(err, geo.ErrCircuitOpen) { // the failures that opened it are logged already
			log.WarnContext(ctx, "a map service does not respond", "error", err)
		}
	}
	geocoders, err := c.geocoders(options, db, onError)
	if err != nil {
		return nil, nil, err
	}
	routers, err := c.routers(options)
	if err != nil {
		return nil, nil, err
	}
	travel := &geo.Travel{
		TravelTimer: &geo.Routers{Services: routers, Local: []geo.TravelTimer{files.matrices(c.Speed), geo.Estimate{}}, Failed: onError},
		Name:        strings.Join(c.Routers, " "), OnError: onError,
	}
	if len(routers) > 0 { // imported maps and the formula are faster than a cache in the database
		travel.Cache = db
	}
	gazetteer := &geo.Gazetteer{Imported: streets.Postal}
	return &geo.Chain{Services: geocoders, Local: []geo.Geocoder{streets, gazetteer}, Failed: onError}, travel, nil
}

// userAgent identifies the installation to map services.
func (c *Config) userAgent() string { return fmt.Sprintf("Dray/%s (+%s)", Version, c.URL()) }

func (c *Config) geocoders(o geo.Options, cache geo.Cache, onError func(context.Context, error)) (all []geo.Geocoder, err error) {
	for _, url := range c.Geocoders {
		g, _, err := geo.OpenGeocoder(url, o)
		if err != nil {
			return nil, fmt.Errorf("--geocoder: %w", err)
		}
		all = append(all, &geo.Cached{Geocoder: g, Cache: cache, Name: url, OnError: onError})
	}
	return all, nil
}

func (c *Config) routers(o geo.Options) (all []geo.TravelTimer, err error) {
	for _, url := range c.Routers {
		r, _, err := geo.OpenRouter(url, o)
		if err != nil {
			return nil, fmt.Errorf("--router: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// openTiles returns the tiles to show: the configured ones, or else those of imported maps.
func (c *Config) openTiles(files *Maps, now func() time.Time) (tileapi.Tiles, error) {
	if c.Tiles == "" {
		return tileapi.NewImported(files.Tiles), nil
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	tiles, err := tileapi.Open(c.Tiles, client, now)
	if err != nil {
		return nil, fmt.Errorf("--tiles: %w", err)
	}
	return tiles, nil
}
