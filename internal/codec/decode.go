package codec

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads a request body into what into points to. An empty body and the
// literal null are no body: into stays as it is.
//
// It is strict where encoding/json is not: keys must match in letter case and
// come once, text must be UTF-8 without control characters, numbers must be
// exact, nesting and counts are limited. Unknown keys are ignored, but what is
// under them must keep the same rules. See scanner for the limits.
//
// It is lenient with numbers, in every field alike: see Number.
//
// A rejection is a *lastmile.Error that names the field. Any other error means
// that into is of a type that cannot be read, which is our fault.
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

// Rejection turns an error of DecodePart into the one that clients see.
func Rejection(err error) error {
	if rejected, ok := errors.AsType[*FieldError](err); ok {
		return rejected.rejection()
	}
	return err
}

// Unmarshal decodes what Marshal has encoded, such as a stored record. It is several
// times as fast as encoding/json.
func Unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

// DecodePart is for the UnmarshalJSON methods of types that take more than one
// form: it reads a part of a body that Decode is reading. Its errors must be
// returned as they are, so that Decode can say where the part is.
//
// A method may be called again for the same value, if the body is read again because
// of the notation of a number: it must not add to what it has read before.
//
// Such methods may also return a *lastmile.Error, or any error that reads on
// from the field's name, such as "must be an id or an object".
func DecodePart(data []byte, into any) error {
	// The scanner has looked for duplicate keys, at a fraction of the cost.
	options := []json.Options{jsontext.AllowDuplicateNames(true)}
	if bytes.Contains(data, []byte("null")) {
		options = append(options, json.WithUnmarshalers(noNullItems))
	}
	err := json.Unmarshal(data, into, options...)
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && otherNotation(semantic) {
		// Rare, so that the others do not pay for it. What has been read so far is
		// read again.
		unmarshalers := json.JoinUnmarshalers(noNullItems, anyNotation)
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

// noNullItems rejects null among the items of a list, which would be read as
// an empty item.
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

// DecodeID reads an id where another form is possible, too.
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

// explain puts a decoder's error in the client's terms. It returns nil for an
// error that no body can cause unless a Go type is at fault.
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

// isWhole reports whether a kind holds whole numbers only.
func isWhole(kind reflect.Kind) bool {
	return kind >= reflect.Int && kind <= reflect.Uint64
}

func isFloat(kind reflect.Kind) bool { return kind == reflect.Float32 || kind == reflect.Float64 }

// readsItself reports whether a type has its own method to read JSON or text, so
// that the error is the method's.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// wanted names the JSON that a Go type is read from.
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

// dotted turns a JSON pointer such as /tasks/3/notes into tasks[3].notes. A
// pointer does not say whether 3 is a key or a position; keys of digits are
// not part of the API.
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
