package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"dray/internal/lastmile"
)

// theBody is what messages call a body that is wrong as a whole.
const theBody = "the request body"

// maxShown is the maximum length of a client's key or value in a message.
const maxShown = 64

// FieldError rejects one value inside a body. The code that rejects it knows what
// is wrong with the value but not where it is: its callers prepend the path, and
// Decode makes one message of both.
type FieldError struct {
	path string          // from the value that was being read; may be empty
	err  *lastmile.Error // says "must be a number": a sentence without its subject
	full bool            // err is a whole sentence
}

// Malformed rejects a value of the wrong form.
func Malformed(format string, args ...any) *FieldError {
	return &FieldError{err: lastmile.Malformed(format, args...)}
}

// Invalid rejects a value of the right form that is not acceptable.
func Invalid(format string, args ...any) *FieldError {
	return &FieldError{err: lastmile.Invalid(format, args...)}
}

// at returns the error as seen from further out, where path leads to what the
// error was relative to.
func (e *FieldError) at(path string) *FieldError {
	further := *e
	further.path = join(path, e.path)
	return &further
}

// Error implements error.
func (e *FieldError) Error() string { return e.rejection().Error() }

// Unwrap makes the error a *lastmile.Error for errors.As, also when a method
// of this package is called by something other than Decode.
func (e *FieldError) Unwrap() error { return e.rejection() }

// rejection returns the error that the client sees.
func (e *FieldError) rejection() *lastmile.Error {
	shown := *e.err
	switch {
	case e.full && strings.Contains(shown.Message, e.path):
		// It names the field itself.
	case e.path == "":
		shown.Message = theBody + " " + shown.Message
	default:
		shown.Message = e.path + " " + shown.Message
	}
	return &shown
}

// asFieldError returns the rejection that a type's own method made.
func asFieldError(err error) *FieldError {
	if inner, ok := errors.AsType[*FieldError](err); ok {
		return inner
	}
	if rejection, ok := errors.AsType[*lastmile.Error](err); ok {
		return &FieldError{err: rejection, full: true}
	}
	return Malformed("%s", err.Error())
}

// join puts two paths together.
func join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// appendKey adds an object's key to a path. Keys are the client's own text:
// those that are not plain words are quoted, and all are kept short.
func appendKey(path []byte, key string) []byte {
	if !plain(key) {
		return fmt.Appendf(path, "[%s]", strconv.Quote(Clip(key)))
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, key...)
}

func plain(key string) bool {
	for _, c := range []byte(key) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '$', c == '-':
		default:
			return false
		}
	}
	return key != "" && len(key) <= maxShown
}

// appendIndex adds the position in an array to a path.
func appendIndex(path []byte, index int) []byte {
	return fmt.Appendf(path, "[%d]", index)
}

// Clip shortens the client's text for a message.
func Clip(text string) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// unquote returns the text of a JSON string that the scanner has passed.
func unquote(quoted []byte) string {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return string(quoted)
	}
	return text
}

// KindName says what a JSON value is, by its first byte.
func KindName(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
