package edge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
)

const mib = 1 << 20

// code is the code of a rejection; 0 if there is none.
func code(err error) lastmile.Code {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok {
		return 0
	}
	return rejected.Code
}

func TestBudgetLeavesMemoryForOthers(t *testing.T) {
	b := NewBudget(70 * mib)
	fill := func(caller string) (held int64) {
		for {
			h := &hold{budget: b, organization: caller}
			if h.resize(mib) != nil {
				return held
			}
			held += mib
		}
	}
	for i, least := range []int64{46 * mib, 15 * mib, 4 * mib, mib} {
		if held := fill(string(rune('a' + i))); held < least {
			t.Errorf("caller %d gets %d bytes, want %d at least", i, held, least)
		}
	}
}

func TestBudgetRejections(t *testing.T) {
	b := NewBudget(90 * mib)
	first := &hold{budget: b, organization: "acme", address: "192.0.2.1"}
	if err := first.resize(60 * mib); err != nil {
		t.Fatalf("two thirds of the memory are denied: %v", err)
	}
	for name, test := range map[string]struct {
		hold  hold
		bytes int64
		want  lastmile.Code
	}{
		"the same organization":                {hold{organization: "acme"}, mib, lastmile.CodeTooMany},
		"another organization, same address":   {hold{organization: "other", address: "192.0.2.1"}, mib, lastmile.CodeTooMany},
		"another organization":                 {hold{organization: "other", address: "192.0.2.2"}, 20 * mib, 0},
		"another organization, too much":       {hold{organization: "other"}, 25 * mib, lastmile.CodeOverloaded},
		"a caller that is not known":           {hold{}, 25 * mib, 0},
		"a caller that is not known, too much": {hold{}, 35 * mib, lastmile.CodeOverloaded},
		"a small request":                      {hold{organization: "acme"}, UncountedBytes, 0},
	} {
		h := test.hold
		h.budget = b
		if err := h.resize(test.bytes); code(err) != test.want {
			t.Errorf("%s: got %v, want code %d", name, err, test.want)
		}
		h.force(0)
	}
	first.force(200 * mib)
	if held := b.Stats().Held; held != 200*mib {
		t.Errorf("%d bytes are held", held)
	}
	first.force(0)
	if s := b.Stats(); s.Held != 0 || len(b.callers) != 0 {
		t.Errorf("%d bytes of %d callers are held in the end", s.Held, len(b.callers))
	}
}

func TestBudgetAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(90 * mib)
		first, second := &hold{budget: b, organization: "acme"}, &hold{budget: b, organization: "acme"}
		if err := first.resize(60 * mib); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(AdmissionWait/2, func() { first.force(0) })
		if err := second.await(t.Context(), 60*mib); err != nil {
			t.Errorf("a request did not wait: %v", err)
		}
		begun := time.Now()
		if err := first.await(t.Context(), 60*mib); code(err) != lastmile.CodeTooMany {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(begun); waited < AdmissionWait || waited > 2*AdmissionWait {
			t.Errorf("it waited for %v", waited)
		}
		if n := b.Stats().Rejected; n != 1 {
			t.Errorf("%d requests count as rejected", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := first.await(ctx, 60*mib); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v when the client was gone", err)
		}
	})
}

func TestBudgetIsExactUnderConcurrency(t *testing.T) {
	b := NewBudget(8 * mib)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			h := &hold{budget: b, organization: "acme", address: "192.0.2.1"}
			for i := range int64(1_000) {
				if h.resize(i%5*mib) == nil && b.Stats().Held > 8*mib {
					t.Error("more is held than there is")
				}
			}
			h.force(0)
		})
	}
	group.Wait()
	if b.Stats().Held != 0 || len(b.callers) != 0 {
		t.Errorf("%d bytes are held in the end", b.Stats().Held)
	}
}

// budgeted serves routes within a budget, for the organization that a request
// names.
func budgeted(b *Budget, routes ...Route) *Mux {
	settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler), Budget: b, Receipts: &receipts{}}
	return NewMux(settings, "/v1", Access{Authenticate: func(_ context.Context, r *http.Request) (lastmile.Principal, error) {
		return lastmile.Principal{Organization: lastmile.OrganizationID(r.Header.Get("Authorization"))}, nil
	}}, routes...)
}

