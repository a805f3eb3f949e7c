package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"dray/internal/lastmile"
)

// schemas makes schemas of Go types, and keeps those that have a name.
type schemas struct {
	prose prose
	named map[string]*schema
	gaps  []string // types that nothing here can describe; a test wants none
}

// form is which way a value goes, and what it must have.
type form struct {
	request bool
	name    string   // of the component; the type's own when empty
	needs   []string // the fields that must be there; nil leaves it to the type
}

// inner is the form of a part.
func (f form) inner() form { return form{request: f.request} }

var lastmilePath = reflect.TypeFor[lastmile.TaskID]().PkgPath()

// of describes a type: by reference, if it is an object with a name.
func (b *schemas) of(t reflect.Type, f form) *schema {
	if describe, ok := special[t]; ok {
		return describe(b, f)
	}
	if value, ok := optionalValue(t); ok {
		return nullable(b.of(value, f.inner()))
	}
	if t.PkgPath() == lastmilePath && t.Kind() == reflect.String && strings.HasSuffix(t.Name(), "ID") {
		return idSchema()
	}
	if readsOrWritesItself(t) {
		return b.gap(t)
	}
	switch kind := t.Kind(); kind {
	case reflect.Pointer:
		return nullable(b.of(t.Elem(), f.inner()))
	case reflect.Bool:
		return ofType("boolean")
	case reflect.String:
		return ofType("string")
	case reflect.Float32, reflect.Float64:
		return ofType("number")
	case reflect.Slice:
		return listOf(b.of(t.Elem(), f.inner()))
	case reflect.Array:
		list := listOf(b.of(t.Elem(), f.inner()))
		list.MinItems, list.MaxItems = t.Len(), t.Len()
		return list
	case reflect.Struct:
		return b.component(t, f)
	default:
		if kind >= reflect.Int && kind <= reflect.Uint64 {
			return ofType("integer")
		}
		return b.gap(t)
	}
}

func (b *schemas) gap(t reflect.Type) *schema {
	b.gaps = append(b.gaps, t.String())
	return &schema{}
}

// optionalValue returns T of a wire.Optional[T].
func optionalValue(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct || !strings.HasPrefix(t.Name(), "Optional[") {
		return nil, false
	}
	value, ok := t.FieldByName("Value")
	return value.Type, ok
}

// readsOrWritesItself tells whether a type's JSON is its own affair, so that
// its fields say nothing.
func readsOrWritesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() != reflect.Pointer && (p.Implements(reflect.TypeFor[json.Marshaler]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}

// component describes a struct under its name, once.
func (b *schemas) component(t reflect.Type, f form) *schema {
	name := f.name
	if name == "" {
		name = t.Name()
		// What is both sent and shown has two schemas: only requests may hold
		// more than is known, and only answers hold all there is.
		if f.request && !strings.HasSuffix(name, "Body") && !strings.HasSuffix(name, "Update") {
			name += "Input"
		}
	}
	if _, done := b.named[name]; !done {
		s := &schema{}
		b.named[name] = s // before its fields, which may refer to it
		*s = *b.object(t, f, t.Name())
	}
	return refTo(name)
}

// object describes a struct, which the prose calls owner.
func (b *schemas) object(t reflect.Type, f form, owner string) *schema {
	s := &schema{Type: typeNames{"object"}, Description: b.prose.notes[owner]}
	if !f.request {
		closed := false
		s.AdditionalProperties = &closed
	}
	if f.needs == nil && f.request {
		f.needs = needed[owner]
	}
	b.addFields(s, t, f, []string{owner})
	return s
}

// addFields adds the fields of a struct, and of those embedded in it, to the
// object that the outermost makes. owners are their names, outermost first.
func (b *schemas) addFields(s *schema, t reflect.Type, f form, owners []string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Anonymous && name == "":
			b.addFields(s, field.Type, f, append(slices.Clone(owners), field.Type.Name()))
		case field.IsExported():
			absent := strings.Contains(options, "omit")
			must := !absent && !f.request
			if f.needs != nil {
				must = slices.Contains(f.needs, name)
			}
			s.Properties.add(name, b.property(field.Type, name, fieldForm{f.request, must, absent, owners}))
			if must {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// fieldForm is how a field appears in its object.
type fieldForm struct {
	request  bool
	required bool
	omitted  bool     // when it has no value
	owners   []string // of the field, for the prose
}

// property describes one field, with all that is known of it by name.
func (b *schemas) property(t reflect.Type, name string, f fieldForm) *schema {
	bare := t
	if t.Kind() == reflect.Pointer {
		bare = t.Elem()
	} else if value, ok := optionalValue(t); ok {
		bare = value
	}
	var s *schema
	if describe, ok := lookup(fields, f.owners, name); ok {
		s = describe(b)
	} else if bare.Kind() == reflect.Struct && bare.Name() == "" {
		s = b.object(bare, form{request: f.request}, f.owners[0]+"."+name)
	} else {
		s = b.of(bare, form{request: f.request})
	}
	nulls := f.nullable(t, name)
	if nulls {
		s = nullable(s)
	}
	if note, ok := lookup(b.prose.notes, f.owners, name); ok {
		s.Description = note
	}
	if example, ok := lookup(b.prose.examples, f.owners, name); ok && (nulls || string(example) != "null") {
		s.Examples = []json.RawMessage{example}
	}
	return s
}

// nullable tells whether a field can be null. In a request, null stands for
// absent, or has a meaning of its own if it is an Optional; an answer leaves
// out what omitzero says instead of sending null.
func (f fieldForm) nullable(t reflect.Type, name string) bool {
	_, optional := optionalValue(t)
	switch {
	case f.request:
		return !f.required || optional
	case f.omitted:
		return false
	case t == millisType:
		_, certain := lookup(certainTimes, f.owners, name)
		return !certain
	}
	return t.Kind() == reflect.Pointer
}

// lookup finds what a table says of a field: of a certain owner's, or of any
// field of the name.
func lookup[T any](table map[string]T, owners []string, name string) (found T, ok bool) {
	for _, owner := range append(slices.Clone(owners), "") {
		if found, ok = table[owner+"."+name]; ok {
			break
		}
	}
	return found, ok
}
