package abuse

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Kinds of requests of the honest organization. Signing in and photos are slow by
// design, so they are timed separately.
const (
	kindRequest = "request"
	kindSignIn  = "sign-in"
	kindPhoto   = "photo"
)

// floors are latencies that are good enough, whatever the quiet value: attackers
// and the server share the processors of the test machine.
var floors = map[string]time.Duration{
	kindRequest: 100 * time.Millisecond,
	kindSignIn:  2 * time.Second,
	kindPhoto:   5 * time.Second,
}

// honest is an organization with a dispatcher's program and a worker who delivers.
// All of its requests must succeed.
type honest struct {
	*tenant
	mu     sync.Mutex
	took   map[string][]time.Duration
	faults []string
	tasks  map[string]*acknowledged // by id
}

// acknowledged is the state of a task that the server has acknowledged.
type acknowledged struct {
	notes     string
	completed bool
	deleted   bool
	unknown   bool // a change had no response
}

// call sends a request, times it and reports whether it succeeded.
func (h *honest) call(ctx context.Context, kind string, c *client, method, path string, body any) (reply, bool) {
	begin := time.Now()
	a := c.do(ctx, method, path, body)
	took := time.Since(begin)
	if ctx.Err() != nil {
		return a, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took[kind] = append(h.took[kind], took)
	if a.status != http.StatusOK {
		h.faults = append(h.faults, fmt.Sprintf("%s %s: %d after %v: %.200s", method, path, a.status, took.Round(time.Millisecond), a.body))
	}
	return a, a.status == http.StatusOK
}

// work plays the organization until the context ends.
func (h *honest) work(ctx context.Context) {
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				h.dispatch(ctx, fmt.Sprintf("%d of program %d", n, i), n%2 == 0)
			}
		})
	}
	all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			h.deliver(ctx, n)
		}
	})
	all.Wait()
}

