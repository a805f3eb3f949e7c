package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/textmessage"
	"dray/internal/webhook"
)

// pipes is a listener in memory. A goroutine that waits for a real socket would
// stop the simulated time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	jump   *atomic.Int64 // error of the clock of the process that accepts
}

func newPipes(jump *atomic.Int64) *pipes {
	return &pipes{conns: make(chan net.Conn), closed: make(chan struct{}), jump: jump}
}

// jumpedConn is a connection of a process whose clock is wrong. The clock of the
// system would be wrong by as much, and the deadlines would be right.
type jumpedConn struct {
	net.Conn
	jump *atomic.Int64
}

// SetWriteDeadline implements net.Conn. Only deadlines by the clock of the node are
// in UTC.
func (c jumpedConn) SetWriteDeadline(t time.Time) error {
	if t.Location() == time.UTC && !t.IsZero() {
		t = t.Add(-time.Duration(c.jump.Load()))
	}
	return c.Conn.SetWriteDeadline(t)
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return jumpedConn{c, p.jump}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// receivers is the server of all webhooks. Each path is a receiver, which accepts
// notifications unless it is set to fail.
type receivers struct {
	egress *webhook.Egress
	server *http.Server

	mu      sync.Mutex
	failing map[string]func(r *http.Request) // by path: called instead of a 200 response
	slow    map[string]time.Duration
	got     []received
}

// received is an attempt at a notification.
type received struct {
	at           time.Time // time of the simulation, whatever the clock of the node says
	path         string
	id           string // id of the notification
	task, worker string
	trigger      string
	ok           bool
}

func newReceivers(t *testing.T) *receivers {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hooks.example.com"}, DNSNames: []string{"hooks.example.com"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(3, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	line := newPipes(new(atomic.Int64))
	r := &receivers{failing: map[string]func(*http.Request){}, slow: map[string]time.Duration{}}
	r.server = &http.Server{Handler: r, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go r.server.Serve(tls.NewListener(line, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})) //nolint:errcheck // ends with close
	r.egress, err = webhook.NewEgress(webhook.EgressOptions{
		ExtraCAs: [][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Connect: line.dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *receivers) close() {
	r.egress.Close()
	r.server.Close()
}

// fail makes a receiver fail, with a 500 response or, if it hangs, with none at
// all.
func (r *receivers) fail(path string, hangs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failing[path] = func(request *http.Request) {
		if hangs {
			<-request.Context().Done()
		}
	}
}

func (r *receivers) recover(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failing, path)
}

// delay makes a receiver respond late.
func (r *receivers) delay(path string, by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow[path] = by
}

// ServeHTTP implements http.Handler.
func (r *receivers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		io.WriteString(w, request.URL.Query().Get("check")) //nolint:errcheck // the sender notices
		return
	}
	var event struct{ TaskID, WorkerID, TriggerName string }
	if json.NewDecoder(request.Body).Decode(&event) != nil {
		return // the sender is gone
	}
	r.mu.Lock()
	fail, slow := r.failing[request.URL.Path], r.slow[request.URL.Path]
	r.got = append(r.got, received{
		at: time.Now(), path: request.URL.Path, id: request.Header.Get("Webhook-Id"), ok: fail == nil,
		task: event.TaskID, worker: event.WorkerID, trigger: event.TriggerName,
	})
	r.mu.Unlock()
	time.Sleep(slow)
	if fail != nil {
		w.WriteHeader(http.StatusInternalServerError)
		fail(request)
	}
}

// all returns the attempts that the receivers got.
func (r *receivers) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// at returns the attempts that a receiver got and that match.
func (r *receivers) at(path string, match func(received) bool) (found []received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.got {
		if g.path == path && match(g) {
			found = append(found, g)
		}
	}
	return found
}

// textGateway is a gateway for text messages, which can fail.
type textGateway struct {
	mu      sync.Mutex
	failing bool
	slow    time.Duration
	got     []texted
}

// texted is an attempt at a text message.
type texted struct {
	textmessage.Message
	at time.Time
	ok bool
}

// Name implements messaging.Gateway.
func (*textGateway) Name() string { return "simulated" }

// From implements messaging.Gateway.
func (*textGateway) From() string { return "+12125550000" }

// Send implements messaging.Gateway.
func (g *textGateway) Send(_ context.Context, m textmessage.Message) textmessage.Result {
	g.mu.Lock()
	failing, slow := g.failing, g.slow
	g.got = append(g.got, texted{Message: m, at: time.Now(), ok: !failing})
	g.mu.Unlock()
	time.Sleep(slow)
	if failing {
		return textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "out of order"}
	}
	return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: string(m.ID)}
}

func (g *textGateway) set(failing bool, slow time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failing, g.slow = failing, slow
}

// to returns the attempts at messages of a kind to a number.
func (g *textGateway) to(number string, kind textmessage.Kind) (found []texted) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.got {
		if string(m.To) == number && m.Kind == kind {
			found = append(found, m)
		}
	}
	return found
}
