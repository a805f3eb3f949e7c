package edge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
)

// gate is the credentials of the callers of streams.
type gate struct {
	mu      sync.Mutex
	err     error
	checks  int
	revoked chan struct{}
}

func (g *gate) authenticate(context.Context, *http.Request) (lastmile.Principal, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checks++
	return lastmile.Principal{Organization: "acme"}, g.err
}

func (g *gate) channel() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.revoked
}

// revoke makes callers authenticate again, with this result.
func (g *gate) revoke(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	close(g.revoked)
	g.revoked = make(chan struct{})
}

// openStream requests a stream that sends text every millisecond, over a
// connection in memory. It returns the connection and a channel that is closed
// when the handler has returned.
func openStream(t *testing.T, g *gate, method string, text []byte) (net.Conn, <-chan struct{}) {
	t.Helper()
	settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler), Ended: make(chan struct{})}
	ended := make(chan struct{})
	follow := func(ctx context.Context, c *Call, w http.ResponseWriter) error {
		defer close(ended)
		out, err := settings.OpenStream(ctx, c, w)
		for err == nil && settings.Pause(ctx, time.Millisecond) {
			err = out.Send(text)
		}
		return nil
	}
	mux := NewMux(settings, "/v1", Access{Authenticate: g.authenticate, Revoked: g.channel}, Follow("/bells", "Listen", follow))
	client, server := net.Pipe()
	listener := &oneConn{conn: server, closed: make(chan struct{})}
	program := &http.Server{Handler: mux}
	go program.Serve(listener) //nolint:errcheck // it ends with the test
	t.Cleanup(func() {
		client.Close()
		program.Close()
	})
	if _, err := io.WriteString(client, method+" /v1/bells HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return client, ended
}

// oneConn is a listener that accepts one connection.
type oneConn struct {
	conn   net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneConn) Accept() (conn net.Conn, err error) {
	if conn, l.conn = l.conn, nil; conn != nil {
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func TestStreamsEndWhenCredentialsAreRevoked(t *testing.T) {
	for name, read := range map[string]func(net.Conn){
		"of a client that reads":         func(c net.Conn) { io.Copy(io.Discard, c) }, //nolint:errcheck // until it is closed
		"of a client that does not read": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{revoked: make(chan struct{})}
				conn, ended := openStream(t, g, http.MethodGet, []byte(strings.Repeat("x", 100_000)))
				go read(conn)
				time.Sleep(10 * time.Second)
				g.revoke(errors.New("the database is down")) // not a reason
				time.Sleep(10 * time.Second)
				g.revoke(nil) // the key of another caller
				time.Sleep(10 * time.Second)
				select {
				case <-ended:
					t.Fatal("the stream has ended before its key was revoked")
				default:
				}
				begun := time.Now()
				g.revoke(lastmile.Unauthenticated())
				<-ended
				if took := time.Since(begun); took > 1500*time.Millisecond {
					t.Errorf("the stream ended after %v", took)
				}
			})
		})
	}
}

// TestHeadOfAStream: the response to HEAD has the headers of the stream, and ends.
func TestHeadOfAStream(t *testing.T) {
	conn, ended := openStream(t, &gate{revoked: make(chan struct{})}, http.MethodHead, []byte("data: ring\n\n"))
	w, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodHead})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("responded %d %v", w.StatusCode, w.Header)
	}
	<-ended
}

// TestStreamsOfACallerAreLimited opens more streams than a worker may follow at a
// time. Others are not affected.
func TestStreamsOfACallerAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		follow := func(context.Context, *Call, http.ResponseWriter) error { <-proceed; return nil }
		settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		h := NewMux(settings, "/v1", Access{Streams: 2, Authenticate: func(_ context.Context, r *http.Request) (lastmile.Principal, error) {
			return lastmile.Principal{Organization: "acme", Worker: lastmile.WorkerID(r.Header.Get("Authorization"))}, nil
		}}, Follow("/bells", "Hear bells", follow, "text/event-stream"))
		var streams sync.WaitGroup
		begin := func(worker string) {
			streams.Go(func() { serve(h, "GET", worker, nil) })
			synctest.Wait()
		}
		for _, worker := range []string{"ada", "ada", "bob", ""} {
			begin(worker)
		}
		if w := serve(h, "GET", "ada", nil); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("responded to one stream too many with %d %s", w.Code, w.Body)
		}
		proceed <- struct{}{}
		proceed <- struct{}{}
		proceed <- struct{}{}
		proceed <- struct{}{}
		streams.Wait()
		begin("ada")
		close(proceed)
		streams.Wait()
		if w := serve(h, "GET", "ada", nil); w.Code != http.StatusOK {
			t.Errorf("responded %d %s when the others had ended", w.Code, w.Body)
		}
	})
}

// TestRevocationsAreCheckedOnceASecond: a caller that ends its own sessions all the
// time does not make the server authenticate every stream as often.
func TestRevocationsAreCheckedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{revoked: make(chan struct{})}
		conn, _ := openStream(t, g, http.MethodGet, []byte("x"))
		go io.Copy(io.Discard, conn) //nolint:errcheck // until it is closed
		for range 1_000 {
			time.Sleep(10 * time.Millisecond)
			g.revoke(nil)
		}
		if g.checks > 15 {
			t.Errorf("authenticated %d times in ten seconds", g.checks)
		}
	})
}

// TestAConnectionOutlivesItsImage: the goroutine that waits for revoked credentials has
// ended before the connection serves the next request.
func TestAConnectionOutlivesItsImage(t *testing.T) {
	g := &gate{revoked: make(chan struct{})}
	settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	image := bytes.Repeat([]byte("x"), 1_000)
	show := func(_ context.Context, _ *Call, w http.ResponseWriter) error {
		settings.SendImage(w, "image/png", image)
		return nil
	}
	mux := NewMux(settings, "/v1", Access{Authenticate: g.authenticate, Revoked: g.channel}, Follow("/bells/{id}", "See a bell", show))
	client, server := net.Pipe()
	defer client.Close()
	program := &http.Server{Handler: mux}
	go program.Serve(&oneConn{conn: server, closed: make(chan struct{})}) //nolint:errcheck // it ends with the test
	defer program.Close()
	for i := range 100 {
		if _, err := io.WriteString(client, "GET /v1/bells/1 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		reply := make([]byte, 4_000)
		n := 0
		for !bytes.Contains(reply[:n], image) {
			more, err := client.Read(reply[n:])
			if err != nil {
				t.Fatalf("request %d: %v: %s", i, err, reply[:n])
			}
			n += more
		}
		g.revoke(nil)
	}
}
