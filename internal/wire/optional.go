package wire

import (
	"encoding/json"

	"dray/internal/codec"
)

// Optional is an optional field of an update, which can be absent, null or a value.
type Optional[T any] struct {
	Present bool // the key was in the body
	Null    bool // the key was in the body, with the value null
	Value   T
}

// Set reports whether a value was sent.
func (o Optional[T]) Set() bool { return o.Present && !o.Null }

// orNull returns the value for an update of the domain: nil if it was absent, which changes
// nothing; a pointer to nil for null, which removes the value.
func (o Optional[T]) orNull() **T {
	value := &o.Value
	switch {
	case !o.Present:
		return nil
	case o.Null:
		value = nil
	}
	return &value
}

// SchemaOf returns a *T, because the field is a T or null, for documentation.
func (Optional[T]) SchemaOf() any { return (*T)(nil) }

// IsZero reports whether the field was absent, for the omitzero tag.
func (o Optional[T]) IsZero() bool { return !o.Present }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	*o = Optional[T]{Present: true, Null: string(data) == "null"}
	if o.Null {
		return nil
	}
	return codec.DecodePart(data, &o.Value)
}

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set() {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// OrNull returns a pointer to v, or nil for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// orZero returns *p, or the zero value if p is nil.
func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// OrEmpty returns the list, or an empty one for nil, because arrays in JSON are never null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
