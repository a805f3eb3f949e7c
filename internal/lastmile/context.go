package lastmile

import "context"

type (
	meterKey   struct{}
	callerKey  struct{}
	lockingKey struct{}
)

// Meter counts the bytes that a request reads from the database. Count returns an error when
// the request has read more than it may hold in memory.
type Meter interface {
	Count(bytes int) error
}

// WithMeter returns a context whose reads are counted.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the meter of a context, or nil.
func MeterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}

// WithCaller returns a context for operations on behalf of a caller, such as an organization.
// The database is shared fairly between callers.
func WithCaller(ctx context.Context, caller string) context.Context {
	if CallerOf(ctx) == caller {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the caller of a context. It is empty for the server's own operations.
func CallerOf(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// Locking returns a context for a transaction that locks every row it relies on, by writing
// to the row before reading it. On PostgreSQL, such a transaction runs as read committed, so
// that it is not retried because of serialization failures and does not cause them.
func Locking(ctx context.Context) context.Context { return context.WithValue(ctx, lockingKey{}, true) }

// IsLocking reports whether a context was returned by Locking.
func IsLocking(ctx context.Context) bool { return ctx.Value(lockingKey{}) != nil }
