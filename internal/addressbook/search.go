package addressbook

import (
	"context"
	"strings"

	"dray/internal/lastmile"
)

// Limits of a search for addresses.
const (
	MaxSuggestions     = 20
	defaultSuggestions = 5
	MaxSearchText      = 250 // characters
)

// Search is a search for addresses: by the beginning of a line, or by a location.
type Search struct {
	Text  string
	At    *lastmile.Point
	Near  *lastmile.Point // where to prefer addresses; nil for the organization's hubs
	Limit *float64        // as it was sent; nil for the default
}

func (s Search) check() error {
	switch {
	case s.Text == "" && s.At == nil:
		return lastmile.Missing("q or location")
	case s.Text != "" && s.At != nil:
		return lastmile.Invalid("q and location cannot be combined; send q to complete an address, or location to find the address there")
	case s.Limit != nil && (*s.Limit < 1 || *s.Limit > MaxSuggestions || *s.Limit != float64(int(*s.Limit))):
		return lastmile.Invalid("limit must be a whole number from 1 to %d, not %g", MaxSuggestions, *s.Limit)
	}
	return lastmile.CheckText("q", s.Text, MaxSearchText)
}

// FindAddresses returns the addresses that a search finds, the best first.
func (b *Book) FindAddresses(ctx context.Context, who lastmile.Principal, s Search) ([]lastmile.GeocodedAddress, error) {
	s.Text = strings.TrimSpace(s.Text)
	if err := s.check(); err != nil {
		return nil, err
	}
	limit := defaultSuggestions
	if s.Limit != nil {
		limit = int(*s.Limit)
	}
	if s.At != nil {
		return b.Finder.Reverse(ctx, *s.At, limit)
	}
	query := lastmile.AddressQuery{Unparsed: s.Text}
	err := b.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		query.Country = org.Country
		if s.Near != nil {
			query.Near = []lastmile.Point{*s.Near}
			return nil
		}
		query.Near, err = r.HubLocations(ctx, who.Organization, maxHubs)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b.Finder.Suggest(ctx, query, limit)
}
