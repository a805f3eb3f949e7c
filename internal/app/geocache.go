package app

import (
	"context"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// geography lets package geo use the database.
type geography struct {
	db  *sqlstore.Store
	now func() time.Time
}

var (
	_ geo.Cache       = geography{}
	_ geo.PostalCodes = geography{}
)

// Get implements geo.Cache.
func (g geography) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = g.db.Read(ctx, func(r store.Reader) (err error) {
		value, err = r.CachedAnswer(ctx, key, g.now())
		return err
	})
	return value, value != nil, err
}

// Put implements geo.Cache.
func (g geography) Put(ctx context.Context, key string, value []byte, keep time.Duration) error {
	return g.db.Write(ctx, func(w store.Writer) error { return w.SaveAnswer(ctx, key, value, g.now().Add(keep)) })
}

// PostalPlaces implements geo.PostalCodes.
func (g geography) PostalPlaces(ctx context.Context, country, code string) (places []lastmile.PostalPlace, imported bool, err error) {
	err = g.db.Read(ctx, func(r store.Reader) (err error) {
		places, imported, err = r.PostalPlaces(ctx, country, code)
		return err
	})
	return places, imported, err
}
