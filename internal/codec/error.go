package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dray/internal/lastmile"
)

// ErrorEntry is the representation of an error in the API.
type ErrorEntry struct {
	Status  int // HTTP status
	Number  ErrorNumber
	Class   ErrorClass
	Meaning string // for documentation
}

// errorEntries holds every error that a client can see.
var errorEntries = map[lastmile.Code]ErrorEntry{
	lastmile.CodeUnauthenticated: {
		Status: 401, Number: 1102, Class: "InvalidCredentials",
		Meaning: "The API key is missing, unknown or inactive.",
	},
	lastmile.CodeOutsideScope: {
		Status: 401, Number: 1103, Class: "InvalidCredentials",
		Meaning: "The record belongs to another organization.",
	},
	lastmile.CodeForbidden: {
		Status: 403, Number: 1300, Class: "Forbidden",
		Meaning: "The caller is not allowed to do this, for example from a page of another website.",
	},
	lastmile.CodeNotFound: {
		Status: 404, Number: 1402, Class: "ResourceNotFound",
		Meaning: "The record or the path does not exist.",
	},
	lastmile.CodeInvalid: {
		Status: 400, Number: 1000, Class: "InvalidContent",
		Meaning: "A value is not acceptable, for example a phone number that cannot exist.",
	},
	lastmile.CodeInvalidHook: {
		Status: 400, Number: 1008, Class: "InvalidContent",
		Meaning: "The server of the webhook did not pass the check.",
	},
	lastmile.CodeDuplicate: {
		Status: 400, Number: 1004, Class: "InvalidContent",
		Meaning: "Another record of the organization already has the value; cause contains the field and the value.",
	},
	lastmile.CodeMalformed: {
		Status: 400, Number: 1900, Class: "InvalidArgument",
		Meaning: "A required value is missing, or a value has the wrong format.",
	},
	lastmile.CodeNotUnique: {
		Status: 400, Number: 1901, Class: "InvalidArgument",
		Meaning: "The name must be unique and is already in use.",
	},
	lastmile.CodeWrongMethod: {
		Status: 405, Number: 1405, Class: "MethodNotAllowed",
		Meaning: "The path does not support this method.",
	},
	lastmile.CodeConflict: {
		Status: 412, Number: 2218, Class: "PreconditionFailed",
		Meaning: "The record is locked, or its state does not allow this.",
	},
	lastmile.CodeTooLarge: {
		Status: 413, Number: 1006, Class: "InvalidContent",
		Meaning: "The request body exceeds the size limit.",
	},
	lastmile.CodeTooMany: {
		Status: 429, Number: 2300, Class: "TooManyRequests",
		Meaning: "The rate limit is exceeded. Wait for the time in Retry-After.",
	},
	lastmile.CodeOverloaded: {
		Status: 503, Number: 2503, Class: "ServiceUnavailable",
		Meaning: "The server is busy. Retry after the time in Retry-After; with an Idempotency-Key, the request is not performed twice.",
	},
	lastmile.CodeUnknownOutcome: {
		Status: 500, Number: 2504, Class: "Internal",
		Meaning: "The server lost its database connection while saving the change, so the outcome is unknown. Check it before retrying; with an Idempotency-Key, the request is not performed twice.",
	},
	lastmile.CodeInternal: {
		Status: 500, Number: 2500, Class: "Internal",
		Meaning: "An internal error occurred. Include the request ID in support requests.",
	},
}

// Errors lists every error that a client can see, ordered by number.
func Errors() []ErrorEntry {
	all := slices.Collect(maps.Values(errorEntries))
	slices.SortFunc(all, func(a, b ErrorEntry) int { return int(a.Number - b.Number) })
	return all
}

// ErrorClass is the class of an error.
type ErrorClass string

