package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"dray/internal/lastmile"
)

// wireErrors is every error a client can see.
var wireErrors = map[lastmile.Code]struct {
	status, subcode int
	class           string
}{
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
}

// internalError is what a client sees of a fault of ours.
const (
	internalSubcode = 2500
	internalClass   = "Internal"
	internalMessage = "Something went wrong on the server. Quote the request id when asking for help."
)

// ErrorBody is an error as the interface shows it.
type ErrorBody struct {
	Code    string       `json:"code"`
	Message ErrorMessage `json:"message"`
}

// ErrorMessage is the inner part of an error.
type ErrorMessage struct {
	Error   int    `json:"error"`
	Message string `json:"message"`
	Cause   any    `json:"cause,omitempty"` // a string, a DuplicateCause or a LackCause
	Request string `json:"request"`
}

// DuplicateCause is the cause of error 1004.
type DuplicateCause struct {
	Type  string `json:"type"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LackCause is the cause of an error about what has to be there first.
type LackCause struct {
	Type    string   `json:"type"`
	Missing []string `json:"missing"`
}

// fail writes an error, or the kept answer of a request that was done before.
// It is the only place where errors are logged.
func (g *gate) fail(w http.ResponseWriter, r *http.Request, rt route, requestID string, err error) int {
	if before, ok := errors.AsType[*lastmile.Replay](err); ok {
		w.Header().Set("Idempotent-Replayed", "true")
		return write(w, http.StatusOK, before.Reply)
	}
	refusal, ok := errors.AsType[*lastmile.Error](err)
	if !ok {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			g.Log.Info("client went away", "request", requestID)
		} else {
			g.Log.Error("request failed", "request", requestID, "method", r.Method, "route", r.Pattern, "error", err)
		}
		body := ErrorBody{Code: internalClass, Message: ErrorMessage{
			Error: internalSubcode, Message: internalMessage, Request: requestID,
		}}
		return writeError(w, http.StatusInternalServerError, rt.shaped(http.StatusInternalServerError, body))
	}
	entry := wireErrors[refusal.Code]
	body := ErrorBody{Code: entry.class, Message: ErrorMessage{Error: entry.subcode, Message: refusal.Message, Request: requestID}}
	switch {
	case refusal.Key != nil:
		body.Message.Cause = DuplicateCause{Type: "duplicateKey", Key: refusal.Key.Key, Value: refusal.Key.Value}
	case refusal.Missing != nil:
		body.Message.Cause = LackCause{Type: refusal.Missing.Kind, Missing: refusal.Missing.Items}
	case refusal.Cause != "":
		body.Message.Cause = refusal.Cause
	}
	if refusal.Code == lastmile.CodeOverloaded || refusal.Code == lastmile.CodeTooMany {
		w.Header().Set("Retry-After", "1")
	}
	g.Log.Info("request refused", "request", requestID, "method", r.Method, "route", r.Pattern, "status", entry.status, "error", entry.subcode)
	return writeError(w, entry.status, rt.shaped(entry.status, body))
}

func writeError(w http.ResponseWriter, status int, body any) int {
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(`{}`)
	}
	return write(w, status, data)
}
