package apptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// jsonSchema is the part of JSON Schema 2020-12 that the interface's document
// uses.
type jsonSchema struct {
	Ref                  string                `json:"$ref"`
	Type                 jsonTypes             `json:"type"`
	Pattern              string                `json:"pattern"`
	Enum                 []any                 `json:"enum"`
	Minimum              *float64              `json:"minimum"`
	Maximum              *float64              `json:"maximum"`
	MinItems             int                   `json:"minItems"`
	MaxItems             *int                  `json:"maxItems"`
	PrefixItems          []jsonSchema          `json:"prefixItems"`
	Items                *jsonSchema           `json:"items"`
	AnyOf                []jsonSchema          `json:"anyOf"`
	OneOf                []jsonSchema          `json:"oneOf"`
	Properties           map[string]jsonSchema `json:"properties"`
	Required             []string              `json:"required"`
	AdditionalProperties *bool                 `json:"additionalProperties"`

	// These say nothing of what a value must be.
	Description string `json:"description"`
	Format      string `json:"format"`
	Examples    []any  `json:"examples"`
}

// UnmarshalJSON implements json.Unmarshaler. It refuses keywords that it does
// not know: to pass over one would be to accept what the document forbids.
func (s *jsonSchema) UnmarshalJSON(data []byte) error {
	type plain jsonSchema
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(s))
}

// jsonTypes is one type, or several.
type jsonTypes []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *jsonTypes) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	*t = make([]string, 1)
	return json.Unmarshal(data, &(*t)[0])
}

// checker holds values against schemas.
type checker struct {
	schemas  map[string]jsonSchema
	patterns sync.Map // compiled, by text
}

// check returns what is wrong with a value; at says where the value is.
func (c *checker) check(s jsonSchema, value any, at string) error {
	if s.Ref != "" {
		target, ok := c.schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if !ok {
			return fmt.Errorf("%s: the document has no %s", at, s.Ref)
		}
		if err := c.check(target, value, at); err != nil {
			return err
		}
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(name string) bool { return isOfType(value, name) }) {
		return fmt.Errorf("%s: is %s, want %s", at, shown(value), strings.Join(s.Type, " or "))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(one any) bool { return reflect.DeepEqual(one, value) }) {
		return fmt.Errorf("%s: is %s, want one of %v", at, shown(value), s.Enum)
	}
	if err := c.checkAlternatives(s, value, at); err != nil {
		return err
	}
	switch value := value.(type) {
	case string:
		if s.Pattern != "" && !c.pattern(s.Pattern).MatchString(value) {
			return fmt.Errorf("%s: is %q, want %s", at, value, s.Pattern)
		}
	case float64:
		if s.Minimum != nil && value < *s.Minimum || s.Maximum != nil && value > *s.Maximum {
			return fmt.Errorf("%s: is %v, out of bounds", at, value)
		}
	case []any:
		return c.checkArray(s, value, at)
	case map[string]any:
		return c.checkObject(s, value, at)
	}
	return nil
}

// checkAlternatives holds a value against anyOf and oneOf.
func (c *checker) checkAlternatives(s jsonSchema, value any, at string) error {
	if fits, err := c.count(s.AnyOf, value, at); len(s.AnyOf) > 0 && fits == 0 {
		return err
	}
	fits, err := c.count(s.OneOf, value, at)
	switch {
	case len(s.OneOf) == 0 || fits == 1:
		return nil
	case fits == 0:
		return err
	}
	return fmt.Errorf("%s: fits %d alternatives, of which it may fit one", at, fits)
}

// count returns how many alternatives a value fits, and why not the others.
func (c *checker) count(alternatives []jsonSchema, value any, at string) (fits int, err error) {
	for _, alternative := range alternatives {
		fault := c.check(alternative, value, at)
		if fault == nil {
			fits++
		}
		err = errors.Join(err, fault)
	}
	return fits, err
}

func (c *checker) checkArray(s jsonSchema, list []any, at string) error {
	if len(list) < s.MinItems || s.MaxItems != nil && len(list) > *s.MaxItems {
		return fmt.Errorf("%s: has %d items", at, len(list))
	}
	for i, item := range list {
		place := fmt.Sprintf("%s[%d]", at, i)
		of := s.Items
		if i < len(s.PrefixItems) {
			of = &s.PrefixItems[i]
		}
		if of == nil {
			continue
		}
		if err := c.check(*of, item, place); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkObject(s jsonSchema, object map[string]any, at string) error {
	var faults []error
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			faults = append(faults, fmt.Errorf("%s: lacks %s", at, name))
		}
	}
	for name, value := range object {
		property, known := s.Properties[name]
		switch {
		case known:
			faults = append(faults, c.check(property, value, at+"."+name))
		case s.AdditionalProperties != nil && !*s.AdditionalProperties:
			faults = append(faults, fmt.Errorf("%s: has %s, which the document does not", at, name))
		}
	}
	return errors.Join(faults...)
}

func (c *checker) pattern(text string) *regexp.Regexp {
	if found, ok := c.patterns.Load(text); ok {
		return found.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	c.patterns.Store(text, compiled)
	return compiled
}

func isOfType(value any, name string) bool {
	switch value := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// shown is a value for a message.
func shown(value any) string {
	data, err := json.Marshal(value)
	if err != nil || len(data) > 80 {
		return fmt.Sprintf("a %T", value)
	}
	return string(data)
}
