package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dray/internal/geo"
)

// openMaps returns what finds addresses and what tells travel times: the map
// services that were set, and behind them what the program knows by itself.
func openMaps(c Config, log *slog.Logger, now func() time.Time) (geo.Geocoder, geo.TravelTimer, error) {
	options := geo.Options{Now: now, UserAgent: fmt.Sprintf("Dray/%s (+%s)", Version, c.url())}
	geocoders, err := c.geocoders(options)
	if err != nil {
		return nil, nil, err
	}
	routers, err := c.routers(options)
	if err != nil {
		return nil, nil, err
	}
	failed := func(ctx context.Context, err error) {
		if !errors.Is(err, geo.ErrLeftAlone) { // it has been said why
			log.WarnContext(ctx, "a map service does not answer", "error", err)
		}
	}
	return &geo.Chain{Sources: append(geocoders, new(geo.Gazetteer)), Failed: failed},
		&geo.Routers{Sources: append(routers, geo.Estimate{}), Failed: failed}, nil
}

func (c *Config) geocoders(o geo.Options) (all []geo.Geocoder, err error) {
	for _, url := range c.Geocoders {
		g, _, err := geo.OpenGeocoder(url, o)
		if err != nil {
			return nil, fmt.Errorf("--geocoder: %w", err)
		}
		all = append(all, g)
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