// serve sends a request of an organization for bells.
func serve(h http.Handler, method, org string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/v1/bells", body)
	r.Header.Set("Authorization", org)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestBodiesAreAdmitted: while the bodies of one organization have used up its
// share, others are served.
func TestBodiesAreAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(96 * mib)
		take := func(_ context.Context, c *Call, _ bellBody) (bellReply, error) { return bellReply{}, nil }
		h := budgeted(b, Post("/bells", "Ring bells", take).Bulk())
		unfinished, end := io.Pipe()
		var group sync.WaitGroup
		for range 3 { // bodies of unknown length; the one below has a known length
			group.Go(func() { serve(h, "POST", "evil", unfinished) })
		}
		r := httptest.NewRequest("POST", "/v1/bells", unfinished)
		r.ContentLength = 31 * mib
		r.Header.Set("Authorization", "evil")
		group.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
		synctest.Wait()
		if w := serve(h, "POST", "evil", strings.NewReader(`{"tone":"`+strings.Repeat("a", 4*mib)+`"}`)); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("responded %d %s", w.Code, w.Body)
		}
		for _, size := range []int{100, mib / 2} {
			if w := serve(h, "POST", "good", strings.NewReader(`{"tone":"`+strings.Repeat("a", size)+`"}`)); w.Code != http.StatusOK {
				t.Errorf("responded to another organization with %d %.200s", w.Code, w.Body)
			}
		}
		end.CloseWithError(io.ErrUnexpectedEOF)
		group.Wait()
		if held := b.Stats().Held; held != 0 {
			t.Errorf("%d bytes are held in the end", held)
		}
	})
}

func TestReadAll(t *testing.T) {
	for _, size := range []int{1, 100, 4 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1_000_000} {
		want := bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]
		for _, length := range []int64{int64(size), -1} {
			for name, body := range map[string]io.Reader{"whole": bytes.NewReader(want), "in pieces": pieces{bytes.NewReader(want)}} {
				reserved := int64(0)
				got, err := readAll(body, length, func(bytes int64) error {
					reserved = bytes
					return nil
				})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %s, length %d: got %d, %v", size, name, length, len(got), err)
				}
				if length < 0 && int64(cap(got)) > max(reserved, smallestRead) {
					t.Errorf("%d bytes of unknown length: reserved %d for %d", size, reserved, cap(got))
				}
			}
		}
	}
}

// pieces reads at most 1,000 bytes at a time, and the end separately.
type pieces struct{ r io.Reader }

func (o pieces) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1000)]) }

// TestReadsAreCounted: the rows that a request reads count as memory until its response
// was sent.
func TestReadsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(96 * mib)
		reading, proceed := make(chan struct{}), make(chan struct{})
		list := func(ctx context.Context, c *Call) (bellReply, error) {
			meter := lastmile.MeterOf(ctx)
			rows := map[lastmile.OrganizationID]int{"evil": 30, "good": 1, "vast": 1_000}[c.Who.Organization]
			for range rows {
				if err := meter.Count(mib); err != nil {
					return bellReply{}, err
				}
			}
			if c.Who.Organization == "evil" {
				reading <- struct{}{}
				<-proceed
			}
			return bellReply{Tone: "c"}, nil
		}
		h := budgeted(b, Get("/bells", "List bells", list))
		h.Budget.lists.Most = 2
		var group sync.WaitGroup
		group.Go(func() { serve(h, "GET", "evil", nil) })
		<-reading
		if w := serve(h, "GET", "evil", nil); w.Code != http.StatusTooManyRequests {
			t.Errorf("responded to a second long list with %d %s", w.Code, w.Body)
		}
		if w := serve(h, "GET", "good", nil); w.Code != http.StatusOK {
			t.Errorf("responded to another organization with %d %s", w.Code, w.Body)
		}
		if w := serve(h, "GET", "vast", nil); w.Code != http.StatusServiceUnavailable && w.Code != http.StatusBadRequest {
			t.Errorf("responded to a list that is too long with %d %s", w.Code, w.Body)
		}
		close(proceed)
		group.Wait()
		if w := serve(h, "GET", "vast", nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "filters") {
			t.Errorf("responded to a list that is too long, alone, with %d %s", w.Code, w.Body)
		}
		if held := b.Stats().Held; held != 0 {
			t.Errorf("%d bytes are held in the end", held)
		}
	})
}

// TestTheErrorForALongListSaysHowToReadIt: not every route has filters or pages.
func TestTheErrorForALongListSaysHowToReadIt(t *testing.T) {
	h := budgeted(NewBudget(96*mib), Get("/bells", "List bells", func(ctx context.Context, _ *Call) (bellReply, error) {
		return bellReply{}, lastmile.MeterOf(ctx).Count(1_000 * mib)
	}).Divided("ring them one by one"))
	if w := serve(h, "GET", "acme", nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "memory for: ring them one by one") {
		t.Errorf("responded with %d %s", w.Code, w.Body)
	}
}

