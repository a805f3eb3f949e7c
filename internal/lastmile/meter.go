package lastmile

import "context"

// Meter counts what a request reads from the database. It returns an error when
// that is more than the request may hold in memory.
type Meter interface {
	Count(bytes int) error
}

type meterKey struct{}

// WithMeter returns a context whose reads are counted.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the meter of a context, or nil.
func MeterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}
