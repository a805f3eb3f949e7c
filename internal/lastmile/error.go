package lastmile

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the kind of an Error. Package wire maps codes to the numbers and HTTP
// statuses that clients see.
type Code int

// The kinds of errors.
const (
	CodeUnauthenticated Code = iota + 1 // the API key is unknown or inactive
	CodeOutsideScope                    // the record belongs to another organization
	CodeNotFound                        // no such record
	CodeMalformed                       // a required parameter is missing or has the wrong form
	CodeInvalid                         // a parameter has a value that cannot be taken
	CodeInvalidHook                     // a webhook's server did not pass its check
	CodeDuplicate                       // another record of the organization holds the value
	CodeNotUnique                       // a name must be unique and is not
	CodeWrongMethod                     // the path exists, but not for this method
	CodeConflict                        // the record is locked or not in a state to do this
	CodeForbidden                       // the caller may not do this
	CodeTooLarge                        // the request is larger than its limit
	CodeTooMany                         // the caller's rate limit is used up
	CodeOverloaded                      // the server sheds load; try again
	CodeInternal                        // a fault of the server, which is logged and not explained to clients
)

// Codes lists every code, for tables that must be complete.
func Codes() []Code {
	codes := make([]Code, 0, CodeInternal)
	for c := CodeUnauthenticated; c <= CodeInternal; c++ {
		codes = append(codes, c)
	}
	return codes
}

// Error is a refusal that the client can act on. Any other error is our own
// fault: it is logged and hidden.
type Error struct {
	Code    Code
	Message string
	Cause   string        // more about why; may be empty
	Key     *DuplicateKey // set for CodeDuplicate
	Lack    *Lack         // what has to be there first, where that is a list
}

// Lack is what has to be there before something can be done.
type Lack struct {
	Kind  string // LackRequirements or LackDependencies
	Items []string
}

// The kinds of what can be lacking.
const (
	LackRequirements = "requirements" // of a task that is completed
	LackDependencies = "dependencies" // ids of tasks that must be completed first
)

// DuplicateKey names the field and value that another record already holds.
type DuplicateKey struct {
	Key, Value string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Cause == "" {
		return e.Message
	}
	return strings.TrimSuffix(e.Message, ".") + ": " + e.Cause
}

// Because returns the error with a cause added.
func (e *Error) Because(format string, args ...any) *Error {
	with := *e
	with.Cause = fmt.Sprintf(format, args...)
	return &with
}

// Lacking returns the error with a list of what has to be there first.
func (e *Error) Lacking(kind string, items []string) *Error {
	with := *e
	with.Lack = &Lack{Kind: kind, Items: items}
	return &with
}

// Unauthenticated reports an API key that is unknown, inactive or missing.
func Unauthenticated() *Error {
	return &Error{Code: CodeUnauthenticated, Message: "The API key in this request is invalid, nonexistent or inactive."}
}

// UnknownToken reports a token of a worker or of a tracker app that is not good.
func UnknownToken() *Error {
	return &Error{Code: CodeUnauthenticated, Message: "The token in this request is missing, unknown or no longer good."}
}

// OutsideScope reports a record of another organization. It repeats the id
// that was sent and says nothing else of the record.
func OutsideScope(id string) *Error {
	return &Error{Code: CodeOutsideScope, Message: fmt.Sprintf("%s is outside of your permissions scope.", id)}
}

// NotFound reports that there is no such record.
func NotFound(noun, id string) *Error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf("The %s %q does not exist.", noun, id)}
}

// Missing reports a required parameter that was not sent.
func Missing(field string) *Error {
	return &Error{Code: CodeMalformed, Message: field + " is required"}
}

// Malformed reports a parameter of the wrong form.
func Malformed(format string, args ...any) *Error {
	return &Error{Code: CodeMalformed, Message: fmt.Sprintf(format, args...)}
}

// Invalid reports a value that cannot be taken. The message names the field,
// what was wrong and what would be right.
func Invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// InvalidHook reports a webhook whose server did not pass its check.
func InvalidHook(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidHook, Message: fmt.Sprintf(format, args...)}
}

// Duplicate reports that another record of the organization holds the value.
func Duplicate(key, value string) *Error {
	return &Error{
		Code:    CodeDuplicate,
		Message: fmt.Sprintf("%s %q is already in use", key, value),
		Key:     &DuplicateKey{Key: key, Value: value},
	}
}

// NotUnique reports a name that another record of the organization has.
func NotUnique(field, value string) *Error {
	return &Error{Code: CodeNotUnique, Message: fmt.Sprintf("%s must be unique, and %q is already in use", field, value)}
}

// Conflict reports a record that is locked or not in a state to do this.
func Conflict(format string, args ...any) *Error {
	return &Error{Code: CodeConflict, Message: fmt.Sprintf(format, args...)}
}

// WrongMethod reports a path that exists, but not for the method.
func WrongMethod(method, path string) *Error {
	return &Error{Code: CodeWrongMethod, Message: fmt.Sprintf("%s is not allowed on %s", method, path)}
}

// Forbidden reports something that the caller may never do.
func Forbidden(format string, args ...any) *Error {
	return &Error{Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// TooLarge reports a request over a limit.
func TooLarge(format string, args ...any) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf(format, args...)}
}

// TooMany reports that the caller's rate limit is used up.
func TooMany() *Error {
	return &Error{Code: CodeTooMany, Message: "Too many requests: slow down and try again."}
}

// Overloaded reports that the server sheds load.
func Overloaded(format string, args ...any) *Error {
	return &Error{Code: CodeOverloaded, Message: fmt.Sprintf(format, args...)}
}

// Internal is what a client learns of a fault of the server.
func Internal() *Error {
	return &Error{Code: CodeInternal, Message: "Something went wrong on the server. Quote the request id when asking for help."}
}

// IsNotFound reports whether err says that there is no such record.
func IsNotFound(err error) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == CodeNotFound
}