// TestAListThatIsTooLongDoesNotBlockItsRoute: the client gets a smaller part of it right after.
func TestAListThatIsTooLongDoesNotBlockItsRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(96 * mib)
		rows := 1_000
		h := budgeted(b, Get("/bells", "List bells", func(ctx context.Context, _ *Call) (bellReply, error) {
			for range rows {
				if err := lastmile.MeterOf(ctx).Count(mib); err != nil {
					return bellReply{}, err
				}
			}
			return bellReply{Tone: "c"}, nil
		}))
		for _, want := range []int{http.StatusBadRequest, http.StatusBadRequest, http.StatusOK} {
			if want == http.StatusOK {
				rows = 1
			}
			if w := serve(h, "GET", "acme", nil); w.Code != want {
				t.Errorf("responded to %d rows with %d %s, want %d", rows, w.Code, w.Body, want)
			}
		}
		if !b.isLarge(list{"acme", "/bells"}, time.Now()) {
			t.Error("lists that may be too long do not take turns")
		}
	})
}

// TestLargeListsTakeTurns: an organization that reads many large lists at once does
// not keep all processors from others.
func TestLargeListsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		running := 0
		list := func(_ context.Context, c *Call) (bellReply, error) {
			if c.Who.Organization == "evil" {
				running++
				<-proceed
			}
			return bellReply{Tone: "c"}, nil
		}
		h := budgeted(NewBudget(96*mib), Get("/bells", "List bells", list))
		h.Budget.lists.Most = 2
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() { serve(h, "GET", "evil", nil) })
		}
		synctest.Wait()
		if running != 2 {
			t.Errorf("%d lists of one organization are read at once, want 2", running)
		}
		if w := serve(h, "GET", "good", nil); w.Code != http.StatusOK {
			t.Errorf("responded to another organization with %d %s", w.Code, w.Body)
		}
		close(proceed)
		group.Wait()
		if running != 5 {
			t.Errorf("%d of 5 lists were read", running)
		}
	})
}

// TestLargeRequestsDoNotWaitForever: large requests of an organization that wait too long
// for their turn are rejected, and those of other organizations are not affected.
func TestLargeRequestsDoNotWaitForever(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		synctest.Test(t, func(t *testing.T) {
			proceed := make(chan struct{})
			wait := func(c *Call) bellReply {
				if c.Who.Organization == "evil" {
					<-proceed
				}
				return bellReply{Tone: "c"}
			}
			h := budgeted(NewBudget(96*mib),
				Get("/bells", "List bells", func(_ context.Context, c *Call) (bellReply, error) { return wait(c), nil }),
				Post("/bells", "Ring a bell", func(_ context.Context, c *Call, _ bellBody) (bellReply, error) { return wait(c), nil }))
			h.Budget.lists.Most = 1
			body := func() io.Reader { return strings.NewReader(`{"tone":"` + strings.Repeat("c", largeBody) + `"}`) }
			var group sync.WaitGroup
			group.Go(func() { serve(h, method, "evil", body()) })
			synctest.Wait()
			w := serve(h, method, "evil", body())
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: responded %d %s with Retry-After %q", method, w.Code, w.Body, w.Header().Get("Retry-After"))
			}
			if w := serve(h, method, "good", body()); w.Code != http.StatusOK {
				t.Errorf("%s: responded to another organization with %d %s", method, w.Code, w.Body)
			}
			close(proceed)
			group.Wait()
		})
	}
}

