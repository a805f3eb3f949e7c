package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// GeographyReader reads what is known of places and travel.
type GeographyReader interface {
	// CachedAnswer returns what a map service answered before, or nil.
	CachedAnswer(ctx context.Context, key string, now time.Time) ([]byte, error)
	// CachedAnswers returns those that are kept under some keys.
	CachedAnswers(ctx context.Context, keys []string, now time.Time) (map[string][]byte, error)
	// PostalAreas returns the places of a postal code, and whether any code of
	// the country was imported.
	PostalAreas(ctx context.Context, country, code string) ([]lastmile.PostalArea, bool, error)
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
	// Trips returns an organization's latest trips.
	Trips(ctx context.Context, org lastmile.OrganizationID, limit int) ([]lastmile.Trip, error)
}

// GeographyWriter saves what is learned of places and travel.
type GeographyWriter interface {
	SaveAnswer(ctx context.Context, key string, value []byte, expires time.Time) error
	// DeleteAnswers forgets answers that have expired, about so many at most,
	// and returns how many.
	DeleteAnswers(ctx context.Context, now time.Time, most int) (int64, error)
	// DeletePostalAreas forgets the postal codes of a country.
	DeletePostalAreas(ctx context.Context, country string) error
	SavePostalAreas(ctx context.Context, first int64, places []lastmile.PostalArea) error
	SaveSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.Settings) error
	SaveTrip(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, at time.Time, t lastmile.Trip) error
}
