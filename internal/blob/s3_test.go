package blob_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/blob"
)

// keys are the credentials that a bucket accepts.
type keys struct{ id, secret, token string }

func (k keys) env() environment {
	return environment{"AWS_ACCESS_KEY_ID": k.id, "AWS_SECRET_ACCESS_KEY": k.secret, "AWS_SESSION_TOKEN": k.token}
}

// environment simulates the environment of a process.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

var (
	good   = keys{id: "AKIAEXAMPLE", secret: "secret/with+signs", token: "a token"}
	moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// bucket simulates an S3 service. It computes the signature of each request that arrives, and
// compares it with the one that was sent.
type bucket struct {
	t        *testing.T
	mu       sync.Mutex
	keys     keys // keys with which requests must be signed
	objects  map[string][]byte
	failures []int // statuses of the next responses
	broken   int   // status of every response; 0 for none
	requests int
}

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$`)

func hashed(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func keyed(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// authentic reports whether a request is signed with the bucket's keys.
func (b *bucket) authentic(r *http.Request, body []byte) bool {
	parts := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil || parts[1] != b.keys.id || r.Header.Get("X-Amz-Security-Token") != b.keys.token {
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
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	for _, name := range []string{"host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"} {
		if !strings.Contains(";"+names+";", ";"+name+";") {
			return false
		}
	}
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + r.URL.RawQuery + "\n" + headers.String() + "\n" + names + "\n" + hashed(body)
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + day + "/" + region + "/s3/aws4_request\n" + hashed([]byte(canonical))
	key := keyed(keyed(keyed(keyed([]byte("AWS4"+b.keys.secret), day), region), "s3"), "aws4_request")
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
	b.requests++
	switch {
	case b.broken != 0:
		w.WriteHeader(b.broken)
		return
	case len(b.failures) > 0:
		status := b.failures[0]
		b.failures = b.failures[1:]
		if status == hangUp {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		return
	case r.Header.Get("X-Amz-Security-Token") == expiredToken:
		http.Error(w, "<Error><Code>ExpiredToken</Code></Error>", http.StatusBadRequest)
		return
	case !b.authentic(r, body):
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
		w.Write(data) //nolint:errcheck // the client notices the error
	}
}

// Special values for the bucket.
const (
	hangUp       = -1        // in failures: closes the connection without a response
	expiredToken = "expired" // session token of expired credentials
)

// newBucket starts a bucket and returns it with its location.
func newBucket(t *testing.T) (*bucket, string) {
	t.Helper()
	service := &bucket{t: t, keys: good, objects: map[string][]byte{}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return service, "s3://images/some/prefix?region=eu-north-1&endpoint=" + server.URL
}

func open(t *testing.T, location string, env environment) *blob.S3 {
	t.Helper()
	s3, err := blob.OpenS3(blob.S3Options{
		Location: location, Getenv: env.get, Now: func() time.Time { return moment }, MaxBackoff: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s3
}

func TestS3(t *testing.T) {
	service, location := newBucket(t)
	s3 := open(t, location, good.env())
	testBlobs(t, s3)

	t.Run("objects are named by bucket, prefix and organization", func(t *testing.T) {
		if err := s3.Put(t.Context(), sample, []byte("x")); err != nil {
			t.Fatal(err)
		}
		want := "/images/some/prefix/" + string(sample.Organization) + "/" + string(sample.ID)
		if _, ok := service.objects[want]; !ok {
			t.Errorf("there is %v, want %s", service.objects, want)
		}
	})
	t.Run("a prefix may have any characters", func(t *testing.T) {
		odd := strings.Replace(location, "some/prefix", "a%20b+c@d$e=é/%2525", 1)
		if err := open(t, odd, good.env()).Put(t.Context(), sample, []byte("x")); err != nil {
			t.Error(err)
		}
	})
	t.Run("an endpoint may have a path", func(t *testing.T) {
		if err := open(t, location+"/storage/v1", good.env()).Put(t.Context(), sample, []byte("x")); err != nil {
			t.Fatal(err)
		}
		want := "/storage/v1/images/some/prefix/" + string(sample.Organization) + "/" + string(sample.ID)
		if _, ok := service.objects[want]; !ok {
			t.Errorf("there is %v, want %s", service.objects, want)
		}
	})
	t.Run("a wrong secret is reported", func(t *testing.T) {
		wrong := good
		wrong.secret = "guess"
		before := service.requests
		err := open(t, location, wrong.env()).Put(t.Context(), sample, []byte("x"))
		if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "guess") {
			t.Errorf("got %v", err)
		}
		if got := service.requests - before; got != 1 {
			t.Errorf("%d requests, want no second attempt", got)
		}
	})
	t.Run("only a missing object is removed already", func(t *testing.T) {
		for code, ok := range map[string]bool{"NoSuchKey": true, "NoSuchBucket": false} {
			absent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, "<Error><Code>"+code+"</Code></Error>") //nolint:errcheck // the client reports it
			}))
			defer absent.Close()
			if err := open(t, "s3://images?endpoint="+absent.URL, good.env()).Remove(t.Context(), sample); (err == nil) != ok {
				t.Errorf("%s: %v", code, err)
			}
		}
	})
	t.Run("a failed request is an error", func(t *testing.T) {
		defer func() { service.broken = 0 }()
		for _, status := range []int{301, 307, 403, 404, 500, 503} {
			service.broken = status
			if err := s3.Put(t.Context(), sample, []byte("x")); err == nil {
				t.Errorf("%d: counted as a success", status)
			}
			if _, err := s3.Get(t.Context(), sample); err == nil {
				t.Errorf("%d: returned as data", status)
			}
		}
	})
}

func TestS3Retries(t *testing.T) {
	service, location := newBucket(t)
	s3 := open(t, location, good.env())
	for name, test := range map[string]struct {
		failures []int
		ok       bool
		requests int
	}{
		"no failure":            {nil, true, 1},
		"an overloaded service": {[]int{503, 503, 503}, true, 4},
		"too many requests":     {[]int{429}, true, 2},
		"server errors":         {[]int{500, 502, 504}, true, 4},
		"a lost connection":     {[]int{hangUp, hangUp}, true, 3},
		"an outage":             {[]int{503, 503, 503, 503, 503}, false, 4},
		"a permanent error":     {[]int{403, 403}, false, 1},
		"a redirection":         {[]int{301, 301}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for method, do := range map[string]func() error{
				http.MethodPut: func() error { return s3.Put(t.Context(), sample, []byte("body of the object")) },
				http.MethodGet: func() error {
					got, err := s3.Get(t.Context(), sample)
					if err == nil && string(got) != "body of the object" {
						t.Errorf("got %q", got)
					}
					return err
				},
				http.MethodDelete: func() error { return s3.Remove(t.Context(), sample) },
			} {
				if method == http.MethodGet {
					if err := s3.Put(t.Context(), sample, []byte("body of the object")); err != nil {
						t.Fatal(err)
					}
				}
				service.failures, service.requests = test.failures, 0
				if err := do(); (err == nil) != test.ok || service.requests != test.requests {
					t.Errorf("%s: %d requests, want %d: %v", method, service.requests, test.requests, err)
				}
				service.failures = nil
			}
		})
	}
	t.Run("no attempt after the context is canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		service.requests = 0
		if err := s3.Put(ctx, sample, []byte("x")); err == nil || service.requests > 0 {
			t.Errorf("%d requests: %v", service.requests, err)
		}
	})
}

func TestS3Settings(t *testing.T) {
	for _, location := range []string{"s3://", "s3:bucket", "https://bucket", "s3://b?endpoint=ftp://x", "s3://b?endpoint=nonsense", "s3://user:pass@b"} {
		if _, err := blob.OpenS3(blob.S3Options{Location: location, Getenv: good.env().get, Now: time.Now}); err == nil {
			t.Errorf("%q is accepted", location)
		}
	}
	for _, missing := range []keys{{}, {id: "a"}, {secret: "a"}} {
		env := missing.env()
		env["AWS_EC2_METADATA_DISABLED"] = "true"
		if _, err := blob.OpenS3(blob.S3Options{Location: "s3://bucket", Getenv: env.get, Now: time.Now}); err == nil {
			t.Errorf("keys %v are accepted", missing)
		}
	}
}
