package store

import (
	"context"
	"sync"
)

// rememberKey is the context key of decoded tasks.
type rememberKey struct{}

// Remember returns a context in which a task that is read several times is decoded again only
// if it has changed. A use case that reads many tasks in a transaction also reads them before
// the transaction, so that other writers do not wait while they are decoded. In the same way,
// a task that is saved, or shown in events, is encoded again only if it differs from what was
// encoded before. The slices and pointers of such tasks are shared and must not be changed.
func Remember(ctx context.Context) context.Context {
	return context.WithValue(ctx, rememberKey{}, &sync.Map{})
}

// Remembered returns the tasks decoded and encoded in a context of Remember; nil for other
// contexts.
func Remembered(ctx context.Context) *sync.Map {
	known, _ := ctx.Value(rememberKey{}).(*sync.Map)
	return known
}
