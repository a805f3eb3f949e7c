package app

import (
	"context"
	"io"
	"net/http"
	"time"
)

// maxWaitingWrites is how many writes may wait before a node reports that it is
// not ready.
const maxWaitingWrites = 1_000

// healthz responds as long as the process runs.
func (a *App) healthz(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, "ok")
}

// readyz reports whether the node can serve requests: the database responds, its
// schema is current, and few writes are waiting.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch err := a.Store.Ping(ctx); {
	case a.draining.Load():
		respond(w, http.StatusServiceUnavailable, "stopping")
	case err != nil:
		a.Log.Warn("not ready", "error", err)
		respond(w, http.StatusServiceUnavailable, "the database does not answer")
	case a.Store.Stats().Waiting > maxWaitingWrites:
		respond(w, http.StatusServiceUnavailable, "too many writes are waiting")
	default:
		respond(w, http.StatusOK, "ready")
	}
}

func respond(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n") //nolint:errcheck // fails only when the client is gone
}
