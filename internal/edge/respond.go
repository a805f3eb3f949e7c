package edge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// respondError logs and writes an error, and returns the status of the response. Nothing is
// written for a client that has disconnected.
func (m *Mux) respondError(w http.ResponseWriter, r *http.Request, rt Route, requestID string, err error) int {
	rejection, ok := errors.AsType[*lastmile.Error](err)
	if ok && isDenial(rejection) {
		rejection = m.Trail.deny(rejection, m.address(r), r, requestID)
		err = rejection
	}
	status, body := codec.NewError(err, requestID)
	if ok {
		if rejection.Transient() {
			w.Header().Set("Retry-After", strconv.Itoa(max(1, int(rejection.RetryAfter.Seconds()))))
		}
		m.logRejection(r, requestID, rejection, status, err)
	} else if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		m.Log.Info("client went away", "request", requestID)
		return statusAborted
	} else {
		m.Log.Error("request failed", "request", requestID, "method", r.Method, "route", r.Pattern, "error", err)
	}
	if rt.BatchErrors && codec.HasBatchError(status) {
		return writeError(w, r, status, codec.NewBatchError(codec.Shown(err)))
	}
	return writeError(w, r, status, body)
}

// logRejection logs a request that was rejected. Callers who have no rights, or
// too many requests, cannot fill the log: the trail and the metrics count them.
func (m *Mux) logRejection(r *http.Request, requestID string, rejection *lastmile.Error, status int, err error) {
	level := slog.LevelInfo
	if isDenial(rejection) || rejection.Code == lastmile.CodeTooMany {
		level = slog.LevelDebug
	}
	if !m.Log.Enabled(r.Context(), level) {
		return
	}
	line := []any{"request", requestID, "method", r.Method, "route", r.Pattern, "status", status, "error", codec.ErrorOf(rejection.Code).Number}
	if rejection.Code == lastmile.CodeOverloaded {
		line = append(line, "cause", err) // the client does not see what is wrapped with the error
	}
	m.Log.Log(r.Context(), level, "request rejected", line...)
}

func writeError(w http.ResponseWriter, r *http.Request, status int, body any) int {
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(`{}`)
	}
	return write(w, r, status, data)
}

// write sends a response that is encoded, compressed if the client accepts that.
func write(w http.ResponseWriter, r *http.Request, status int, body []byte) int {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return status
	}
	header := w.Header()
	header["Content-Type"] = typeJSON
	if compresses(w, r, len(body)) {
		writeCompressed(w, status, body)
		return status
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	//nolint:errcheck // the client has disconnected
	w.Write(body)
	return status
}

// wrongMethod is the error for a path that does not support the method.
func wrongMethod(method, path string) *lastmile.Error {
	return &lastmile.Error{Code: lastmile.CodeWrongMethod, Message: fmt.Sprintf("%s is not allowed on %s", method, path)}
}

// newRequestID makes a random UUID (version 4).
func newRequestID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[:8], b[:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
