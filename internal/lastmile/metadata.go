package lastmile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Limits of the metadata of one record.
const (
	MaxMetadataEntries = 64
	MaxMetadataBytes   = 16 << 10 // names and values, as compact JSON
	MaxMetadataName    = 1_000    // characters
)

// MetadataType is the type that a metadata entry declares for its value.
type MetadataType string

// The types of metadata. An array's subtype is any of the others.
const (
	MetadataBoolean MetadataType = "boolean"
	MetadataNumber  MetadataType = "number"
	MetadataString  MetadataType = "string"
	MetadataObject  MetadataType = "object"
	MetadataArray   MetadataType = "array"
)

// The values of the visibility of a metadata entry.
const (
	VisibleToAPI       = "api"
	VisibleToDashboard = "dashboard"
	VisibleToWorker    = "worker"
)

// MetadataEntry is a named value that an integration stores on a record. Its
// value is a bool, float64, string, []any or map[string]any, and is not
// modified once it is part of a Metadata.
type MetadataEntry struct {
	Name       string
	Type       MetadataType
	Subtype    MetadataType // for arrays only
	Visibility []string     // defaults to VisibleToAPI
	Value      any
}

// Metadata are the entries of a record, in the order in which they were sent.
type Metadata []MetadataEntry

// NewMetadata validates and normalizes entries sent by a client. field is their
// name in error messages.
func NewMetadata(field string, entries []MetadataEntry) (Metadata, error) {
	m := Metadata(entries)
	if err := m.Validate(field); err != nil {
		return nil, err
	}
	return m.Normalized(), nil
}

// Normalized returns a copy in which every entry has an explicit visibility
// without duplicates.
func (m Metadata) Normalized() Metadata {
	normal := slices.Clone(m)
	for i, e := range normal {
		if normal[i].Visibility = Unique(e.Visibility); len(e.Visibility) == 0 {
			normal[i].Visibility = []string{VisibleToAPI}
		}
	}
	return normal
}

// Validate checks the entries. Its error is an *Error whose message begins with
// field.
func (m Metadata) Validate(field string) error {
	if len(m) > MaxMetadataEntries {
		return Invalid("%s must have at most %d entries, not %d", field, MaxMetadataEntries, len(m))
	}
	places := make(map[string]int, len(m))
	size := 0
	for i, e := range m {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := e.validate(at); err != nil {
			return err
		}
		if first, taken := places[e.Name]; taken {
			return Invalid("%s.name must be unique, and %s[%d] has the same", at, field, first)
		}
		places[e.Name] = i
		size += e.size()
	}
	if size > MaxMetadataBytes {
		return Invalid("%s must be at most %d bytes of names and values in all, not %d", field, MaxMetadataBytes, size)
	}
	return nil
}

// validate checks one entry. at is its name in error messages.
func (e MetadataEntry) validate(at string) error {
	switch {
	case e.Name == "":
		return Missing(at + ".name")
	case utf8.RuneCountInString(e.Name) > MaxMetadataName:
		return Invalid("%s.name must be at most %d characters", at, MaxMetadataName)
	case e.Type == "":
		return Missing(at + ".type")
	case e.Type != MetadataArray && !scalar(e.Type):
		return Invalid("%s.type must be boolean, number, string, object or array", at)
	case e.Type == MetadataArray && e.Subtype == "":
		return Missing(at + ".subtype").Because("the type is array")
	case e.Type == MetadataArray && !scalar(e.Subtype):
		return Invalid("%s.subtype must be boolean, number, string or object", at)
	case e.Type != MetadataArray && e.Subtype != "":
		return Invalid("%s.subtype must be left out unless the type is array", at)
	}
	for i, v := range e.Visibility {
		switch v {
		case VisibleToAPI, VisibleToDashboard, VisibleToWorker:
		default:
			return Invalid("%s.visibility[%d] must be api, dashboard or worker", at, i)
		}
	}
	return e.validateValue(at + ".value")
}

// validateValue checks that the value has the declared type.
func (e MetadataEntry) validateValue(at string) error {
	if e.Value == nil {
		return Invalid("%s must be a value of the type %s, and there is none", at, e.Type)
	}
	if !matches(e.Value, e.Type) {
		return Invalid("%s must be of the type %s, as the entry declares", at, e.Type)
	}
	if elements, ok := e.Value.([]any); ok {
		for i, v := range elements {
			if !matches(v, e.Subtype) {
				return Invalid("%s[%d] must be of the type %s, as the entry's subtype declares", at, i, e.Subtype)
			}
		}
	}
	if !storable(e.Value) {
		return Invalid("%s must hold finite numbers only", at)
	}
	return nil
}

