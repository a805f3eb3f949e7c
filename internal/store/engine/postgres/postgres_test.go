package postgres

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/storetest"
)

func TestOnlyAnOldPostgreSQLIsRefused(t *testing.T) {
	tests := map[string]struct {
		major int
		known bool
	}{
		"PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu": {15, true},
		"PostgreSQL 14.2 on aarch64":                                     {14, true},
		"PostgreSQL 18beta1 on x86_64":                                   {18, true},
		"PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64":                       {0, false},
		"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)":                 {0, false},
		"": {0, false},
	}
	for text, want := range tests {
		if major, known := postgresMajor(text); major != want.major || known != want.known {
			t.Errorf("%q: %d %t", text, major, known)
		}
	}
}

func TestSeveralNodesMayStartOnAFreshDatabase(t *testing.T) {
	for range 3 {
		server := storetest.Postgres(t)
		const nodes = 8
		var wg sync.WaitGroup
		for range nodes {
			wg.Go(func() {
				e, err := Open(t.Context(), options(server))
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(e.Ping(t.Context()), e.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		e, err := Open(t.Context(), options(server))
		must(t, err)
		var versions int64
		must(t, e.Direct(t.Context(), func(c engine.Conn) error {
			return c.Row(t.Context(), `SELECT count(*) FROM schema_version`).Scan(&versions)
		}))
		if versions != 2 {
			t.Errorf("%d versions", versions)
		}
		must(t, e.Close())
	}
}

func TestPostgreSQLWithANewerSchemaIsRefused(t *testing.T) {
	o := options(storetest.Postgres(t))
	e, err := Open(t.Context(), o)
	must(t, err)
	must(t, e.Close())
	o.Migrations = enginetest.OlderSchema(t)
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "newer dray") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatDoesNotAnswerIsOverload(t *testing.T) {
	server := newProxy(t)
	e, err := Open(t.Context(), options(with(t, server.url, "connect_timeout", "2")))
	must(t, err)
	defer e.Close()
	must(t, e.Write(t.Context(), put(t.Context(), "a", 1)))
	for name, fault := range map[string]func(){"refuses": server.refuse, "is silent": server.freeze} {
		t.Run("one that "+name, func(t *testing.T) {
			fault()
			defer server.heal()
			time.Sleep(1100 * time.Millisecond) // a connection used just now is not probed
			for what, call := range map[string]func() error{
				"write": func() error { return e.Write(t.Context(), put(t.Context(), "b", 1)) },
				"read": func() error {
					return e.Read(t.Context(), func(c engine.Conn) error { return engine.AtHead(t.Context(), c, 1) })
				},
				"direct": func() error { return e.Ping(t.Context()) },
			} {
				if err := call(); codeOf(err) != lastmile.CodeOverloaded {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
		waitFor(t, func() bool { return e.Ping(t.Context()) == nil })
	}
}

func TestAFullPoolIsOverload(t *testing.T) {
	server := with(t, with(t, storetest.Postgres(t), "pool_max_conns", "1"), "connect_timeout", "2")
	e, err := Open(t.Context(), options(server))
	must(t, err)
	defer e.Close()
	must(t, e.Direct(t.Context(), func(engine.Conn) error {
		if err := e.Write(t.Context(), put(t.Context(), "a", 1)); codeOf(err) != lastmile.CodeOverloaded {
			t.Errorf("got %v", err)
		}
		return nil
	}))
}

func TestALostConnection(t *testing.T) {
	server := newProxy(t)
	e, err := Open(t.Context(), options(server.url))
	must(t, err)
	defer e.Close()
	ctx := t.Context()
	t.Run("before the commit is replaced and the operation runs again", func(t *testing.T) {
		var runs atomic.Int32
		must(t, e.Write(ctx, func(c engine.Conn) error {
			if err := put(ctx, "once", 1)(c); err != nil {
				return err
			}
			if runs.Add(1) == 1 {
				server.cut()
			}
			return put(ctx, "twice", 1)(c)
		}))
		if n := count(t, e); n != 2 || runs.Load() != 2 {
			t.Errorf("%d rows after %d runs", n, runs.Load())
		}
	})
	t.Run("during the commit is reported and the operation does not run again", func(t *testing.T) {
		var runs atomic.Int32
		server.cutAfterCommit.Store(true)
		err := e.Write(ctx, func(c engine.Conn) error {
			runs.Add(1)
			return put(ctx, "perhaps", 1)(c)
		})
		if !errors.Is(err, errUnknownOutcome) || runs.Load() != 1 {
			t.Errorf("got %v after %d runs", err, runs.Load())
		}
		waitFor(t, func() bool { return e.Ping(ctx) == nil && count(t, e) == 3 }) // it lost the answer alone
	})
}

// with is a URL with a parameter set.
func with(t testing.TB, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// proxy stands between an engine and the server and makes trouble.
type proxy struct {
	url            string
	target         string
	refusing       atomic.Bool
	frozen         atomic.Bool
	cutAfterCommit atomic.Bool

	mu    sync.Mutex
	conns []net.Conn
}

// newProxy starts a proxy to a fresh database.
func newProxy(t *testing.T) *proxy {
	t.Helper()
	u, err := url.Parse(storetest.Postgres(t))
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{target: u.Host}
	u.Host = l.Addr().String()
	p.url = u.String()
	t.Cleanup(func() {
		_ = l.Close()
		p.heal()
		p.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(c)
		}
	}()
	return p
}

// serve joins a client with the server.
func (p *proxy) serve(c net.Conn) {
	s, err := net.Dial("tcp", p.target)
	if err != nil || p.refusing.Load() {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, c, s)
	p.mu.Unlock()
	go p.pump(s, c, true)
	go p.pump(c, s, false)
}

// pump copies bytes one way.
func (p *proxy) pump(to, from net.Conn, request bool) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for p.frozen.Load() {
			time.Sleep(time.Millisecond)
		}
		if request && bytes.Contains(buf[:n], []byte("commit")) && p.cutAfterCommit.CompareAndSwap(true, false) {
			_ = from.Close() // the server gets it, its answer is lost
		}
		if _, wrong := to.Write(buf[:n]); wrong != nil || err != nil {
			time.Sleep(20 * time.Millisecond) // let the server finish
			return
		}
	}
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// refuse closes every connection and takes no new one.
func (p *proxy) refuse() {
	p.refusing.Store(true)
	p.cut()
}

// freeze keeps connections open and says nothing.
func (p *proxy) freeze() { p.frozen.Store(true) }

// heal ends the trouble.
func (p *proxy) heal() {
	p.frozen.Store(false)
	p.refusing.Store(false)
}

func TestARestartOfTheServerIsSurvived(t *testing.T) {
	server := newProxy(t)
	e, err := Open(t.Context(), options(server.url))
	must(t, err)
	defer e.Close()
	var wg sync.WaitGroup
	for range 16 { // so that there are many connections to break
		wg.Go(func() {
			_ = e.Read(t.Context(), func(engine.Conn) error { time.Sleep(50 * time.Millisecond); return nil })
		})
	}
	wg.Wait()
	server.cut()
	must(t, e.Write(t.Context(), put(t.Context(), "after", 1)))
	must(t, e.Read(t.Context(), func(c engine.Conn) error { return engine.AtHead(t.Context(), c, 2) }))
}
