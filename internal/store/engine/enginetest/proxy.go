package enginetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy is a proxy between an engine and a PostgreSQL server that simulates failures.
type Proxy struct {
	URL string // URL of a fresh database, through the proxy

	// If set, the connection of the next commit is cut: before the server receives the
	// commit, or before the client receives the response.
	CutBeforeCommit, CutAfterCommit atomic.Bool
	// Marked restricts both to connections that have sent this text.
	Marked string

	target    string
	rejecting atomic.Bool
	mu        sync.Mutex
	conns     []net.Conn
	thawed    chan struct{} // closed by Heal; nil if nothing is frozen
}

// The COMMIT messages of the driver: alone, and together with other statements, when it was
// prepared under a name and is bound to a portal that has none.
var (
	commitAlone    = []byte("Q\x00\x00\x00\x0bcommit\x00")
	commitDigest   = sha256.Sum256([]byte("commit"))
	commitTogether = fmt.Appendf(nil, "\x00stmtcache_%x\x00", commitDigest[:24])
)

// NewProxy starts a proxy to a fresh database.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	u, err := url.Parse(Postgres(t))
	Must(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	Must(t, err)
	p := &Proxy{target: u.Host}
	u.Host = l.Addr().String()
	p.URL = u.String()
	t.Cleanup(func() {
		_ = l.Close()
		p.Heal()
		p.Cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(context.WithoutCancel(t.Context()), c) // also while what uses the proxy is stopped
		}
	}()
	return p
}

// serve connects a client to the server.
func (p *Proxy) serve(ctx context.Context, c net.Conn) {
	s, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil || p.rejecting.Load() {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, c, s)
	p.mu.Unlock()
	go p.pump(s, c, true)
	go p.pump(c, s, false)
}

// pump copies bytes in one direction.
func (p *Proxy) pump(to, from net.Conn, request bool) {
	defer to.Close()
	buf, marked := make([]byte, 64<<10), p.Marked == ""
	for {
		n, err := from.Read(buf)
		marked = marked || bytes.Contains(buf[:n], []byte(p.Marked))
		p.wait()
		if request && marked && (bytes.Contains(buf[:n], commitAlone) || bytes.Contains(buf[:n], commitTogether)) {
			if p.CutBeforeCommit.CompareAndSwap(true, false) {
				_ = from.Close()
				return
			}
			if p.CutAfterCommit.CompareAndSwap(true, false) {
				_ = from.Close() // the server receives the commit, but its response is lost
			}
		}
		if _, wrong := to.Write(buf[:n]); wrong != nil || err != nil {
			<-time.After(20 * time.Millisecond) // let the server finish
			return
		}
	}
}

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// Reject closes every connection and accepts no new ones.
func (p *Proxy) Reject() {
	p.rejecting.Store(true)
	p.Cut()
}

// Freeze keeps connections open and passes nothing on.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thawed = make(chan struct{})
}

// wait waits while the proxy is frozen.
func (p *Proxy) wait() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

// Heal ends all failures.
func (p *Proxy) Heal() {
	p.rejecting.Store(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.thawed != nil {
		close(p.thawed)
		p.thawed = nil
	}
}
