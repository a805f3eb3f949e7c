package apptest

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"dray/internal/app"
)

// Received is a request that a receiver got.
type Received struct {
	Method string
	Path   string
	Check  string // parameter of a handshake
	Header http.Header
	Body   []byte
}

// Receiver is a server that receives webhooks. By default it passes handshakes and
// accepts notifications.
type Receiver struct {
	URL    string
	CAFile string // certificate authority to trust

	mu    sync.Mutex
	got   []Received
	reply func(w http.ResponseWriter, r Received) bool
}

// NewReceiver starts a receiver on loopback.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	server := httptest.NewUnstartedServer(r)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // clients may reject its certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	r.URL = server.URL
	r.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(r.CAFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// Reach is an Option that lets a platform reach the receiver.
func (r *Receiver) Reach(c *app.Config) {
	c.WebhookCAs, c.WebhookNets = append(c.WebhookCAs, r.CAFile), append(c.WebhookNets, "127.0.0.1/32")
}

// Respond sets a function that handles requests and reports whether it has written a
// response; nil restores the default.
func (r *Receiver) Respond(reply func(w http.ResponseWriter, r Received) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reply = reply
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the sender is gone
	}
	got := Received{Method: request.Method, Path: request.URL.Path, Check: request.URL.Query().Get("check"), Header: request.Header, Body: body}
	r.mu.Lock()
	r.got = append(r.got, got)
	reply := r.reply
	r.mu.Unlock()
	if reply == nil || !reply(w, got) {
		io.WriteString(w, got.Check) //nolint:errcheck // the sender notices
	}
}

// Posts returns the notifications received at a path so far.
func (r *Receiver) Posts(path string) []Received { return r.all(http.MethodPost, path) }

// Checks returns the handshakes received at a path so far.
func (r *Receiver) Checks(path string) []Received { return r.all(http.MethodGet, path) }

func (r *Receiver) all(method, path string) []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.got), func(one Received) bool { return one.Method != method || one.Path != path })
}

// Await waits until a path has received count notifications and returns them.
func (r *Receiver) Await(t testing.TB, path string, count int) (posts []Received) {
	t.Helper()
	Until(t, fmt.Sprintf("%d notifications came to %s", count, path), func() bool {
		posts = r.Posts(path)
		return len(posts) >= count
	})
	return posts
}

// RunWebhooks sends notifications and numbers events until the test ends, like a node.
func (p *Platform) RunWebhooks(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var loops sync.WaitGroup
	loops.Go(func() { p.Sender.Run(ctx) })
	loops.Go(func() { p.Clearing.Run(ctx) })
	loops.Go(func() { p.Feed.Run(ctx) })
	t.Cleanup(func() {
		stop()
		loops.Wait()
	})
}
