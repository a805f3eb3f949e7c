package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The limits of outgoing requests; see docs/operations.md.
const (
	connectTimeout = 5 * time.Second
	tlsTimeout     = 5 * time.Second
	totalTimeout   = 30 * time.Second // limit of a request, including the response body
	maxResponse    = 64 << 10
	maxExcerpt     = 1 << 10 // bytes kept of a response whose status is not 200
	excerptTimeout = time.Second / 2
	maxHeaders     = 32 << 10
	maxDialed      = 8 // addresses of one host that are tried
	idleTimeout    = 30 * time.Second
	idlePerHost    = 8
)

// EgressOptions configure which targets webhooks can reach.
type EgressOptions struct {
	ExtraCAs [][]byte       // certificate authorities in PEM, in addition to the system's
	Allow    []netip.Prefix // private networks that are allowed
	Ports    []uint16       // ports besides 443 and 8443; an allowed network is open on every port
	Timeout  time.Duration  // limit of a request including its response; default 30 s

	// Resolve looks up a name, and Connect dials an address that was checked.
	// They default to the system's; simulations set their own.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// Egress makes every request to a webhook: handshakes, notifications and tests.
// It requires HTTPS with a valid certificate, checks addresses before and while
// they are dialed, and never follows a redirect.
type Egress struct {
	options   EgressOptions
	roots     *x509.CertPool
	transport *http.Transport // without an http.Client, which would follow redirects
}

// NewEgress returns an Egress. It rejects options that would open networks which
// must stay blocked.
func NewEgress(o EgressOptions) (*Egress, error) {
	for _, prefix := range o.Allow {
		if err := checkException(prefix); err != nil {
			return nil, err
		}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, pem := range o.ExtraCAs {
		if !roots.AppendCertsFromPEM(pem) {
			return nil, errors.New("a file of certificate authorities holds no certificate in PEM form")
		}
	}
	if o.Timeout == 0 {
		o.Timeout = totalTimeout
	}
	e := &Egress{options: o, roots: roots}
	if o.Resolve == nil {
		e.options.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Connect == nil {
		e.options.Connect = (&net.Dialer{Timeout: connectTimeout, ControlContext: e.control}).DialContext
	}
	e.transport = &http.Transport{
		DialTLSContext:         e.dial,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaders,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    idlePerHost,
	}
	return e, nil
}

// Close closes idle connections.
func (e *Egress) Close() { e.transport.CloseIdleConnections() }

// errForbidden reports an address that webhooks must not reach.
var errForbidden = errors.New(reasonForbidden)

// connectError is an error before the TLS connection was established.
type connectError struct{ error }

// Unwrap supports errors.Is and errors.As.
func (e connectError) Unwrap() error { return e.error }

// dial connects to a host and verifies its certificate.
func (e *Egress) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, connectError{err}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, connectError{err}
	}
	conn, err := e.connect(ctx, network, host, uint16(port))
	if err != nil {
		return nil, connectError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, tlsTimeout)
	defer cancel()
	secure := tls.Client(conn, &tls.Config{RootCAs: e.roots, MinVersion: tls.VersionTLS12, ServerName: strings.TrimSuffix(host, ".")})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, connectError{err}
	}
	return secure, nil
}

// connect resolves a host once, fails if any of its addresses is forbidden, and
// connects to one of the addresses that were checked.
func (e *Egress) connect(ctx context.Context, network, host string, port uint16) (net.Conn, error) {
	addresses, err := e.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, ip := range addresses {
		if !e.allowed(ip, port) {
			return nil, errForbidden
		}
	}
	var conn net.Conn
	for _, ip := range addresses[:min(len(addresses), maxDialed)] {
		conn, err = e.options.Connect(ctx, network, netip.AddrPortFrom(ip.Unmap(), port).String())
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// control checks an address again when the socket is created.
func (e *Egress) control(_ context.Context, _, resolved string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil || !e.allowed(at.Addr(), at.Port()) {
		return errForbidden
	}
	return nil
}

// addresses resolves a host, which may be an address itself.
func (e *Egress) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	found, err := e.options.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	return found, nil
}

// check rejects malformed URLs before any name is looked up.
func (e *Egress) check(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New(reasonBadURL)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New(reasonBadURL)
		}
	}
	host, bracketed := u.Hostname(), strings.HasPrefix(u.Host, "[")
	ip, err := netip.ParseAddr(host)
	if err == nil && ip.Is6() == bracketed && !ip.Is4In6() && ip.Zone() == "" {
		return u, nil
	}
	if bracketed || !validHostname(strings.TrimSuffix(host, ".")) {
		return nil, errors.New(reasonBadURL)
	}
	return u, nil
}

// validHostname reports whether host is a DNS name. A name whose last label
// begins with a digit is rejected, because some resolvers read it as an address.
func validHostname(host string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if len(host) > 253 || last == "" || (last[0] >= '0' && last[0] <= '9') {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			switch {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			default:
				return false
			}
		}
	}
	return true
}

// allowed reports whether webhooks can reach an address and port. An IPv4
// address embedded in an IPv6 address must be allowed as well.
func (e *Egress) allowed(ip netip.Addr, port uint16) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || isAlwaysBlocked(ip) {
		return false
	}
	for _, inner := range embedded(ip) {
		if isAlwaysBlocked(inner) || (isPrivate(inner) && !in(inner, e.options.Allow)) {
			return false
		}
	}
	if in(ip, e.options.Allow) {
		return true
	}
	return !isPrivate(ip) && (port == 443 || port == 8443 || slices.Contains(e.options.Ports, port))
}
