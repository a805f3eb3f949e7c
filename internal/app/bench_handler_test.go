package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"dray/internal/store/sqlstore"
)

// discard is a response writer that discards the body.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// BenchmarkHandler measures what a GET costs beyond net/http: the handler
// without a connection, one request at a time.
func BenchmarkHandler(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		b.Run("destination", func(b *testing.B) {
			benchHandler(b, p, p.saveRecords(b, func(w *sqlstore.Tx, n int) (string, error) {
				d := p.destination(n)
				return "/destinations/" + string(d.ID), w.SaveDestination(b.Context(), d)
			}))
		})
		b.Run("task", func(b *testing.B) {
			benchHandler(b, p, p.saveRecords(b, func(w *sqlstore.Tx, n int) (string, error) {
				task := p.newTask(n)
				return "/tasks/" + string(task.ID), p.save(b, w, task)
			}))
		})
	})
}

func benchHandler(b *testing.B, p *platform, paths []string) {
	handler := p.Handler()
	requests := make([]*http.Request, len(paths))
	for i, path := range paths {
		requests[i] = httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v2"+path, nil)
		requests[i].SetBasicAuth(p.key, "")
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		w := &discard{header: http.Header{}}
		handler.ServeHTTP(w, requests[i%len(requests)])
		if w.status != http.StatusOK {
			b.Fatalf("status %d", w.status)
		}
	}
}
