package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"dray/internal/installation"
	"dray/internal/store/sqlstore"
)

const (
	// maxWaitingWrites is the maximum number of writes that may wait before a
	// node reports that it is not ready.
	maxWaitingWrites = 1_000
	// minFreeDisk is the free space, on the disk of an embedded database, below
	// which a node reports that it is not ready: small writes may still succeed,
	// because the write-ahead log reuses its space, but larger ones do not.
	minFreeDisk = 16 << 20
	// readyFor is how long the result of a check is reused, because anyone may request it
	// and a check may write to the database.
	readyFor = 2 * time.Second
	// readyTimeout is the maximum duration of a check.
	readyTimeout = 2 * time.Second
)

// healthz responds as long as the process runs.
func (a *App) healthz(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, "ok")
}

// readyz reports whether the node can serve requests.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	problem := "stopping"
	if !a.draining.Load() {
		problem = a.ready.problem(r.Context())
	}
	if problem != "" {
		respond(w, http.StatusServiceUnavailable, problem)
		return
	}
	respond(w, http.StatusOK, "ready"+a.Maps.readyNote())
}

// readiness checks whether a node can serve requests: the database responds, its schema is
// current, it can be written, and few writes are waiting.
type readiness struct {
	log   *slog.Logger
	ping  func(context.Context) error
	write func(context.Context) error // makes a small change durable
	stats func() sqlstore.Stats
	free  func() (bytes int64, ok bool) // on the disk; not ok if it is unknown

	turn    chan struct{} // held while the fields below are used
	checked time.Time     // the zero time if never
	last    string        // the problem that was found, if any
	commits uint64        // number of commits at the last check
}

// newReadiness returns the readiness of a node.
func newReadiness(c Config, db *sqlstore.Store, log *slog.Logger) *readiness {
	free := func() (int64, bool) { return 0, false }
	if c.Database == "" {
		free = func() (int64, bool) {
			bytes, _, ok := installation.DiskOf(c.Data)
			return bytes, ok
		}
	}
	return &readiness{log: log, ping: db.Ping, write: db.Probe, stats: db.Stats, free: free, turn: make(chan struct{}, 1)}
}

// problem returns why the node is not ready, or nothing. Callers share a result.
func (r *readiness) problem(ctx context.Context) string {
	waiting, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-waiting.Done():
		return "the database does not respond"
	}
	if r.checked.IsZero() || time.Since(r.checked) >= readyFor { // by the monotonic clock
		checking, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		r.last = r.check(checking)
		r.checked, r.commits = time.Now(), r.stats().Commits
	}
	return r.last
}

// check returns the first problem that it finds, or an empty string. It writes only if
// nothing else was written since the last check.
func (r *readiness) check(ctx context.Context) string {
	if err := r.ping(ctx); err != nil {
		r.log.Warn("not ready", "error", err)
		return "the database does not respond"
	}
	if free, ok := r.free(); ok && free < minFreeDisk {
		r.log.Warn("not ready", "error", "the disk is full", "free", free)
		return "the disk is full"
	}
	stats := r.stats()
	if stats.Waiting > maxWaitingWrites {
		return "too many writes are waiting"
	}
	if !r.checked.IsZero() && stats.Commits != r.commits {
		return ""
	}
	if err := r.write(ctx); err != nil && r.stats().Commits == stats.Commits {
		r.log.Warn("not ready", "error", err)
		return "the database cannot be written"
	}
	return ""
}

func respond(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n") //nolint:errcheck // fails only when the client is gone
}
