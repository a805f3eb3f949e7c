package lastmile

import (
	"errors"
	"fmt"
	"strings"
	"time"
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
	CodeInvalid                         // a parameter has an unacceptable value
	CodeInvalidHook                     // a webhook's server failed validation
	CodeDuplicate                       // another record of the organization has the value
	CodeNotUnique                       // a name is not unique
	CodeWrongMethod                     // the path exists, but not for this method
	CodeConflict                        // the record is locked or in the wrong state
	CodeForbidden                       // the caller may not do this
	CodeTooLarge                        // the request is larger than its limit
	CodeTooMany                         // the caller's rate limit is exceeded
	CodeOverloaded                      // the server sheds load; try again
	CodeUnknownOutcome                  // the change may or may not have been saved
	CodeInternal                        // a fault of the server; details are only logged
)

// Codes lists every code, for tables that must be complete.
func Codes() []Code {
	codes := make([]Code, 0, CodeInternal)
	for c := CodeUnauthenticated; c <= CodeInternal; c++ {
		codes = append(codes, c)
	}
	return codes
}

// Error is an error that the client can act on. Others are internal: logged and not shown.
type Error struct {
	Code    Code
	Message string
	Cause   string        // more details; may be empty
	Key     *DuplicateKey // set for CodeDuplicate
	Missing *MissingItems // prerequisites that are not met; nil for most errors

	// RetryAfter is how long clients should wait before they retry, in whole seconds; zero
	// for the default. Only for transient errors.
	RetryAfter time.Duration
}

// MissingItems are prerequisites that are not met.
type MissingItems struct {
	Kind  string // MissingRequirements or MissingDependencies
	Items []string
}

// The kinds of missing items.
const (
	MissingRequirements = "requirements" // evidence required to complete a task
	MissingDependencies = "dependencies" // ids of tasks that must be completed first
)

// DuplicateKey is a field with a value that another record already has. ID is the id of that
// record; it may be empty.
type DuplicateKey struct{ Key, Value, ID string }

// Error implements error.
func (e *Error) Error() string {
	if e.Cause == "" {
		return e.Message
	}
	return strings.TrimSuffix(e.Message, ".") + ": " + e.Cause
}

// Because returns a copy of the error with a cause.
func (e *Error) Because(format string, args ...any) *Error {
	with := *e
	with.Cause = fmt.Sprintf(format, args...)
	return &with
}

// Within prepends a prefix, such as "recipients[0].", to the field that an error names, for
// records that are part of a request. Errors other than CodeInvalid and CodeMalformed are
// returned unchanged.
func Within(prefix string, err error) error {
	inner, ok := errors.AsType[*Error](err)
	if !ok || inner.Code != CodeInvalid && inner.Code != CodeMalformed {
		return err
	}
	outer := *inner
	outer.Message = prefix + inner.Message
	return &outer
}

// WithMissing returns a copy of the error with the prerequisites that are not met.
func (e *Error) WithMissing(kind string, items []string) *Error {
	with := *e
	with.Missing = &MissingItems{Kind: kind, Items: items}
	return &with
}

// Unauthenticated is the error for an API key that is unknown, inactive or missing.
func Unauthenticated() *Error {
	return &Error{Code: CodeUnauthenticated, Message: "The API key in this request is invalid, nonexistent or inactive."}
}

// UnknownToken is the error for an invalid token of a worker or a tracker app.
func UnknownToken() *Error {
	return &Error{Code: CodeUnauthenticated, Message: "The token in this request is missing, unknown or no longer good."}
}

// OutsideScope is the error for a record of another organization. It repeats
// the id that was sent and reveals nothing else about the record.
func OutsideScope(id string) *Error {
	return &Error{Code: CodeOutsideScope, Message: fmt.Sprintf("%s is outside of your permissions scope.", id)}
}

// NotFound is the error for a record that does not exist.
func NotFound(noun, id string) *Error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf("The %s %q does not exist.", noun, Truncate(id, MaxShown))}
}

// Missing is the error for a required parameter that was not sent.
func Missing(field string) *Error {
	return &Error{Code: CodeMalformed, Message: field + " is required"}
}

// Malformed is the error for a parameter of the wrong form.
func Malformed(format string, args ...any) *Error {
	return &Error{Code: CodeMalformed, Message: fmt.Sprintf(format, args...)}
}

// Invalid is the error for an unacceptable value. The message names the field,
// what is wrong and what would be right.
func Invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// InvalidHook is the error for a webhook whose server failed validation.
func InvalidHook(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidHook, Message: fmt.Sprintf(format, args...)}
}

// Duplicate is the error for a value that another record of the organization already has.
func Duplicate(key, value string) *Error {
	return &Error{
		Code:    CodeDuplicate,
		Message: fmt.Sprintf("%s %q is already in use", key, value),
		Key:     &DuplicateKey{Key: key, Value: value},
	}
}

// NotUnique is the error for a name that another record of the organization already has.
func NotUnique(field, value string) *Error {
	return &Error{Code: CodeNotUnique, Message: fmt.Sprintf("%s must be unique, and %q is already in use", field, value)}
}

// Conflict is the error for a record that is locked or in the wrong state.
func Conflict(format string, args ...any) *Error {
	return &Error{Code: CodeConflict, Message: fmt.Sprintf(format, args...)}
}

// Forbidden is the error for something the caller is not permitted to do.
func Forbidden(format string, args ...any) *Error {
	return &Error{Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// TooLarge is the error for a request that exceeds a limit.
func TooLarge(format string, args ...any) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf(format, args...)}
}

// TooMany is the error for a caller that exceeds its rate limit.
func TooMany() *Error {
	return &Error{Code: CodeTooMany, Message: "Too many requests: slow down and try again."}
}

// Overloaded is the error for a request rejected because of load.
func Overloaded(format string, args ...any) *Error {
	return &Error{Code: CodeOverloaded, Message: fmt.Sprintf(format, args...)}
}

// Transient reports whether the same request may succeed later.
func (e *Error) Transient() bool { return e.Code == CodeOverloaded || e.Code == CodeTooMany }

// ErrUnknownOutcome is the error of a transaction whose commit was sent to the database
// without a response: the change may or may not have been saved. It is not an *Error, because
// background work treats it like any other fault: it runs again and finds the result.
var ErrUnknownOutcome = errors.New("the database may or may not have kept the change")

// Internal is the error that clients see for a fault of the server.
func Internal() *Error {
	return &Error{Code: CodeInternal, Message: "Something went wrong on the server. Quote the request id when asking for help."}
}

// IsNotFound reports whether err means that a record does not exist.
func IsNotFound(err error) bool {
	target, ok := errors.AsType[*Error](err)
	return ok && target.Code == CodeNotFound
}
