package codec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Strings returns the strings in a body by field, such as tasks[].container.worker, without
// decoding the rest. A field that ends in [] has an entry if its array is present, even if it
// is empty or null. Strings rejects the same JSON as Decode.
func Strings(data []byte, fields []string) (map[string][]string, error) {
	found := map[string][]string{}
	switch string(bytes.Trim(data, " \t\r\n")) {
	case "", "null":
		return found, nil
	}
	var s Scanner
	if err := s.Scan(data); err != nil {
		return nil, err.rejection()
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if err := (&finder{d, fields, found}).walk(""); err != nil {
		return nil, fmt.Errorf("find ids in a body: %w", err)
	}
	return found, nil
}

type finder struct {
	*jsontext.Decoder
	fields []string
	found  map[string][]string
}

// walk reads the next value. at is its path.
func (f *finder) walk(at string) error {
	if !f.leads(at) {
		return f.SkipValue()
	}
	switch f.PeekKind() { //nolint:exhaustive // the others are read as tokens
	case '{':
		return f.each(func(name string) error { return f.walk(strings.TrimPrefix(at+"."+name, ".")) })
	case '[':
		f.touch(at + "[]")
		return f.each(func(string) error { return f.walk(at + "[]") })
	case 'n':
		f.touch(at + "[]")
	}
	text, err := f.ReadToken()
	if err == nil && text.Kind() == '"' && slices.Contains(f.fields, at) {
		f.found[at] = append(f.found[at], text.String())
	}
	return err
}

// each calls fn for each member of an object, with its name, or element of an array.
func (f *finder) each(fn func(name string) error) error {
	opened, err := f.ReadToken()
	for object := opened.Kind() == '{'; err == nil && f.PeekKind() != '}' && f.PeekKind() != ']'; {
		name := ""
		if object {
			var token jsontext.Token
			if token, err = f.ReadToken(); err != nil {
				return err
			}
			name = token.String()
		}
		err = fn(name)
	}
	if err == nil {
		_, err = f.ReadToken()
	}
	return err
}

// touch adds an entry for an array.
func (f *finder) touch(list string) {
	if slices.Contains(f.fields, list) && f.found[list] == nil {
		f.found[list] = []string{}
	}
}

// leads reports whether one of the fields begins with a path.
func (f *finder) leads(at string) bool {
	return slices.ContainsFunc(f.fields, func(field string) bool { return strings.HasPrefix(field, at) })
}
