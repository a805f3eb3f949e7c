package spec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// schemas generates schemas of Go types and collects the named ones.
type schemas struct {
	descriptions map[string]string
	named        map[string]*schema
	gaps         []string // types that cannot be described
}

// form describes how a value is used: in a request or a response, and with which fields.
type form struct {
	request bool
	name    string   // name of the component; the default is that of the type
	needs   []string // required fields; nil for those of the type
}

// inner returns the form of a part of the value.
func (f form) inner() form { return form{request: f.request} }

// of returns the schema of a type, which is a reference for named objects.
func (b *schemas) of(t reflect.Type, f form) *schema {
	if s := b.described(t, f); s != nil {
		return s
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return ofType("object")
	}
	if t.Kind() == reflect.String && strings.HasSuffix(t.Name(), "ID") {
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
	case reflect.Map:
		return ofType("object")
	case reflect.Slice:
		return listOf(b.of(t.Elem(), f.inner()))
	case reflect.Array:
		list := listOf(b.of(t.Elem(), f.inner()))
		list.MinItems, list.MaxItems = t.Len(), t.Len()
		return list
	case reflect.Struct:
		if t.Name() == "" {
			return b.object(t, f, "")
		}
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

// readsOrWritesItself reports whether a type has JSON methods, so that its
// fields do not describe its JSON.
func readsOrWritesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() != reflect.Pointer && (p.Implements(reflect.TypeFor[json.Marshaler]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}

// component adds the schema of a struct under its name, unless it was added before, and
// returns a reference to it.
func (b *schemas) component(t reflect.Type, f form) *schema {
	name := f.name
	if name == "" {
		name = t.Name()
		// A type that is used in both directions has two schemas: only requests
		// may contain unknown fields, and only responses contain every field.
		if f.request && !strings.HasSuffix(name, "Body") && !strings.HasSuffix(name, "Update") {
			name += "Input"
		}
	}
	if _, done := b.named[name]; !done {
		s := &schema{}
		b.named[name] = s // before adding the fields, which may refer to it
		*s = *b.object(t, f, t.Name())
	}
	return refTo(name)
}

// object returns the schema of a struct. Its descriptions are those of the name owner.
func (b *schemas) object(t reflect.Type, f form, owner string) *schema {
	s := &schema{Type: typeNames{"object"}, Description: b.descriptions[owner]}
	if !f.request {
		closed := false
		s.AdditionalProperties = &closed
	}
	if blank, ok := t.FieldByName("_"); ok && f.needs == nil && f.request {
		f.needs = strings.Split(blank.Tag.Get("required"), ",")
	}
	b.addFields(s, t, f, owner)
	return s
}

// addFields adds the fields of a struct and of the structs embedded in it.
func (b *schemas) addFields(s *schema, t reflect.Type, f form, owner string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || field.Name == "_":
		case field.Anonymous && name == "":
			b.addFields(s, field.Type, f, field.Type.Name())
		case field.IsExported():
			optional := strings.Contains(options, "omit")
			required := !optional && !f.request
			switch {
			case f.needs != nil:
				required = slices.Contains(f.needs, name)
			case f.request:
				required = field.Tag.Get("required") == "true"
			}
			s.Properties.add(name, b.property(field, fieldForm{f.request, required, optional, owner}))
			if required {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// fieldForm describes how a field is used in its object.
type fieldForm struct {
	request  bool
	required bool
	optional bool   // absent if it has no value
	owner    string // the type that declares the field
}

// property describes one field with its comment and its tags.
func (b *schemas) property(field reflect.StructField, f fieldForm) *schema {
	key := f.owner + "." + field.Name
	bare, _ := alias(field.Type)
	if bare.Kind() == reflect.Pointer {
		bare = bare.Elem()
	}
	var s *schema
	switch kinds := field.Tag.Get("type"); {
	case kinds != "":
		s = ofType(strings.Split(kinds, ",")...)
		if bare.Kind() == reflect.Slice {
			s = listOf(s)
		}
	case bare.Kind() == reflect.Struct && bare.Name() == "":
		s = b.object(bare, form{request: f.request}, key)
	default:
		s = b.of(bare, form{request: f.request})
	}
	if values := field.Tag.Get("enum"); values != "" {
		s.limit(strings.Split(values, ","))
	}
	null := f.nullable(field)
	if null {
		s = nullable(s)
	}
	if text := b.descriptions[key]; text != "" {
		s.Description = text
	}
	if text, ok := field.Tag.Lookup("example"); ok {
		s.Examples = []json.RawMessage{s.example(text)}
	}
	return s
}

// nullable reports whether a field can be null. In a request, null means the same as absent,
// unless the field is required.
func (f fieldForm) nullable(field reflect.StructField) bool {
	_, null := alias(field.Type)
	switch {
	case f.request:
		return !f.required || null
	case f.optional:
		return false
	}
	return null || field.Type.Kind() == reflect.Pointer || field.Tag.Get("nullable") == "true"
}

// limit makes texts the only values of a schema, or of its elements if it is an array.
func (s *schema) limit(texts []string) {
	if s.Items != nil {
		s.Items.limit(texts)
		return
	}
	s.Enum = nil
	for _, text := range texts {
		if n, err := strconv.Atoi(text); err == nil && s.is("integer") {
			s.Enum = append(s.Enum, n)
		} else {
			s.Enum = append(s.Enum, text)
		}
	}
}

// is reports whether a schema has a type, apart from null.
func (s *schema) is(name string) bool {
	others := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	return len(others) == 1 && others[0] == name
}

// example converts the text of an example to JSON. The text is a string, comma-separated
// elements of an array of strings, or JSON, depending on the schema.
func (s *schema) example(text string) json.RawMessage {
	switch {
	case text == "null":
		return json.RawMessage(text)
	case s.is("string"):
		return quoted(text)
	case s.is("array") && s.Items.is("string") && !strings.HasPrefix(text, "["):
		list := []byte("[")
		for i, item := range strings.Split(text, ",") {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, quoted(item)...)
		}
		return append(list, ']')
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return quoted(text)
}

func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return data
}
