package wire

import "encoding/json"

// Optional is a field of an update, which can be absent, null or a value.
type Optional[T any] struct {
	Present bool // the key was in the body
	Null    bool // and its value was null
	Value   T
}

// Set tells whether a value was given.
func (o Optional[T]) Set() bool { return o.Present && !o.Null }

// orNull is the value as an update of the domain has it: nil leaves as it is, a
// pointer to nil takes away.
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

// IsZero tells whether the field was absent, for the omitzero tag.
func (o Optional[T]) IsZero() bool { return !o.Present }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	*o = Optional[T]{Present: true, Null: string(data) == "null"}
	if o.Null {
		return nil
	}
	return DecodePart(data, &o.Value)
}

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set() {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}
