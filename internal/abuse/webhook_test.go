package abuse

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// newReceiver starts a receiver of webhooks that accepts every webhook and then
// never responds. It returns its URL and the flags with which the program reaches it.
func newReceiver(t *testing.T) (at string, flags []string) {
	t.Helper()
	ended := make(chan struct{})
	r := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if check := r.URL.Query().Get("check"); check != "" {
			io.WriteString(w, check) //nolint:errcheck // the program may be gone
			return
		}
		io.Copy(io.Discard, r.Body) //nolint:errcheck // otherwise the end of the connection is not noticed
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	t.Cleanup(func() { close(ended); r.CloseClientConnections(); r.Close() })
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	return r.URL, []string{"--webhook-ca-file", ca, "--webhook-port", u.Port(), "--webhook-allow-cidr", "127.0.0.1/32"}
}

// webhookAttacks make the program send requests.
var webhookAttacks = []attack{
	{name: "registrations of webhooks", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 20, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			to := []string{"https://127.0.0.1:1/", w.receiver + "/check", "https://localhost.invalid/", "https://10.255.255.1/"}[turn%4]
			a := by.post(ctx, "/api/v2/webhooks", map[string]any{"url": fmt.Sprintf("%s?n=%d", to, turn), "trigger": 6})
			if a.status == http.StatusOK {
				by.do(ctx, http.MethodDelete, "/api/v2/webhooks/"+a.id(), nil)
			}
		})
	}},
	{name: "webhooks whose receiver never responds", prepare: func(t *testing.T, w *world) {
		t.Helper()
		for _, o := range w.tenants {
			for i := range 50 {
				hook := map[string]any{"url": fmt.Sprintf("%s/%d", w.receiver, i), "trigger": 6} // taskCreated
				a := o.post(t.Context(), "/api/v2/webhooks", hook)
				for range 120 {
					if a.status != http.StatusTooManyRequests { // the registrations of the attack before count
						break
					}
					pace(t.Context(), time.Second)
					a = o.post(t.Context(), "/api/v2/webhooks", hook)
				}
				if a.status != http.StatusOK {
					t.Fatalf("webhook %d was not created: %d", i, a.status)
				}
			}
		}
	}, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 4, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2/tasks", taskBody("for webhooks"))
		})
	}},
}
