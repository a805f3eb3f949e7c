package addressbook

import (
	"context"
	"strings"
	"time"
	"unicode"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// MaxFound is the most records that a metadata search returns.
const MaxFound = 10_000

// Geocoder finds the location of an address.
type Geocoder interface {
	// Geocode returns the best match for an address, or a *lastmile.Error if there
	// is none of the required precision.
	Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error)
}

// Finder completes addresses that a person types, and finds those at a location. It
// uses no service outside this node.
type Finder interface {
	// Suggest returns addresses that begin with the unparsed line of a query, the best
	// first.
	Suggest(ctx context.Context, q lastmile.AddressQuery, limit int) ([]lastmile.GeocodedAddress, error)
	// Reverse returns the addresses at a location, the nearest first.
	Reverse(ctx context.Context, at lastmile.Point, limit int) ([]lastmile.GeocodedAddress, error)
}

// Book manages the destinations and recipients of all organizations.
type Book struct {
	Store      store.Transactor[Reader, Writer]
	Documents  store.Documents
	Geocoder   Geocoder
	Finder     Finder
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	NewID      func() string
}

// Locate checks a draft and returns it as a destination, geocoded if it has no
// location. It saves nothing. field is a prefix for error messages.
func (b *Book) Locate(ctx context.Context, who lastmile.Principal, field string, draft lastmile.DestinationDraft) (lastmile.Destination, error) {
	if err := draft.Check(field); err != nil {
		return lastmile.Destination{}, err
	}
	var found *lastmile.GeocodedAddress
	if draft.Location == nil {
		if err := checkWords(field+"address", draft); err != nil {
			return lastmile.Destination{}, err
		}
		place, err := b.geocode(ctx, who, draft)
		if err != nil {
			return lastmile.Destination{}, lastmile.Within(field, err)
		}
		found = &place
	}
	return lastmile.NewDestination(lastmile.DestinationID(b.NewID()), who.Organization, draft, found, b.Now()), nil
}

// checkWords rejects an address to geocode that has a required part without any letter or
// digit, such as a hyphen.
func checkWords(field string, draft lastmile.DestinationDraft) error {
	if draft.Unparsed != "" {
		return nil
	}
	a := draft.Address
	for _, part := range []struct{ name, text string }{{"number", a.Number}, {"street", a.Street}, {"city", a.City}, {"country", a.Country}} {
		if !strings.ContainsFunc(part.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			return lastmile.Invalid("%s.%s must contain a letter or a digit, not %q", field, part.name, lastmile.Truncate(part.text, 32))
		}
	}
	return nil
}

// maxHubs is the maximum number of hubs that make addresses around them more likely.
const maxHubs = 50

func (b *Book) geocode(ctx context.Context, who lastmile.Principal, draft lastmile.DestinationDraft) (lastmile.GeocodedAddress, error) {
	var query lastmile.AddressQuery
	err := b.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		settings, err := r.Settings(ctx, who.Organization)
		if err != nil {
			return err
		}
		query = draft.Query(org.Country)
		query.Precision = settings.GeocodingPrecision
		query.Near, err = r.HubLocations(ctx, who.Organization, maxHubs)
		return err
	})
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	return b.Geocoder.Geocode(ctx, query)
}

// CreateDestination creates a destination.
func (b *Book) CreateDestination(ctx context.Context, who lastmile.Principal, draft lastmile.DestinationDraft) (lastmile.Destination, error) {
	made, err := b.Locate(ctx, who, "", draft)
	if err != nil {
		return made, err
	}
	return store.Idempotent(ctx, b.Store, who, func(w Writer) (lastmile.Destination, error) {
		return made, w.SaveDestination(ctx, made)
	})
}

// ShowDestination returns a destination in the form of the API.
func (b *Book) ShowDestination(ctx context.Context, who lastmile.Principal, id lastmile.DestinationID) ([]byte, error) {
	return b.Documents.Show(ctx, store.Destinations, who.Organization, string(id))
}

// FindDestinations returns the ids of the destinations that have all of the metadata
// entries.
func (b *Book) FindDestinations(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) ([]string, error) {
	return b.find(ctx, store.Destinations, who, metadata)
}

// ShowDestinations returns destinations that were found, in the form of the API.
func (b *Book) ShowDestinations(ctx context.Context, who lastmile.Principal, ids []string) ([][]byte, error) {
	return b.Documents.ShowAll(ctx, store.Destinations, who.Organization, ids)
}

func (b *Book) find(ctx context.Context, kind store.Kind, who lastmile.Principal, metadata lastmile.Metadata) ([]string, error) {
	ids, err := b.Documents.Find(ctx, kind, who.Organization, "", metadata, MaxFound+1)
	if err == nil && len(ids) > MaxFound {
		err = lastmile.Invalid("more than %d %ss match; add entries to find fewer", MaxFound, kind)
	}
	return ids, err
}

func (b *Book) organization(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, err error) {
	err = b.Store.Read(ctx, func(r Reader) (err error) {
		org, err = r.Organization(ctx, who.Organization)
		return err
	})
	return org, err
}