// Values lists every class.
func (ErrorClass) Values() []ErrorClass {
	var all []ErrorClass
	for _, e := range Errors() {
		all = append(all, e.Class)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ErrorNumber is the number of an error.
type ErrorNumber int

// Values lists every number.
func (ErrorNumber) Values() []ErrorNumber {
	var all []ErrorNumber
	for _, e := range Errors() {
		all = append(all, e.Number)
	}
	return slices.Compact(all)
}

// ErrorBody is the body of an error response.
type ErrorBody struct {
	// Class of the error.
	Code ErrorClass `json:"code" example:"InvalidContent"`
	// Details of the error.
	Message ErrorMessage `json:"message"`
}

// ErrorMessage are the details of an error.
type ErrorMessage struct {
	// Number that identifies the error; see the table of errors.
	Error ErrorNumber `json:"error" example:"1004"`
	// Human-readable message. The wording may change: programs should use the number instead.
	Message string `json:"message" example:"phone is already in use"`
	// Further details of the cause. Present only for some errors. It is an object for error 1004, and if
	// requirements or dependencies are missing.
	Cause ErrorCause `json:"cause,omitzero" example:"{\"type\": \"duplicateKey\", \"key\": \"phone\", \"value\": \"+12125550187\"}"`
	// ID of the request, to be included in support requests.
	Request string `json:"request" example:"0b0f4a3e-8c55-4d0c-9a53-6d1f0e8a7c21"`
}

// DuplicateCause is the cause of an error: a unique value that another record already has.
type DuplicateCause struct {
	// Type of the cause.
	Type string `json:"type" enum:"duplicateKey"`
	// Name of the field.
	Key string `json:"key"`
	// Value of the field.
	Value string `json:"value"`
	// ID of the record that has the value. Only for importKey: the task that was created with it.
	ID string `json:"id,omitzero"`
}

// MissingCause is the cause of an error: requirements or dependencies that are missing.
type MissingCause struct {
	// What is missing: requirements of the task, or dependencies that are not completed.
	Type string `json:"type" enum:"requirements,dependencies"`
	// For requirements, their names: signature, photo, notes, minimumAge, or barcode followed by its
	// ID. For dependencies, the IDs of the tasks.
	Missing []string `json:"missing"`
}

// ErrorCause is the cause of an error. At most one of its fields is set.
type ErrorCause struct {
	Text      string
	Duplicate *DuplicateCause
	Missing   *MissingCause
}

// OneOf returns a value of each form of a cause, for documentation.
func (ErrorCause) OneOf() []any { return []any{"", DuplicateCause{}, MissingCause{}} }

// MarshalJSON implements json.Marshaler.
func (c ErrorCause) MarshalJSON() ([]byte, error) {
	switch {
	case c.Duplicate != nil:
		return json.Marshal(c.Duplicate)
	case c.Missing != nil:
		return json.Marshal(c.Missing)
	}
	return json.Marshal(c.Text)
}

// Shown returns the error that clients see for err: err itself if it is a *lastmile.Error,
// unknownOutcome for lastmile.ErrUnknownOutcome, and lastmile.Internal for other errors.
func Shown(err error) *lastmile.Error {
	if errors.Is(err, lastmile.ErrUnknownOutcome) {
		return unknownOutcome()
	}
	if rejection, ok := errors.AsType[*lastmile.Error](err); ok {
		return rejection
	}
	return lastmile.Internal()
}

// unknownOutcome is the error that clients see for lastmile.ErrUnknownOutcome.
func unknownOutcome() *lastmile.Error {
	return &lastmile.Error{
		Code: lastmile.CodeUnknownOutcome,
		Message: "The server lost its database while it saved the change, which may or may not have been saved. " +
			"Check before you send the request again; with an Idempotency-Key, nothing is done twice.",
	}
}

// NewError returns the HTTP status and the body of an error.
func NewError(err error, request string) (status int, body ErrorBody) {
	rejection := Shown(err)
	entry := errorEntries[rejection.Code]
	body = ErrorBody{Code: entry.Class, Message: ErrorMessage{Error: entry.Number, Message: rejection.Message, Request: request}}
	switch {
	case rejection.Key != nil:
		body.Message.Cause.Duplicate = &DuplicateCause{Type: "duplicateKey", Key: rejection.Key.Key, Value: rejection.Key.Value, ID: rejection.Key.ID}
	case rejection.Missing != nil:
		body.Message.Cause.Missing = &MissingCause{Type: rejection.Missing.Kind, Missing: rejection.Missing.Items}
	default:
		body.Message.Cause.Text = rejection.Cause
	}
	return entry.Status, body
}

// BatchError is an error of a batch request or of one of its tasks. Unlike other errors, it has no
// code.
type BatchError struct {
	// HTTP status that the error has in requests for a single task.
	StatusCode int `json:"statusCode"`
	// Number that identifies the error; see the table of errors.
	Error int `json:"error"`
	// Human-readable message. The wording may change: programs should use the number instead.
	Message string `json:"message"`
	// Further details of the cause; empty if there are none.
	Cause string `json:"cause"`
}

// NewBatchError returns an error in the form of batch requests.
func NewBatchError(e *lastmile.Error) BatchError {
	entry := errorEntries[e.Code]
	return BatchError{StatusCode: entry.Status, Error: int(entry.Number), Message: e.Message, Cause: CauseText(e)}
}

// CauseText returns the cause of an error as a string, for batches.
func CauseText(e *lastmile.Error) string {
	switch {
	case e.Key == nil:
		return e.Cause
	case e.Key.ID != "":
		return fmt.Sprintf("duplicateKey: %s %s, id %s", e.Key.Key, e.Key.Value, e.Key.ID)
	}
	return fmt.Sprintf("duplicateKey: %s %s", e.Key.Key, e.Key.Value)
}

// ErrorOf returns the representation of errors with a code.
func ErrorOf(code lastmile.Code) ErrorEntry { return errorEntries[code] }

// ErrorCode returns the code with a number, or CodeInternal if there is none.
func ErrorCode(number int) lastmile.Code {
	for code, entry := range errorEntries {
		if int(entry.Number) == number {
			return code
		}
	}
	return lastmile.CodeInternal
}

// HasBatchError reports whether an error of a batch request has the form of BatchError. Errors
// that do not depend on the batch have the same form as in other requests.
func HasBatchError(status int) bool {
	switch status {
	case 401, 403, 405, 429:
		return false
	}
	return true
}
