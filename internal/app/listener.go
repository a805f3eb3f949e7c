package app

import (
	"net"
	"net/netip"
	"sync"
)

// limitedListener closes new connections of addresses that have too many open; see networkOf.
// Loopback is exempt, because a reverse proxy on the same machine forwards the requests of
// all clients.
type limitedListener struct {
	net.Listener
	limit int
	mu    sync.Mutex
	open  map[netip.Prefix]int
}

// limitPerIP limits the open connections of each address; 0 means no limit.
func limitPerIP(l net.Listener, limit int) net.Listener {
	if limit == 0 {
		return l
	}
	return &limitedListener{Listener: l, limit: limit, open: map[netip.Prefix]int{}}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, ok := conn.RemoteAddr().(*net.TCPAddr)
		if !ok || remote.IP.IsLoopback() {
			return conn, nil
		}
		from := networkOf(remote.AddrPort().Addr())
		if l.acquire(from) {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(from) })}, nil
		}
		conn.Close()
	}
}

func (l *limitedListener) acquire(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.limit {
		return false
	}
	l.open[from]++
	return true
}

func (l *limitedListener) release(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] <= 0 {
		delete(l.open, from)
	}
}

type limitedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
