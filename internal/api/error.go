package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"dray/internal/lastmile"
	"dray/internal/wire"
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
		refusal = lastmile.Internal()
	}
	kind := wire.ErrorKindOf(refusal.Code)
	body := ErrorBody{Code: kind.Class, Message: ErrorMessage{Error: kind.Number, Message: refusal.Message, Request: requestID}}
	switch {
	case refusal.Key != nil:
		body.Message.Cause = DuplicateCause{Type: "duplicateKey", Key: refusal.Key.Key, Value: refusal.Key.Value}
	case refusal.Lack != nil:
		body.Message.Cause = LackCause{Type: refusal.Lack.Kind, Missing: refusal.Lack.Items}
	case refusal.Cause != "":
		body.Message.Cause = refusal.Cause
	}
	if refusal.Code == lastmile.CodeOverloaded || refusal.Code == lastmile.CodeTooMany {
		w.Header().Set("Retry-After", "1")
	}
	if ok {
		g.Log.Info("request refused", "request", requestID, "method", r.Method, "route", r.Pattern, "status", kind.Status, "error", kind.Number)
	}
	return writeError(w, kind.Status, rt.shaped(refusal, body))
}

func writeError(w http.ResponseWriter, status int, body any) int {
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(`{}`)
	}
	return write(w, status, data)
}