// pace waits between two requests of a caller.
func pace(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

const honestPause = 40 * time.Millisecond

// create creates a task and notes what was acknowledged.
func (h *honest) create(ctx context.Context, notes string, more map[string]any) (id string, ok bool) {
	body := taskBody(notes)
	maps.Copy(body, more)
	a, ok := h.call(ctx, kindRequest, h.client, http.MethodPost, "/api/v2/tasks", body)
	if !ok {
		return "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks[a.id()] = &acknowledged{notes: notes}
	return a.id(), true
}

// change sends a change of a task and notes what was acknowledged.
func (h *honest) change(ctx context.Context, c *client, method, path, id string, body any, apply func(*acknowledged)) bool {
	_, ok := h.call(ctx, kindRequest, c, method, path, body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if ok {
		h.tasks[id].unknown = false
		apply(h.tasks[id])
	} else {
		h.tasks[id].unknown = true
	}
	return ok
}

// dispatch creates a task and changes it. Every second task is also assigned and
// deleted.
func (h *honest) dispatch(ctx context.Context, notes string, whole bool) {
	id, ok := h.create(ctx, notes, nil)
	if !pace(ctx, honestPause) || !ok {
		return
	}
	at := "/api/v2/tasks/" + id
	if a, ok := h.call(ctx, kindRequest, h.client, http.MethodGet, at, nil); ok && a.object()["notes"] != notes {
		h.fault("task %s was read with notes %v, not %q", id, a.object()["notes"], notes)
	}
	steps := []func(){
		func() {
			changed := notes + ", changed"
			h.change(ctx, h.client, http.MethodPut, at, id, map[string]any{"notes": changed}, func(a *acknowledged) { a.notes = changed })
		},
		func() {
			body := map[string]any{"tasks": []any{-1, id}}
			h.call(ctx, kindRequest, h.client, http.MethodPut, "/api/v2/containers/workers/"+h.workers[1], body)
		},
		func() {
			h.call(ctx, kindRequest, h.client, http.MethodGet, fmt.Sprintf("/api/v2/tasks/all?from=%d", time.Now().Add(-time.Hour).UnixMilli()), nil)
		},
		func() {
			h.change(ctx, h.client, http.MethodDelete, at, id, nil, func(a *acknowledged) { a.deleted = true })
		},
	}
	if !whole {
		steps = steps[:1]
	}
	for _, step := range steps {
		if !pace(ctx, honestPause) {
			return
		}
		step()
	}
}

// deliver has the worker deliver a task with a photo, and sign in now and then.
func (h *honest) deliver(ctx context.Context, n int) {
	id, ok := h.create(ctx, fmt.Sprint("delivery ", n), map[string]any{"container": map[string]any{"type": "WORKER", "worker": h.workers[0]}})
	if !pace(ctx, honestPause) || !ok {
		return
	}
	if n%10 == 9 {
		if a, ok := h.call(ctx, kindSignIn, h.client.with(""), http.MethodPost, "/driver/v1/login", h.credentials(password)); ok {
			h.session = h.with(bearer(a))
		}
	}
	h.change(ctx, h.session, http.MethodPost, "/driver/v1/tasks/"+id+"/start", id, map[string]any{"actionId": id + "s"}, func(*acknowledged) {})
	for range 10 {
		if !pace(ctx, honestPause) {
			return
		}
		position := map[string]any{"location": []float64{-74, 40.7 + rand.Float64()/100}, "time": time.Now().UnixMilli()}
		h.call(ctx, kindRequest, h.session, http.MethodPost, "/driver/v1/positions", map[string]any{"positions": []any{position}})
		h.call(ctx, kindRequest, h.session, http.MethodGet, "/driver/v1/tasks", nil)
	}
	body := map[string]any{"actionId": id + "c", "success": true}
	if a, ok := h.call(ctx, kindPhoto, h.session, http.MethodPost, "/driver/v1/uploads", photo()); ok {
		body["photoUploadIds"] = []any{a.object()["uploadId"]}
	}
	complete := func() bool {
		return h.change(ctx, h.session, http.MethodPost, "/driver/v1/tasks/"+id+"/complete", id, body, func(a *acknowledged) { a.completed = true })
	}
	for !complete() && pace(ctx, time.Second) {
		continue // the app repeats what was not acknowledged
	}
}

// photo returns a photo that differs from all others.
func photo() []byte {
	img := image.NewGray(image.Rect(0, 0, 320, 240))
	for i := range img.Pix {
		img.Pix[i] = uint8(rand.IntN(256))
	}
	var out bytes.Buffer
	jpeg.Encode(&out, img, nil) //nolint:errcheck // a buffer takes everything
	return out.Bytes()
}

func (h *honest) fault(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// take returns the latencies and the faults since it was last called.
func (h *honest) take() (map[string][]time.Duration, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	took, faults := h.took, h.faults
	h.took, h.faults = map[string][]time.Duration{}, nil
	return took, faults
}

// p99 returns the latency that 99 of 100 requests do not exceed.
func p99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[(len(took)*99+99)/100-1].Round(100 * time.Microsecond)
}

// readBack compares every acknowledged task with what is stored.
func (h *honest) readBack(t *testing.T) {
	t.Helper()
	ids := make(chan string, len(h.tasks))
	for id := range h.tasks {
		ids <- id
	}
	close(ids)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for id := range ids {
				want, a := h.tasks[id], h.get(t.Context(), "/api/v2/tasks/"+id)
				got := a.object()
				switch {
				case want.unknown:
				case want.deleted:
					if a.status != http.StatusNotFound {
						t.Errorf("lost: the deletion of task %s: %d", id, a.status)
					}
				case a.status != http.StatusOK:
					t.Errorf("lost: task %s: %d %.200s", id, a.status, a.body)
				case got["notes"] != want.notes, want.completed && got["state"] != 3.0:
					t.Errorf("lost: a change of task %s: %v %v, want %+v", id, got["notes"], got["state"], *want)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d acknowledged tasks were read back", len(h.tasks))
}
