package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/webhook"
)

// receivers are HTTPS servers on addresses of their own that count what they
// get.
type receivers struct {
	urls  []string
	roots *x509.CertPool
	ca    authority
	got   atomic.Int64
}

func newReceivers(t testing.TB, count int, answer http.HandlerFunc) *receivers {
	t.Helper()
	r := &receivers{ca: newAuthority(), roots: x509.NewCertPool()}
	r.roots.AddCert(r.ca.certificate)
	for i := range count {
		host := fmt.Sprintf("127.0.1.%d", i+1)
		listener, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			io.Copy(io.Discard, request.Body) //nolint:errcheck // the sender notices
			answer(w, request)
			r.got.Add(1)
		}))
		server.Listener.Close()
		server.Listener = listener
		server.TLS = &tls.Config{Certificates: []tls.Certificate{r.ca.issue(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP(host)} })}}
		server.StartTLS()
		t.Cleanup(server.Close)
		r.urls = append(r.urls, server.URL)
	}
	return r
}

func (r *receivers) egress(t testing.TB) *webhook.Egress {
	t.Helper()
	return newEgress(t, webhook.EgressOptions{
		ExtraCAs: [][]byte{r.ca.pem}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
}

// BenchmarkSend compares signed posts, from the database and with every attempt
// recorded in it, with the same posts of a plain client: in turns, so that both
// have the same machine.
func BenchmarkSend(b *testing.B) {
	const (
		hosts = 4
		round = 8000
	)
	r := newReceivers(b, hosts, func(http.ResponseWriter, *http.Request) {})
	w := newWorld(b)
	defer w.close()
	for _, url := range r.urls {
		w.write(func(ctx context.Context, tx store.Writer) error {
			return tx.SaveWebhook(ctx, lastmile.Webhook{
				ID: lastmile.WebhookID(newID()), Organization: acme, Created: now(), Modified: now(), URL: url, Trigger: created, Enabled: true,
			})
		})
	}
	body := bytes.Repeat([]byte("x"), 3000)
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.roots}, MaxIdleConnsPerHost: 4}}
	defer plain.CloseIdleConnections()

	sender := w.sender(nil)
	sender.Poster, sender.Alone = r.egress(b), true
	var bare, sent time.Duration
	rounds := 0
	cpu := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(0, &u) //nolint:errcheck // of this process it never fails
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var bareCPU, sentCPU time.Duration
	w.run(func() {
		for b.Loop() {
			rounds++
			begin := time.Now()
			c := cpu()
			var group sync.WaitGroup
			for i := range 4 * hosts {
				group.Go(func() {
					for range round / (4 * hosts) {
						postPlainly(b, plain, r.urls[i%hosts], body)
					}
				})
			}
			group.Wait()
			bare += time.Since(begin)
			bareCPU += cpu() - c

			w.write(func(ctx context.Context, tx store.Writer) error {
				events := make([]lastmile.Event, round/hosts)
				for i := range events {
					events[i] = lastmile.Event{ID: newID(), Organization: acme, Trigger: created, At: now(), Stored: now(), Worker: &lastmile.Worker{
						ID: "workerworkerworkerworker", Organization: acme, Name: string(body[:2500]),
					}}
				}
				return tx.AppendEvents(ctx, events)
			})
			begin = time.Now()
			c = cpu()
			for sender.Stats().Delivered < int64(rounds*round) {
				time.Sleep(time.Millisecond)
			}
			sent += time.Since(begin)
			sentCPU += cpu() - c
		}
	}, sender)
	if r.got.Load() != int64(2*rounds*round) || sender.Stats().Failed > 0 {
		b.Fatalf("%d posts arrived, want %d; %+v", r.got.Load(), 2*rounds*round, sender.Stats())
	}
	ratio := bare.Seconds() / sent.Seconds()
	b.ReportMetric(float64(rounds*round)/bare.Seconds(), "bare-posts/s")
	b.ReportMetric(float64(rounds*round)/sent.Seconds(), "posts/s")
	b.ReportMetric(ratio, "ratio")
	b.Logf("cpu per post: bare %v sent %v", bareCPU/time.Duration(rounds*round), sentCPU/time.Duration(rounds*round))
	b.Logf("%.0f posts a second, a plain client %.0f", float64(rounds*round)/sent.Seconds(), float64(rounds*round)/bare.Seconds())
	if ratio < 0.5 {
		b.Errorf("sends at %.2f of the speed of a plain client, want half", ratio)
	}
}

func postPlainly(b *testing.B, client *http.Client, url string, body []byte) {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Dray-Webhook/1"}, "Webhook-Id": {"aaaaaaaaaaaaaaaaaaaaaaaa"},
		"Webhook-Timestamp": {"1700000000"}, "Webhook-Attempt": {"1"}, "Webhook-Signature": {strings.Repeat("a", 47)}, "X-Onfleet-Signature": {strings.Repeat("a", 128)},
	}
	answer, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return
	}
	io.Copy(io.Discard, answer.Body) //nolint:errcheck // only the status counts
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b.Errorf("answered %s", answer.Status)
	}
}
