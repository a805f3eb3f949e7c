package spec

import (
	"bytes"
	"encoding/json"
	"slices"
)

// schema is a JSON Schema, with the keywords that are used here.
type schema struct {
	Ref                  string            `json:"$ref,omitempty"`
	Type                 typeNames         `json:"type,omitempty"`
	Description          string            `json:"description,omitempty"`
	Format               string            `json:"format,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	Enum                 []any             `json:"enum,omitempty"`
	Minimum              *float64          `json:"minimum,omitempty"`
	Maximum              *float64          `json:"maximum,omitempty"`
	MinItems             int               `json:"minItems,omitempty"`
	MaxItems             int               `json:"maxItems,omitempty"`
	PrefixItems          []*schema         `json:"prefixItems,omitempty"`
	Items                *schema           `json:"items,omitempty"`
	AnyOf                []*schema         `json:"anyOf,omitempty"`
	OneOf                []*schema         `json:"oneOf,omitempty"`
	Properties           members[*schema]  `json:"properties,omitempty"`
	Required             []string          `json:"required,omitempty"`
	AdditionalProperties *bool             `json:"additionalProperties,omitempty"`
	Examples             []json.RawMessage `json:"examples,omitempty"`
}

// typeNames are the JSON types that a value can have.
type typeNames []string

// MarshalJSON implements json.Marshaler. A single type is a string instead of an array, as
// tools for versions before 3.1 expect.
func (t typeNames) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *typeNames) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	*t = make(typeNames, 1)
	return json.Unmarshal(data, &(*t)[0])
}

// members is a JSON object whose members keep the order in which they were added.
type members[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

func (m *members[T]) add(name string, value T) {
	*m = append(*m, member[T]{name, value})
}

// MarshalJSON implements json.Marshaler.
func (m members[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, each := range m {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(each.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(each.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

const (
	idPattern = `^[A-Za-z0-9*~]{24}$`
	refPrefix = "#/components/schemas/"
)

func ofType(names ...string) *schema { return &schema{Type: names} }

func listOf(items *schema) *schema { return &schema{Type: typeNames{"array"}, Items: items} }

func idSchema() *schema { return &schema{Type: typeNames{"string"}, Pattern: idPattern} }

func refTo(name string) *schema { return &schema{Ref: refPrefix + name} }

// nullable returns a schema that also accepts null. It may modify s.
func nullable(s *schema) *schema {
	switch {
	case slices.Contains(s.Type, "null") || s.Ref == "" && len(s.Type)+len(s.OneOf)+len(s.AnyOf) == 0:
		return s // already accepts null
	case len(s.OneOf) > 0:
		s.OneOf = append(s.OneOf, ofType("null"))
		return s
	case s.Ref != "":
		return &schema{OneOf: []*schema{s, ofType("null")}}
	}
	s.Type = append(s.Type, "null")
	if len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	return s
}
