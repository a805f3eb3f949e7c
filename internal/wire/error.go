package wire

import (
	"fmt"
	"net/http"

	"dray/internal/lastmile"
)

// ErrorKind is what clients see of an error of one code.
type ErrorKind struct {
	Status, Number int
	Class          string
}

// errorKinds is every kind of error a client can see. No number occurs twice.
var errorKinds = map[lastmile.Code]ErrorKind{
	lastmile.CodeUnauthenticated: {http.StatusUnauthorized, 1102, "InvalidCredentials"},
	lastmile.CodeOutsideScope:    {http.StatusUnauthorized, 1103, "InvalidCredentials"},
	lastmile.CodeForbidden:       {http.StatusForbidden, 1300, "Forbidden"},
	lastmile.CodeNotFound:        {http.StatusNotFound, 1402, "ResourceNotFound"},
	lastmile.CodeInvalid:         {http.StatusBadRequest, 1000, "InvalidContent"},
	lastmile.CodeInvalidHook:     {http.StatusBadRequest, 1008, "InvalidContent"},
	lastmile.CodeDuplicate:       {http.StatusBadRequest, 1004, "InvalidContent"},
	lastmile.CodeMalformed:       {http.StatusBadRequest, 1900, "InvalidArgument"},
	lastmile.CodeNotUnique:       {http.StatusBadRequest, 1901, "InvalidArgument"},
	lastmile.CodeWrongMethod:     {http.StatusMethodNotAllowed, 1405, "MethodNotAllowed"},
	lastmile.CodeConflict:        {http.StatusPreconditionFailed, 2218, "PreconditionFailed"},
	lastmile.CodeTooLarge:        {http.StatusRequestEntityTooLarge, 1006, "InvalidContent"},
	lastmile.CodeTooMany:         {http.StatusTooManyRequests, 2300, "TooManyRequests"},
	lastmile.CodeOverloaded:      {http.StatusServiceUnavailable, 2503, "ServiceUnavailable"},
	lastmile.CodeInternal:        {http.StatusInternalServerError, 2500, "Internal"},
}

// ErrorKindOf returns what clients see of an error of a code.
func ErrorKindOf(code lastmile.Code) ErrorKind { return errorKinds[code] }

// ErrorKinds lists every kind of error, in the order of their codes.
func ErrorKinds() []ErrorKind { return each(lastmile.Codes(), ErrorKindOf) }

// ErrorCode returns the code that has a number; CodeInternal if there is none.
func ErrorCode(number int) lastmile.Code {
	for code, kind := range errorKinds {
		if kind.Number == number {
			return code
		}
	}
	return lastmile.CodeInternal
}

// CauseText is the cause of an error where causes are texts, as in batches.
func CauseText(e *lastmile.Error) string {
	if e.Key != nil {
		return fmt.Sprintf("duplicateKey: %s %s", e.Key.Key, e.Key.Value)
	}
	return e.Cause
}
