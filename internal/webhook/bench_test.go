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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/webhook"
	"dray/internal/wire"
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
		hosts = 16
		orgs  = 4
		round = 8000
	)
	r := newReceivers(b, hosts, func(http.ResponseWriter, *http.Request) {})
	w := newWorld(b)
	defer w.close()
	var owners []lastmile.OrganizationID
	for range orgs {
		owners = append(owners, lastmile.OrganizationID(newID()))
	}
	for i, url := range r.urls {
		w.write(func(ctx context.Context, tx store.Writer) error {
			return tx.SaveWebhook(ctx, lastmile.Webhook{
				ID: lastmile.WebhookID(newID()), Organization: owners[i%orgs], Created: now(), Modified: now(), URL: url, Trigger: created, Enabled: true,
			})
		})
	}
	worker := lastmile.Worker{ID: "workerworkerworkerworker", Organization: acme, Name: strings.Repeat("x", 2500)} // a task is as long
	events := make([]lastmile.Event, round/hosts)                                                                  // of each organization
	body, err := wire.Encode(lastmile.Event{Organization: acme, Trigger: created, At: now(), Worker: &worker})
	if err != nil {
		b.Fatal(err)
	}
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.roots}, MaxIdleConnsPerHost: 4}}
	defer plain.CloseIdleConnections()
	sender := w.sender(nil)
	sender.Poster, sender.Alone = r.egress(b), true

	var ratios, rates []float64
	w.run(func() {
		for b.Loop() {
			begin := time.Now()
			var group sync.WaitGroup
			for i := range 4 * hosts {
				group.Go(func() {
					for range round / (4 * hosts) {
						postPlainly(b, plain, r.urls[i%hosts], body)
					}
				})
			}
			group.Wait()
			bare := time.Since(begin)

			w.write(func(ctx context.Context, tx store.Writer) error {
				for _, org := range owners {
					for i := range events {
						events[i] = lastmile.Event{ID: newID(), Organization: org, Trigger: created, At: now(), Stored: now(), Worker: &worker}
					}
					if err := tx.AppendEvents(ctx, events); err != nil {
						return err
					}
				}
				return nil
			})
			begin = time.Now()
			for sender.Stats().Delivered < int64((len(rates)+1)*round) {
				time.Sleep(time.Millisecond)
			}
			sent := time.Since(begin)
			ratios, rates = append(ratios, bare.Seconds()/sent.Seconds()), append(rates, round/sent.Seconds())
		}
	}, sender)
	if r.got.Load() != int64(2*len(rates)*round) || sender.Stats().Failed > 0 {
		b.Fatalf("%d posts arrived, want %d; %+v", r.got.Load(), 2*len(rates)*round, sender.Stats())
	}
	slices.Sort(ratios)
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "posts/s")
	b.ReportMetric(ratios[len(ratios)/2], "of-a-plain-client")
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
