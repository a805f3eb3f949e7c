package app

import (
	"net"
	"net/netip"
	"sync"
)

// limitedListener closes new connections of addresses that have too many open.
// Loopback is exempt: a reverse proxy on the same machine forwards the requests
// of all clients.
type limitedListener struct {
	net.Listener
	limit int
	mu    sync.Mutex
	open  map[netip.Addr]int
}

// limitPerIP limits the open connections of each address; 0 means no limit.
func limitPerIP(l net.Listener, limit int) net.Listener {
	if limit == 0 {
		return l
	}
	return &limitedListener{Listener: l, limit: limit, open: map[netip.Addr]int{}}
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
		ip := remote.AddrPort().Addr().Unmap()
		if l.acquire(ip) {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(ip) })}, nil
		}
		conn.Close()
	}
}

func (l *limitedListener) acquire(ip netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[ip] >= l.limit {
		return false
	}
	l.open[ip]++
	return true
}

func (l *limitedListener) release(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[ip]--; l.open[ip] <= 0 {
		delete(l.open, ip)
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
