package wire

import (
	"encoding/json"
	"slices"

	"dray/internal/codec"
)

// Raw is the JSON of a T. Records are stored as JSON and sent without decoding.
type Raw[T any] []byte

// Encode returns the JSON.
func (r Raw[T]) Encode() ([]byte, error) { return r, nil }

// MarshalJSON implements json.Marshaler.
func (r Raw[T]) MarshalJSON() ([]byte, error) { return r, nil }

// SchemaOf returns a T, which has the same JSON, for documentation.
func (Raw[T]) SchemaOf() any {
	var sample T
	return sample
}

// MarshalRaw encodes a value as a Raw.
func MarshalRaw[T any](v T) (Raw[T], error) {
	data, err := codec.Marshal(v)
	return data, err
}

// RawList returns a JSON array of encoded records.
func RawList[T any](docs [][]byte) Raw[[]T] {
	size := 2
	for _, doc := range docs {
		size += len(doc) + 1
	}
	joined := append(make([]byte, 0, size), '[')
	for i, doc := range docs {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(joined, doc...)
	}
	return append(joined, ']')
}

// Each converts every item of a list; the result is never nil.
func Each[T, F any](list []T, convert func(T) F) []F {
	converted := make([]F, 0, len(list))
	for _, item := range list {
		converted = append(converted, convert(item))
	}
	return converted
}

// Splice merges the members of two encoded objects into one. Both must have members.
func Splice(record, live []byte) []byte {
	joined := make([]byte, 0, len(record)+len(live))
	joined = append(joined, record[:len(record)-1]...)
	joined = append(joined, ',')
	return append(joined, live[1:]...)
}

// MarshalFields encodes a record, or a list of records, with only the named
// fields and the id. Without names it encodes all fields.
func MarshalFields[T any](records T, fields []string) (Raw[T], error) {
	encoded, err := codec.Marshal(records)
	if err != nil || len(fields) == 0 {
		return encoded, err
	}
	keep := func(record map[string]json.RawMessage) {
		for name := range record {
			if name != "id" && !slices.Contains(fields, name) {
				delete(record, name)
			}
		}
	}
	if encoded[0] == '{' {
		var one map[string]json.RawMessage
		if err := json.Unmarshal(encoded, &one); err != nil {
			return nil, err
		}
		keep(one)
		return codec.Marshal(one)
	}
	var many []map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &many); err != nil {
		return nil, err
	}
	for _, record := range many {
		keep(record)
	}
	return codec.Marshal(many)
}

// Marshal encodes a type of this package as JSON.
func Marshal(v any) ([]byte, error) { return codec.Marshal(v) }

// Unmarshal decodes a type of this package that Marshal has encoded.
func Unmarshal(data []byte, into any) error { return codec.Unmarshal(data, into) }
