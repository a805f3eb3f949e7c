package spec

import (
	"encoding/json"
	"reflect"
)

// These interfaces are for types whose fields do not describe their JSON. The methods are
// called on zero values.
type (
	// aliaser is a type with the schema of another type. SchemaOf returns a value of that
	// type, or a pointer if null is possible.
	aliaser interface{ SchemaOf() any }

	// alternator is a type with several forms. OneOf returns a value of each form.
	alternator interface{ OneOf() []any }

	// literal is a type that returns its JSON Schema.
	literal interface{ JSONSchema() string }

	// minimizer and maximizer are lists with a minimum or maximum length.
	minimizer interface{ MinItems() int }
	maximizer interface{ MaxItems() int }
)

// described returns the schema of a type that describes itself, or nil.
func (b *schemas) described(t reflect.Type, f form) *schema {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return nil
	}
	switch v := reflect.Zero(t).Interface().(type) {
	case aliaser:
		return b.of(reflect.TypeOf(v.SchemaOf()), f.inner())
	case alternator:
		s := &schema{}
		for _, one := range v.OneOf() {
			s.OneOf = append(s.OneOf, b.of(reflect.TypeOf(one), f.inner()))
		}
		return s
	case literal:
		s := &schema{}
		if err := json.Unmarshal([]byte(v.JSONSchema()), s); err != nil {
			return b.gap(t)
		}
		return s
	case maximizer:
		list := listOf(b.of(t.Elem(), f.inner()))
		list.MaxItems = v.MaxItems()
		if v, ok := v.(minimizer); ok {
			list.MinItems = v.MinItems()
		}
		return list
	}
	return b.enumerated(t)
}

// enumerated returns the schema of a type whose method Values returns all of its values as a
// slice of the type. It returns nil for other types.
func (*schemas) enumerated(t reflect.Type) *schema {
	method, ok := t.MethodByName("Values")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(t) {
		return nil
	}
	s := ofType("string")
	if t.Kind() != reflect.String {
		s = ofType("integer")
	}
	values := method.Func.Call([]reflect.Value{reflect.Zero(t)})[0]
	for i := range values.Len() {
		if value := values.Index(i); value.Kind() == reflect.String {
			s.Enum = append(s.Enum, value.String())
		} else {
			s.Enum = append(s.Enum, value.Int())
		}
	}
	return s
}

// alias returns the type whose schema t has, which is t itself unless it is an aliaser. null
// reports whether null is also possible.
func alias(t reflect.Type) (of reflect.Type, null bool) {
	if t.Kind() == reflect.Interface {
		return t, false
	}
	if v, ok := reflect.TypeAssert[aliaser](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
		of = reflect.TypeOf(v.SchemaOf())
		if of.Kind() == reflect.Pointer {
			return of.Elem(), true
		}
		return of, false
	}
	return t, false
}
