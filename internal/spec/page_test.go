package spec

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestPageIsCompressedForEveryHost(t *testing.T) {
	page := &rendered{page: []byte("<p>curl " + originMark + "/api</p>")}
	get := func(host, encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/docs", nil)
		r.Host = host
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		return w
	}
	for i := range 3 * mostOrigins {
		host := fmt.Sprintf("host-%d.example", i)
		packed, err := gzip.NewReader(get(host, "gzip").Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(packed)
		want := "<p>curl http://" + host + "/api</p>"
		if err != nil || string(got) != want || get(host, "").Body.String() != want {
			t.Errorf("for %s the page is %s, %v", host, got, err)
		}
		if len(page.packed) > mostOrigins {
			t.Fatalf("%d pages are kept", len(page.packed))
		}
	}
	page.mu.Lock() // another request is compressing
	defer page.mu.Unlock()
	if w := get("other.example", "gzip"); w.Header().Get("Content-Encoding") != "" || w.Body.String() != "<p>curl http://other.example/api</p>" {
		t.Errorf("meanwhile the page is %s with %v", w.Body, w.Header())
	}
}
