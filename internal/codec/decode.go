package codec

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode decodes a request body into the value that into points to. If the body is empty or
// null, the value stays unchanged.
//
// It is stricter than encoding/json: keys are case-sensitive and must be unique, strings must
// be UTF-8 without control characters, numbers must be exact, and nesting and counts are
// limited. Unknown keys are ignored, but their values must follow the same rules. The limits
// are those of Scanner.
//
// It is lenient with the notation of numbers, in all fields: see Number.
//
// If the body is rejected, the error is a *lastmile.Error that names the field. Any other
// error means that the type of into cannot be decoded, which is a fault of the server.
func Decode(data []byte, into any) error {
	switch string(bytes.Trim(data, " \t\r\n")) {
	case "", "null":
		return nil
	}
	var s Scanner
	if err := s.Scan(data); err != nil {
		return err.rejection()
	}
	return Rejection(DecodePart(data, into))
}

// Rejection converts an error of DecodePart to the error that clients see.
func Rejection(err error) error {
	if rejected, ok := errors.AsType[*FieldError](err); ok {
		return rejected.rejection()
	}
	return err
}

// Unmarshal decodes JSON that Marshal encoded, such as a stored record. It is several times as
// fast as encoding/json.
func Unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

// DecodePart decodes a part of a body, in UnmarshalJSON methods of types that have more than
// one form. The methods must return its errors unchanged, so that Decode can add the path of
// the part.
//
// A method may be called twice for the same value, because the body is decoded again if it
// has numbers in an unusual notation. The second call must not add to the result of the first.
//
// Such methods may also return a *lastmile.Error, or any error whose message continues the
// name of the field, such as "must be an id or an object".
func DecodePart(data []byte, into any) error {
	// The scanner has checked for duplicate keys, at a fraction of the cost.
	options := []json.Options{jsontext.AllowDuplicateNames(true)}
	if bytes.Contains(data, []byte("null")) || hasEmptyItem(data) {
		options = append(options, json.WithUnmarshalers(noEmptyItems))
	}
	err := json.Unmarshal(data, into, options...)
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && otherNotation(semantic) {
		// Decode everything again with anyNotation. That is rare, and without it decoding
		// is faster.
		unmarshalers := json.JoinUnmarshalers(noEmptyItems, anyNotation)
		if err = json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(unmarshalers)); err == nil {
			return nil
		}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return Invalid("is not valid JSON at byte %d", syntactic.ByteOffset).at(dotted(syntactic.JSONPointer))
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	rejected := explain(semantic)
	if rejected == nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return rejected.at(dotted(semantic.JSONPointer))
}

// noNullItems rejects null as an item of an array, which would be decoded as an empty item.
var noNullItems = json.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
	if d.PeekKind() != 'n' {
		return errors.ErrUnsupported
	}
	item := reflect.TypeOf(into).Elem()
	want := wanted(item)
	if parent, _ := d.StackIndex(d.StackDepth()); parent != '[' || want == "" || item.Kind() == reflect.Pointer || readsItself(item) {
		return errors.ErrUnsupported
	}
	return Malformed("must be %s, not null", want)
})

// noEmptyIDs rejects an empty string in a list of ids, which would be reported as the id of a
// record that does not exist, without the name of the field. A list that is a part itself, such
// as an optional one, is for the caller to check.
var noEmptyIDs = json.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
	item, depth := reflect.ValueOf(into).Elem(), d.StackDepth()
	if d.PeekKind() != '"' || item.Kind() != reflect.String || !strings.HasSuffix(item.Type().Name(), "ID") {
		return errors.ErrUnsupported
	}
	if parent, _ := d.StackIndex(depth); parent != '[' || depth < 2 {
		return errors.ErrUnsupported
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.String() == "" {
		return Malformed("must be an id, not an empty string")
	}
	item.SetString(token.String())
	return nil
})

var noEmptyItems = json.JoinUnmarshalers(noNullItems, noEmptyIDs)

// hasEmptyItem reports whether JSON seems to have an empty string in an array.
func hasEmptyItem(data []byte) bool {
	for at := 0; ; at++ {
		next := bytes.Index(data[at:], []byte(`""`))
		if next < 0 {
			return false
		}
		at += next
		before := bytes.TrimRight(data[:at], " \t\r\n")
		if n := len(before); n > 0 && (before[n-1] == '[' || before[n-1] == ',') {
			return true
		}
	}
}

// DecodeID decodes the id of a field that also has another form. want describes all forms in
// the error for an empty id.
func DecodeID[ID ~string](data []byte, id *ID, want string) error {
	var text string
	if err := DecodePart(data, &text); err != nil {
		return err
	}
	if text == "" {
		return Malformed("must be %s, not an empty string", want)
	}
	*id = ID(text)
	return nil
}

// explain converts an error of the decoder to one for the client. It returns nil for an error
// that only a wrong Go type can cause.
func explain(e *json.SemanticError) *FieldError {
	if e.GoType == nil {
		return nil
	}
	if inner, ok := errors.AsType[*FieldError](e.Err); ok {
		return inner
	}
	if e.Err != nil && readsItself(e.GoType) {
		return asFieldError(e.Err)
	}
	want := wanted(e.GoType)
	switch {
	case want == "":
		return nil
	case e.GoType.Kind() == reflect.Array && e.Err != nil:
		return Malformed("must be an array of exactly %d elements", e.GoType.Len())
	case KindName(byte(e.JSONKind)) != want:
		return Malformed("must be %s, not %s", want, KindName(byte(e.JSONKind)))
	}
	return nil
}

// isWhole reports whether a kind is one of integers.
func isWhole(kind reflect.Kind) bool {
	return kind >= reflect.Int && kind <= reflect.Uint64
}

func isFloat(kind reflect.Kind) bool { return kind == reflect.Float32 || kind == reflect.Float64 }

// readsItself reports whether a type has its own method to decode JSON or text, which then
// determines the error.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// wanted returns the name of the kind of JSON value from which a Go type is decoded, or "".
func wanted(t reflect.Type) string {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return wanted(t.Elem())
	case kind == reflect.Bool:
		return "a boolean"
	case kind == reflect.String:
		return "a string"
	case isWhole(kind), isFloat(kind):
		return "a number"
	case kind == reflect.Struct, kind == reflect.Map:
		return "an object"
	case kind == reflect.Slice, kind == reflect.Array:
		return "an array"
	}
	return ""
}

// dotted converts a JSON pointer such as /tasks/3/notes to tasks[3].notes. In a pointer, 3 can
// be a key or an index, but the API has no keys that consist of digits.
func dotted(pointer jsontext.Pointer) string {
	var path []byte
	for token := range pointer.Tokens() {
		if index, err := strconv.ParseUint(token, 10, 16); err == nil {
			path = appendIndex(path, int(index))
			continue
		}
		path = appendKey(path, token)
	}
	return string(path)
}
