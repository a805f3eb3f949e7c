package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// geoStore is the database as package geo uses it.
type geoStore struct {
	db  *sqlstore.Store
	now func() time.Time
}

var (
	_ geo.Cache       = geoStore{}
	_ geo.LegCache    = geoStore{}
	_ geo.PostalCodes = geoStore{}
)

// Get implements geo.Cache.
func (g geoStore) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = g.db.Read(ctx, func(r *sqlstore.Tx) (err error) {
		value, err = r.CachedResponse(ctx, key, g.now())
		return err
	})
	return value, value != nil, err
}

// Put implements geo.Cache.
func (g geoStore) Put(ctx context.Context, key string, value []byte, keep time.Duration) error {
	return g.db.Write(ctx, func(w *sqlstore.Tx) error { return w.SaveResponse(ctx, key, value, g.now().Add(keep)) })
}

// GetAll implements geo.LegCache.
func (g geoStore) GetAll(ctx context.Context, keys []string) (values map[string][]byte, err error) {
	err = g.db.Read(ctx, func(r *sqlstore.Tx) (err error) {
		values, err = r.CachedResponses(ctx, keys, g.now())
		return err
	})
	return values, err
}

// PutAll implements geo.LegCache.
func (g geoStore) PutAll(ctx context.Context, values map[string][]byte, keep time.Duration) error {
	return g.db.Write(ctx, func(w *sqlstore.Tx) error {
		for _, key := range slices.Sorted(maps.Keys(values)) { // a fixed order avoids deadlocks
			if err := w.SaveResponse(ctx, key, values[key], g.now().Add(keep)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PostalAreas implements geo.PostalCodes.
func (g geoStore) PostalAreas(ctx context.Context, country, code string) (areas []lastmile.PostalArea, imported bool, err error) {
	err = g.db.Read(ctx, func(r *sqlstore.Tx) (err error) {
		areas, imported, err = r.PostalAreas(ctx, country, code)
		return err
	})
	return areas, imported, err
}
