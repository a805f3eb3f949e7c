package app

import (
	"context"
	"io"
	"net/http"
	"time"
)

// maxWaiting is how many writes may wait before a node says it is not ready.
const maxWaiting = 1_000

// healthz tells that the process is up.
func (a *App) healthz(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, "ok")
}

// readyz tells whether the node can take requests: the database answers, its
// schema is at head, and not too much is waiting.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch err := a.Store.Ping(ctx); {
	case a.draining.Load():
		say(w, http.StatusServiceUnavailable, "stopping")
	case err != nil:
		a.Log.Warn("not ready", "error", err)
		say(w, http.StatusServiceUnavailable, "the database does not answer")
	case a.Store.Stats().Waiting > maxWaiting:
		say(w, http.StatusServiceUnavailable, "too many writes are waiting")
	default:
		say(w, http.StatusOK, "ready")
	}
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n") //nolint:errcheck // the client is gone; there is nobody to tell
}
