package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
)

// shelf is a list of bells that is sent in parts.
type shelf struct {
	bells int
	size  int                      // size of each record, in bytes
	gone  string                   // the id of one that was deleted
	show  func(ids []string) error // before bells are read; may be nil
}

func (s shelf) route() Route {
	find := func(_ context.Context, _ *Call, _ bellBody) ([]string, error) {
		ids := make([]string, s.bells)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
		}
		return ids, nil
	}
	show := func(ctx context.Context, _ *Call, ids []string) (docs [][]byte, err error) {
		if s.show != nil {
			if err := s.show(ids); err != nil {
				return nil, err
			}
		}
		for _, id := range ids {
			if id == s.gone {
				continue
			}
			doc := fmt.Appendf(nil, `{"tone":"%s%s"}`, strings.Repeat(" ", s.size), id)
			if err := lastmile.MeterOf(ctx).Count(len(doc)); err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
		return docs, nil
	}
	return SearchAll[bellBody, bellReply]("/bells", "Find bells", find, show)
}

// tones returns the bells of a response.
func tones(t *testing.T, body []byte) (ids []string) {
	t.Helper()
	var bells []bellReply
	if err := json.Unmarshal(body, &bells); err != nil {
		t.Errorf("the response is not a list: %v", err)
	}
	for _, b := range bells {
		ids = append(ids, strings.TrimSpace(b.Tone))
	}
	return ids
}

// search sends a search for bells.
func search(h http.Handler) *httptest.ResponseRecorder {
	return serve(h, "POST", "acme", strings.NewReader(`{}`))
}

func TestListsAreComplete(t *testing.T) { synctest.Test(t, testListsAreComplete) }

func testListsAreComplete(t *testing.T) {
	for _, n := range []int{0, 1, firstRecords, firstRecords + 1, 3 * maxRecords, 1_000} {
		for _, size := range []int{10, 3_000, 2 * listPart} {
			if n*size > 8*mib {
				continue
			}
			w := search(budgeted(NewBudget(96*mib), shelf{bells: n, size: size, gone: "2"}.route()))
			var want []string
			for i := range n {
				if i != 2 {
					want = append(want, fmt.Sprint(i))
				}
			}
			if got := tones(t, w.Body.Bytes()); w.Code != http.StatusOK || !slices.Equal(got, want) {
				t.Errorf("%d bells of %d bytes: responded %d with %d of %d", n, size, w.Code, len(got), len(want))
			}
			if short := n <= firstRecords; short != (w.Header().Get("Content-Length") != "") {
				t.Errorf("%d bells: the length is %q", n, w.Header().Get("Content-Length"))
			}
			if got := w.Header().Get("Content-Type"); got != typeJSON[0] {
				t.Errorf("%d bells: the type is %q", n, got)
			}
		}
	}
}

// TestALongListTakesLittleMemory sends a list that is larger than the memory of all
// requests, not faster than an organization may read.
func TestALongListTakesLittleMemory(t *testing.T) { synctest.Test(t, testLongList) }

func testLongList(t *testing.T) {
	begun := time.Now()
	b := NewBudget(32 * mib)
	most := int64(0)
	s := shelf{bells: 2_000, size: 20_000, show: func([]string) error {
		most = max(most, b.Stats().Held)
		return nil
	}}
	if w := search(budgeted(b, s.route())); w.Code != http.StatusOK || w.Body.Len() < 38*mib {
		t.Errorf("responded %d with %d bytes", w.Code, w.Body.Len())
	}
	if most > 4*mib {
		t.Errorf("%d bytes were held", most)
	}
	if took := time.Since(begun); took < time.Second || took > 2*time.Second {
		t.Errorf("38 MiB took %v", took)
	}
	if held := b.Stats().Held; held != 0 {
		t.Errorf("%d bytes are held in the end", held)
	}
}

// TestAClientThatReadsSlowlyKeepsNoTurn: while a client does not read its list, other
// lists of the organization are sent.
func TestAClientThatReadsSlowlyKeepsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := budgeted(NewBudget(96*mib), shelf{bells: 200, size: 10_000}.route())
		h.Budget.lists.Most = 1
		body, out := io.Pipe()
		var slow sync.WaitGroup
		slow.Go(func() {
			r := httptest.NewRequest("POST", "/v1/bells", strings.NewReader(`{}`))
			r.Header.Set("Authorization", "acme")
			h.ServeHTTP(pipeWriter{httptest.NewRecorder(), out}, r)
			out.Close()
		})
		synctest.Wait()
		if w := search(h); len(tones(t, w.Body.Bytes())) != 200 {
			t.Errorf("responded %d with %d bytes", w.Code, w.Body.Len())
		}
		got, err := io.ReadAll(body)
		if err != nil || len(tones(t, got)) != 200 {
			t.Errorf("the slow client got %d bytes: %v", len(got), err)
		}
		slow.Wait()
	})
}

// pipeWriter is a response that waits for its reader.
type pipeWriter struct {
	*httptest.ResponseRecorder
	out *io.PipeWriter
}

func (w pipeWriter) Write(p []byte) (int, error) { return w.out.Write(p) }

// TestAListWaitsForMemory: a list that has begun waits while others hold all memory.
func TestAListWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(96 * mib)
		parts, failed := 0, 0
		s := shelf{bells: 100, size: 10_000, show: func(ids []string) error {
			if parts++; parts > 1 && parts < 10 {
				failed++
				return lastmile.Overloaded("there is no memory")
			}
			return nil
		}}
		if w := search(budgeted(b, s.route())); len(tones(t, w.Body.Bytes())) != 100 || failed != 8 {
			t.Errorf("responded %d with %d bytes after %d failures", w.Code, w.Body.Len(), failed)
		}
	})
}

// TestAListThatCannotBeFinishedIsNoResponse: clients must be able to distinguish a list
// that ended early from a whole one.
func TestAListThatCannotBeFinishedIsNoResponse(t *testing.T) {
	broken := errors.New("the disk failed")
	parts := 0
	s := shelf{bells: 1_000, size: 1_000, show: func([]string) error {
		if parts++; parts == 3 {
			return broken
		}
		return nil
	}}
	b := NewBudget(96 * mib)
	server := httptest.NewServer(budgeted(b, s.route()))
	defer server.Close()
	for _, compressed := range []bool{false, true} {
		parts = 0
		client := http.Client{Transport: &http.Transport{DisableCompression: !compressed}}
		response, err := client.Post(server.URL+"/v1/bells", "application/json", bytes.NewReader([]byte(`{}`)))
		if compressed && errors.Is(err, io.EOF) {
			continue // the part that was sent is so small that it is still in the server's buffer
		}
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes ended with %v", len(body), err)
		}
	}
	if held := b.Stats().Held; held != 0 {
		t.Errorf("%d bytes are held in the end", held)
	}
	parts = 2
	if w := search(budgeted(b, s.route())); w.Code != http.StatusInternalServerError {
		t.Errorf("responded %d when the first part failed", w.Code)
	}
}
