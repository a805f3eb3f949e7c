package blob_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/blob"
)

var (
	keys   = blob.S3Keys{ID: "AKIAEXAMPLE", Secret: "secret/with+signs", Token: "a token"}
	moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// bucket is a service that believes nobody: it makes the signature of each
// request anew, from the request as it arrived.
type bucket struct {
	t       *testing.T
	mu      sync.Mutex
	objects map[string][]byte
	broken  int // status to answer with, whatever is asked
}

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request,SignedHeaders=([a-z0-9;-]+),Signature=([0-9a-f]{64})$`)

func hashed(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func keyed(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// believes tells whether a request is signed by who knows the secret.
func (b *bucket) believes(r *http.Request, body []byte) bool {
	parts := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil || parts[1] != keys.ID || r.Header.Get("X-Amz-Security-Token") != keys.Token {
		return false
	}
	day, region, names, signature := parts[2], parts[3], parts[4], parts[5]
	at := r.Header.Get("X-Amz-Date")
	if !strings.HasPrefix(at, day+"T") || r.Header.Get("X-Amz-Content-Sha256") != hashed(body) {
		return false
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	for _, name := range []string{"host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"} {
		if !strings.Contains(";"+names+";", ";"+name+";") {
			return false
		}
	}
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n\n" + headers.String() + "\n" + names + "\n" + hashed(body)
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + day + "/" + region + "/s3/aws4_request\n" + hashed([]byte(canonical))
	key := keyed(keyed(keyed(keyed([]byte("AWS4"+keys.Secret), day), region), "s3"), "aws4_request")
	return hmac.Equal([]byte(signature), []byte(hex.EncodeToString(keyed(key, text))))
}

// ServeHTTP implements http.Handler.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.broken != 0:
		w.WriteHeader(b.broken)
		return
	case !b.believes(r, body):
		http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPut:
		b.objects[r.URL.Path] = body
	case http.MethodDelete:
		delete(b.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		data, ok := b.objects[r.URL.Path]
		if !ok {
			http.Error(w, "NoSuchKey", http.StatusNotFound)
			return
		}
		w.Write(data) //nolint:errcheck // the client sees it
	}
}

func open(t *testing.T, setting string, with blob.S3Keys) *blob.S3 {
	t.Helper()
	s3, err := blob.OpenS3(setting, with, func() time.Time { return moment })
	if err != nil {
		t.Fatal(err)
	}
	return s3
}

func TestS3(t *testing.T) {
	service := &bucket{t: t, objects: map[string][]byte{}}
	server := httptest.NewServer(service)
	defer server.Close()
	setting := "s3://images/some/prefix?region=eu-north-1&endpoint=" + server.URL
	s3 := open(t, setting, keys)
	testPlace(t, s3)

	t.Run("objects are under the bucket, the prefix and the organization", func(t *testing.T) {
		if err := s3.Put(t.Context(), sample, []byte("x")); err != nil {
			t.Fatal(err)
		}
		want := "/images/some/prefix/" + string(sample.Organization) + "/" + string(sample.ID)
		if _, ok := service.objects[want]; !ok {
			t.Errorf("there is %v, want %s", service.objects, want)
		}
	})
	t.Run("a wrong secret is told", func(t *testing.T) {
		wrong := keys
		wrong.Secret = "guess"
		err := open(t, setting, wrong).Put(t.Context(), sample, []byte("x"))
		if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "guess") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a service that does not do it is an error", func(t *testing.T) {
		defer func() { service.broken = 0 }()
		for _, status := range []int{301, 307, 403, 404, 500, 503} {
			service.broken = status
			if err := s3.Put(t.Context(), sample, []byte("x")); err == nil {
				t.Errorf("%d: taken for done", status)
			}
			if _, err := s3.Get(t.Context(), sample); err == nil {
				t.Errorf("%d: taken for an answer", status)
			}
		}
	})
}

func TestS3Settings(t *testing.T) {
	for _, setting := range []string{"s3://", "s3:bucket", "https://bucket", "s3://b?endpoint=ftp://x", "s3://b?endpoint=nonsense", "s3://user:pass@b"} {
		if _, err := blob.OpenS3(setting, keys, time.Now); err == nil {
			t.Errorf("%q is taken", setting)
		}
	}
	for _, lacking := range []blob.S3Keys{{}, {ID: "a"}, {Secret: "a"}} {
		if _, err := blob.OpenS3("s3://bucket", lacking, time.Now); err == nil {
			t.Errorf("keys %v are taken", lacking)
		}
	}
}
