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
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
	"dray/internal/wire"
)

// receivers are HTTPS servers on different addresses that count their requests.
type receivers struct {
	urls  []string
	roots *x509.CertPool
	ca    authority
	got   atomic.Int64

	timed     bool     // whether to record the times of responses
	responded sync.Map // times of first responses, by the part of the id that the notifications of an event share
}

func newReceivers(t testing.TB, count int, reply http.HandlerFunc) *receivers {
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
			reply(w, request)
			r.got.Add(1)
			if id := request.Header.Get("Webhook-Id"); r.timed {
				r.responded.LoadOrStore(id[:len(id)-2], time.Now())
			}
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

// BenchmarkSend compares the rate of notifications, which are read from the database and
// signed, and whose attempts are recorded, with the rate of the same requests by a plain
// client. Both run in turns, so that a busy machine slows both equally.
func BenchmarkSend(b *testing.B) {
	const (
		hosts = 16
		orgs  = 4
		round = 8000
	)
	r := newReceivers(b, hosts, func(http.ResponseWriter, *http.Request) {})
	w := newFixture(b)
	defer w.close()
	var owners []lastmile.OrganizationID
	for range orgs {
		owners = append(owners, lastmile.OrganizationID(newID()))
	}
	for i, url := range r.urls {
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			return tx.SaveWebhook(ctx, lastmile.Webhook{
				ID: lastmile.WebhookID(newID()), Organization: owners[i%orgs], Created: now(), Modified: now(), URL: url, Trigger: created, Enabled: true,
			})
		})
	}
	worker := lastmile.Worker{ID: "workerworkerworkerworker", Organization: acme, Name: strings.Repeat("x", 2500)} // as long as a task
	many := make([]lastmile.Event, round/hosts)                                                                    // the events of one organization
	bodies, err := wire.EncodeEvents(nil, []lastmile.Event{{Organization: acme, Trigger: created, At: now(), Worker: &worker}})
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
						postPlainly(b, plain, r.urls[i%hosts], bodies[0])
					}
				})
			}
			group.Wait()
			bare := time.Since(begin)

			w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
				for _, org := range owners {
					for i := range many {
						many[i] = lastmile.Event{Organization: org, Trigger: created, At: now(), Worker: &worker}
					}
					if err := w.log.Append(ctx, tx, many...); err != nil {
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
	reply, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return
	}
	io.Copy(io.Discard, reply.Body) //nolint:errcheck // only the status counts
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		b.Errorf("status %s", reply.Status)
	}
}

// BenchmarkIsolation appends a hundred events a second in twenty organizations, each with a
// webhook that works. Then it adds fifty webhooks to each organization whose servers accept
// connections but never respond. It compares the time from the commit of an event to the
// response of the webhook that works.
func BenchmarkIsolation(b *testing.B) {
	const (
		orgs  = 20
		dead  = 50 // per organization
		phase = 15 * time.Second
	)
	var alone, first, beside, ratios []float64
	for b.Loop() {
		r := newReceivers(b, orgs, func(http.ResponseWriter, *http.Request) {})
		r.timed = true
		w := newFixture(b)
		var owners []lastmile.OrganizationID
		save := func(org lastmile.OrganizationID, url string) {
			w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
				return tx.SaveWebhook(ctx, lastmile.Webhook{
					ID: lastmile.WebhookID(newID()), Organization: org, Created: now(), Modified: now(), URL: url, Trigger: created, Enabled: true,
				})
			})
		}
		for _, url := range r.urls {
			owners = append(owners, lastmile.OrganizationID(newID()))
			save(owners[len(owners)-1], url)
		}
		grave := silence(b)
		sender := w.sender(nil)
		sender.Alone = true
		sender.Poster = newEgress(b, webhook.EgressOptions{
			ExtraCAs: [][]byte{r.ca.pem}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			Resolve: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{grave.Addr()}, nil },
		})
		w.run(func() {
			appendSteadily(w, r, owners, phase/5) // to warm up
			before := appendSteadily(w, r, owners, phase)
			for i := range orgs * dead {
				save(owners[i%orgs], fmt.Sprintf("https://dead-%d.test:%d/", i, grave.Port()))
			}
			dying := appendSteadily(w, r, owners, phase/5)
			after := appendSteadily(w, r, owners, phase)
			alone, beside, first = append(alone, milliseconds(before)), append(beside, milliseconds(after)), append(first, milliseconds(dying))
			ratios = append(ratios, after.Seconds()/before.Seconds())
		}, sender)
		if got := sender.Stats(); got.Failed == 0 {
			b.Fatalf("no attempt failed: %+v", got)
		}
		w.close()
	}
	for _, list := range [][]float64{alone, first, beside, ratios} {
		slices.Sort(list)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(alone[len(alone)/2], "ms-p99-alone")
	b.ReportMetric(first[len(first)/2], "ms-p99-as-they-appear")
	b.ReportMetric(beside[len(beside)/2], "ms-p99-beside-dead")
	b.ReportMetric(ratios[len(ratios)/2], "times")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// silence starts a server that accepts connections and never responds.
func silence(b *testing.B) netip.AddrPort {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.2.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var (
		mu    sync.Mutex
		taken []net.Conn
	)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			taken = append(taken, conn)
			mu.Unlock()
		}
	}()
	b.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range taken {
			conn.Close()
		}
	})
	return netip.MustParseAddrPort(listener.Addr().String())
}

// appendSteadily appends events of one organization after the other at a constant
// rate. It returns the 99th percentile of the time from their commits to the
// responses of the receivers.
func appendSteadily(w *fixture, r *receivers, owners []lastmile.OrganizationID, phase time.Duration) time.Duration {
	w.t.Helper()
	const every = 10 * time.Millisecond
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		events []string
		stored = map[string]time.Time{}
		tick   = time.NewTicker(every)
	)
	defer tick.Stop()
	for i := range int(phase / every) {
		<-tick.C
		org, id := owners[i%len(owners)], newID()
		events = append(events, id[:lastmile.IDLength-2])
		group.Go(func() {
			w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
				w.nextID = id // one transaction runs at a time
				return w.log.Append(ctx, tx, lastmile.Event{
					Organization: org, Trigger: created, At: now(),
					Worker: &lastmile.Worker{ID: "workerworkerworkerworker", Organization: org, Name: strings.Repeat("x", 2500)},
				})
			})
			mu.Lock()
			defer mu.Unlock()
			stored[id[:lastmile.IDLength-2]] = time.Now()
		})
	}
	group.Wait()
	var took []time.Duration
	for _, id := range events {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if at, ok := r.responded.Load(id); ok {
				took = append(took, max(at.(time.Time).Sub(stored[id]), 0))
				break
			}
			if time.Now().After(deadline) {
				w.t.Fatalf("event %s never arrived", id)
			}
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
