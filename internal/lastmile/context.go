package lastmile

import "context"

type (
	meterKey   struct{}
	callerKey  struct{}
	lockingKey struct{}
)

// Meter counts what a request reads from the database. It returns an error when
// that is more than the request may hold in memory.
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

// WithCaller returns a context whose operations are performed for a caller, such as an
// organization. Callers share the database by their use of it.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the caller of a context. It is empty for what the server does for itself.
func CallerOf(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// Locking returns a context for a transaction that locks all it relies on, by writing to it
// before it reads it. On PostgreSQL its statements see what is committed when they begin,
// and neither it nor others run again because one has read what another changed.
func Locking(ctx context.Context) context.Context { return context.WithValue(ctx, lockingKey{}, true) }

// IsLocking reports whether a context is for such transactions.
func IsLocking(ctx context.Context) bool { return ctx.Value(lockingKey{}) != nil }