// TestLargeListsLeaveProcessors: the large lists of all organizations together do not keep
// small ones waiting, nor lists that are not known to be large.
func TestLargeListsLeaveProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, proceed := 0, make(chan struct{}, 3)
		h := budgeted(NewBudget(96*mib), Get("/bells", "List bells", func(_ context.Context, c *Call) (bellReply, error) {
			if running++; c.Who.Organization == "good" {
				return bellReply{Tone: "c"}, nil
			}
			<-proceed
			return bellReply{Tone: strings.Repeat("c", largeList+1)}, nil
		}))
		h.Budget.reads.Most = 1
		orgs := []string{"evil", "bad", "worse"}
		for range orgs {
			proceed <- struct{}{}
		}
		for _, org := range orgs {
			serve(h, "GET", org, nil)
		}
		running = 0
		var group sync.WaitGroup
		for _, org := range orgs {
			group.Go(func() {
				if w := serve(h, "GET", org, nil); w.Code != http.StatusOK {
					t.Errorf("responded %d %s", w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		if running != 1 {
			t.Errorf("%d large lists are read at once, want 1", running)
		}
		for range 2 { // when its size is not known, and when it is
			if w := serve(h, "GET", "good", nil); w.Code != http.StatusOK {
				t.Errorf("responded to another organization with %d %s", w.Code, w.Body)
			}
		}
		for range orgs {
			proceed <- struct{}{}
		}
		group.Wait()
		if running != 5 {
			t.Errorf("%d of 5 lists were read", running)
		}
	})
}

// TestRecordsWithLongListsTakeTurns: an organization that reads or changes records
// whose lists are long does so one at a time, once the server has seen that they
// are. Short ones do not wait.
func TestRecordsWithLongListsTakeTurns(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		synctest.Test(t, func(t *testing.T) {
			length := largeList + 1
			running, proceed := 0, make(chan struct{})
			reply := func() bellReply {
				running++
				<-proceed
				return bellReply{Tone: strings.Repeat("c", length)}
			}
			h := budgeted(NewBudget(96*mib),
				Get("/bells/{id}", "Read a bell", func(context.Context, *Call) (bellReply, error) { return reply(), nil }).Lists(),
				Put("/bells/{id}", "Change a bell", func(context.Context, *Call, bellBody) (bellReply, error) { return reply(), nil }).Lists())
			h.Budget.lists.Most, h.Budget.reads.Most = 1, 2
			var group sync.WaitGroup
			begin := func(n int, org string) {
				for range n {
					group.Go(func() {
						r := httptest.NewRequest(method, "/v1/bells/1", strings.NewReader(`{}`))
						r.Header.Set("Authorization", org)
						w := httptest.NewRecorder()
						if h.ServeHTTP(w, r); w.Code != http.StatusOK {
							t.Errorf("responded %d %s", w.Code, w.Body)
						}
					})
				}
				synctest.Wait()
			}
			begin(3, "acme")
			if running != 3 {
				t.Errorf("%s: %d are served at once before the length is known, want 3", method, running)
			}
			for range 3 {
				proceed <- struct{}{}
			}
			group.Wait()
			running = 0
			begin(3, "acme")
			begin(1, "other")
			if running != 2 {
				t.Errorf("%s: %d are served at once, want one of each organization", method, running)
			}
			close(proceed)
			group.Wait()
		})
	}
}

// TestLargeBodiesTakeTurns: an organization that sends many large bodies at once
// does not keep the writer from others.
func TestLargeBodiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		running := 0
		ring := func(_ context.Context, c *Call, _ bellBody) (bellReply, error) {
			if running++; len(c.Body) > largeBody {
				<-proceed
			}
			return bellReply{Tone: "c"}, nil
		}
		h := budgeted(NewBudget(96*mib), Post("/bells", "Ring a bell", ring))
		large := `{"tone":"` + strings.Repeat("c", largeBody) + `"}`
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() { serve(h, "POST", "evil", strings.NewReader(large)) })
		}
		synctest.Wait()
		if running != 1 {
			t.Errorf("%d large bodies of one organization are handled at once, want 1", running)
		}
		for _, org := range []string{"evil", "good"} {
			if w := serve(h, "POST", org, strings.NewReader(`{"tone":"c"}`)); w.Code != http.StatusOK {
				t.Errorf("responded to a small body of %s with %d %s", org, w.Code, w.Body)
			}
		}
		close(proceed)
		group.Wait()
		if running != 7 {
			t.Errorf("%d of 7 bodies were handled", running)
		}
	})
}

func TestExpectedSizes(t *testing.T) {
	b, clock := NewBudget(96*mib), newTestClock()
	l := list{"acme", "/bells"}
	if got := b.expected(l, clock.now()); got != unknownBytes {
		t.Errorf("expected %d of an unknown list", got)
	}
	b.remember(l, 100, clock.now())
	if got := b.expected(l, clock.now()); got != 100 {
		t.Errorf("expected %d of a short list", got)
	}
	b.remember(l, 8*mib, clock.now())
	b.remember(l, 100, clock.now())
	if got := b.expected(l, clock.now()); got != 4*mib {
		t.Errorf("expected %d of a list of which a part was read", got)
	}
	clock.advance(sizeLifetime)
	if got := b.expected(l, clock.now()); got != unknownBytes {
		t.Errorf("expected %d of a list that was read long ago", got)
	}
	for range maxSizes + 1 {
		b.remember(list{lastmile.OrganizationID(newRequestID()), "/bells"}, 1, clock.now())
	}
	if len(b.sizes) > maxSizes {
		t.Errorf("%d sizes are remembered", len(b.sizes))
	}
}

func BenchmarkHold(b *testing.B) {
	budget := NewBudget(1 << 30)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		h := &hold{budget: budget, organization: "organization", address: "192.0.2.1"}
		for pb.Next() {
			if err := h.resize(100_000); err != nil {
				b.Fatal(err)
			}
			h.force(0)
		}
	})
}