// scalar reports whether t is a type that the elements of arrays can have.
func scalar(t MetadataType) bool {
	switch t {
	case MetadataBoolean, MetadataNumber, MetadataString, MetadataObject:
		return true
	case MetadataArray:
	}
	return false
}

func matches(value any, t MetadataType) bool {
	switch value.(type) {
	case bool:
		return t == MetadataBoolean
	case float64:
		return t == MetadataNumber
	case string:
		return t == MetadataString
	case map[string]any:
		return t == MetadataObject
	case []any:
		return t == MetadataArray
	}
	return false
}

// storable reports whether a value can be encoded as JSON: at every level, it has the types
// of decoded JSON, and its numbers are finite.
func storable(value any) bool {
	switch v := value.(type) {
	case nil, bool, string:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		for _, element := range v {
			if !storable(element) {
				return false
			}
		}
		return true
	case map[string]any:
		for _, member := range v {
			if !storable(member) {
				return false
			}
		}
		return true
	}
	return false
}

// MetadataChange is an update of metadata. It either replaces all entries, or sets some and
// removes others by name. The zero value changes nothing.
type MetadataChange struct {
	Replace  Metadata // the new metadata, if Replaced
	Replaced bool
	Set      Metadata // entries to add or replace
	Pop      []string // names of entries to remove; unknown names are ignored
}

// IsZero reports whether the change has no effect.
func (c MetadataChange) IsZero() bool {
	return !c.Replaced && len(c.Set) == 0 && len(c.Pop) == 0
}

// Apply returns the normalized metadata after the change, or an error. Existing
// entries keep their position; new ones are appended.
func (m Metadata) Apply(c MetadataChange) (Metadata, error) {
	if c.Replaced {
		return NewMetadata("metadata", c.Replace)
	}
	set, err := NewMetadata("metadata.$set", c.Set)
	if err != nil {
		return nil, err
	}
	changed := make(Metadata, 0, len(m)+len(set))
	for _, e := range m {
		if !slices.Contains(c.Pop, e.Name) {
			changed = append(changed, e)
		}
	}
	for i, e := range set {
		if slices.Contains(c.Pop, e.Name) {
			return nil, Invalid("metadata.$set[%d].name must not be among the names to $pop", i)
		}
		if at := changed.index(e.Name); at >= 0 {
			changed[at] = e
		} else {
			changed = append(changed, e)
		}
	}
	return NewMetadata("metadata", changed)
}

// index returns the index of the entry with the name, or -1.
func (m Metadata) index(name string) int {
	return slices.IndexFunc(m, func(e MetadataEntry) bool { return e.Name == name })
}

// Digest identifies an entry by name, type and value, for searches by equality.
// It does not depend on the order of object members, the spelling of numbers or
// the visibility.
func (e MetadataEntry) Digest() string {
	text := AppendCanonical(nil, []any{e.Name, string(e.Type), string(e.Subtype), e.Value})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// size returns the bytes that an entry counts towards MaxMetadataBytes.
func (e MetadataEntry) size() int {
	return len(e.Name) + len(AppendCanonical(nil, e.Value))
}

// AppendCanonical appends the canonical JSON of a value: members sorted by
// name, numbers formatted by value, minimal escaping.
func AppendCanonical(to []byte, value any) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(to, v)
	case float64:
		if v == 0 {
			v = 0 // -0 equals 0
		}
		return strconv.AppendFloat(to, v, 'g', -1, 64)
	case string:
		return appendQuoted(to, v)
	case []any:
		to = append(to, '[')
		for i, element := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = AppendCanonical(to, element)
		}
		return append(to, ']')
	case map[string]any:
		to = append(to, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendQuoted(to, name), ':')
			to = AppendCanonical(to, v[name])
		}
		return append(to, '}')
	}
	return append(to, "null"...)
}

// appendQuoted appends a string as JSON.
func appendQuoted(to []byte, s string) []byte {
	to = append(to, '"')
	from := 0 // index of the first byte that is not appended yet
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			to, from = fmt.Appendf(append(to, s[from:i]...), `\u%04x`, c), i+1
		case c == '"', c == '\\':
			to, from = append(append(to, s[from:i]...), '\\', c), i+1
		}
	}
	return append(append(to, s[from:]...), '"')
}
