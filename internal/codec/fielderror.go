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

// theBody is the name of the whole body in messages.
const theBody = "the request body"

// maxShown is the maximum length of a key or value of the client in a message, in bytes.
const maxShown = 64

// FieldError is the error for one value inside a body. The code that rejects the value does
// not know its path: callers prepend it, and Decode combines path and message.
type FieldError struct {
	path string          // path of the value, relative to the part that is being decoded; may be empty
	err  *lastmile.Error // its message is a predicate, such as "must be a number", unless full is set
	full bool            // the message of err is a whole sentence
}

// Malformed is the error for a value of the wrong form. The message continues the field's name.
func Malformed(format string, args ...any) *FieldError {
	return &FieldError{err: lastmile.Malformed(format, args...)}
}

// Invalid is the error for an unacceptable value. The message continues the field's name.
func Invalid(format string, args ...any) *FieldError {
	return &FieldError{err: lastmile.Invalid(format, args...)}
}

// at returns a copy of the error with path prepended to its path.
func (e *FieldError) at(path string) *FieldError {
	further := *e
	further.path = join(path, e.path)
	return &further
}

// Error implements error.
func (e *FieldError) Error() string { return e.rejection().Error() }

// Unwrap makes the error a *lastmile.Error for errors.As, even if it was not returned by
// Decode.
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

// asFieldError converts an error that a type's own method returned.
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

// appendKey appends the key of an object to a path. Because clients choose keys, those that
// are not plain words are quoted and truncated.
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

// appendIndex appends the index in an array to a path.
func appendIndex(path []byte, index int) []byte {
	return fmt.Appendf(path, "[%d]", index)
}

// Clip truncates a text of the client for a message.
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

// unquote returns the text of a JSON string that the scanner has accepted.
func unquote(quoted []byte) string {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return string(quoted)
	}
	return text
}

// KindName returns the name of the kind of a JSON value, given its first byte.
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
