package edge

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// peal serves a reply of size bytes.
func peal(size int) *Mux {
	access := Access{Authenticate: func(context.Context, *http.Request) (lastmile.Principal, error) {
		return lastmile.Principal{Organization: "acme"}, nil
	}}
	ring := func(context.Context, *Call) (bellReply, error) { return bellReply{strings.Repeat("a", size)}, nil }
	settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler), Receipts: &receipts{}}
	list := shelf{bells: 5_000, size: 90}
	return NewMux(settings, "/v1", access, Get("/bells", "Ring", ring), list.route())
}

// plain returns the body of a response as it was before compression.
func plain(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false) // as browsers read it
	body, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestResponsesAreCompressedForClientsThatAcceptIt(t *testing.T) {
	const frame = len(`{"tone":""}`)
	for _, test := range []struct {
		method, accept string
		size           int
		compressed     bool
	}{
		{"GET", "gzip", MinCompressed - frame, true},
		{"GET", "gzip", MinCompressed - frame - 1, false},
		{"GET", "", 5_000, false},
		{"GET", "identity", 5_000, false},
		{"GET", "br, deflate, GZIP;q=0.5", 5_000, true},
		{"GET", "*", 5_000, true},
		{"GET", "gzip;q=0", 5_000, false},
		{"GET", "*, gzip; q=0", 5_000, false},
		{"GET", "*;q=0, gzip", 5_000, true},
		{"GET", "gzip;q=high", 5_000, false},
		{"HEAD", "gzip", 5_000, false},
		{"GET", "gzip", compressedPart - frame, true},
		{"GET", "gzip", compressedPart - frame + 1, true},
		{"GET", "gzip", 3 * compressedPart, true},
	} {
		t.Run(fmt.Sprint(test.method, test.accept, test.size), func(t *testing.T) {
			r := httptest.NewRequest(test.method, "/v1/bells", nil)
			if test.accept != "" {
				r.Header.Set("Accept-Encoding", test.accept)
			}
			w := httptest.NewRecorder()
			peal(test.size).ServeHTTP(w, r)
			want := `{"tone":"` + strings.Repeat("a", test.size) + `"}`
			if vary := w.Header().Get("Vary"); (vary == "Accept-Encoding") != (len(want) >= MinCompressed) {
				t.Errorf("Vary is %q", vary)
			}
			length := w.Header().Get("Content-Length")
			if !test.compressed {
				if w.Header().Get("Content-Encoding") != "" || length != strconv.Itoa(len(want)) || w.Body.String() != want {
					t.Errorf("the response has %d bytes and headers %v", w.Body.Len(), w.Header())
				}
				return
			}
			if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > len(want)/2 {
				t.Errorf("the response has %d bytes and headers %v", w.Body.Len(), w.Header())
			}
			if len(want) <= compressedPart && length != strconv.Itoa(w.Body.Len()) || len(want) > compressedPart && length != "" {
				t.Errorf("the length is %q of %d", length, w.Body.Len())
			}
			if got := plain(t, w); got != want {
				t.Errorf("decompressed, the response has %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

func TestLongListsAreCompressedInParts(t *testing.T) {
	get := func(accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/v1/bells", strings.NewReader(`{}`))
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		peal(0).ServeHTTP(w, r)
		return w
	}
	want, packed := get("identity").Body.String(), get("gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > len(want)/2 {
		t.Errorf("the list has %d bytes and headers %v", packed.Body.Len(), packed.Header())
	}
	if got := plain(t, packed); got != want || len(want) < compressedPart {
		t.Errorf("decompressed, the list has %d bytes, want %d", len(got), len(want))
	}
}

func TestCompressionKeepsRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var p packer
		var want, got bytes.Buffer
		for parts := 1 + random.IntN(5); parts > 0; parts-- {
			part := make([]byte, random.IntN(100_000))
			for i := range part {
				part[i] = byte(random.IntN(1 + random.IntN(256)))
			}
			want.Write(part)
			got.Write(p.pack(part, parts == 1))
		}
		z, err := gzip.NewReader(&got)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := io.ReadAll(z); err != nil || !bytes.Equal(whole, want.Bytes()) {
			t.Fatalf("decompressed, %d bytes are %d: %v", want.Len(), len(whole), err)
		}
	}
}

func BenchmarkCompression(b *testing.B) {
	body := []byte(strings.Repeat(`{"id":"Xz3FgN7wQpK2vRbT9mYc4HdL","timeCreated":1794700000000,"name":"Ada Lovelace"},`, 60))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var p packer
		p.pack(body, true)
	}
}
