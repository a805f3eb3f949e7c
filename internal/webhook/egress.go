package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dray/internal/lastmile"
)

// The limits of what leaves; see docs/operations.md.
const (
	connectTimeout   = 5 * time.Second
	tlsTimeout       = 5 * time.Second
	totalTimeout     = 30 * time.Second // with the body
	maxAnswer        = 64 << 10
	maxAnswerHeaders = 32 << 10
	maxDialled       = 8 // addresses of one host
	idleFor          = 30 * time.Second
	idlePerHost      = 8
)

// Reasons why an attempt failed. They say nothing of what is behind an
// address.
const (
	reasonBadURL      = "the address cannot be used"
	reasonForbidden   = "the target is not allowed"
	reasonConnect     = "could not connect"
	reasonCertificate = "the certificate is not valid"
	reasonTimeout     = "no complete answer in time"
	reasonBroken      = "the answer broke off"
	reasonMismatch    = "the answer did not match"
	reasonStatus      = "the answer was not 200"
)

// EgressOptions say what webhooks may reach.
type EgressOptions struct {
	ExtraCAs [][]byte       // certificate authorities in PEM, besides the system's
	Allow    []netip.Prefix // private networks that are excepted
	Ports    []uint16       // besides 443 and 8443; an excepted network has all
	Timeout  time.Duration  // of a whole exchange; 0 is 30 s

	// Resolve looks up a name, and Connect dials an address that was checked;
	// nil is the system's. Simulations have their own.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// Egress is the one way out: for checks of new webhooks, for what they are
// owed, for tests. It speaks HTTPS with a valid certificate only, to addresses
// that are checked before and while they are dialled, and follows nothing.
type Egress struct {
	options EgressOptions
	roots   *x509.CertPool
	via     *http.Transport // and no client, so that nothing can be followed
}

// NewEgress makes the way out. It refuses exceptions that no setting may make.
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
	e.via = &http.Transport{
		DialTLSContext:         e.dial,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxAnswerHeaders,
		IdleConnTimeout:        idleFor,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    idlePerHost,
	}
	return e, nil
}

// Close ends the connections that nothing is sent over.
func (e *Egress) Close() { e.via.CloseIdleConnections() }

// errForbidden is an address that may not be reached.
var errForbidden = errors.New(reasonForbidden)

// errUnconnected is a connection that did not come about.
type errUnconnected struct{ error }

// Unwrap is for errors.Is and errors.As.
func (e errUnconnected) Unwrap() error { return e.error }

// dial connects to a host and sees that it is the host.
func (e *Egress) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errUnconnected{err}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, errUnconnected{err}
	}
	conn, err := e.connect(ctx, network, host, uint16(port))
	if err != nil {
		return nil, errUnconnected{err}
	}
	ctx, cancel := context.WithTimeout(ctx, tlsTimeout)
	defer cancel()
	secure := tls.Client(conn, &tls.Config{RootCAs: e.roots, MinVersion: tls.VersionTLS12, ServerName: strings.TrimSuffix(host, ".")})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, errUnconnected{err}
	}
	return secure, nil
}

// connect resolves a host once, refuses it if any of its addresses may not be
// reached, and connects to one that was checked.
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
	for _, ip := range addresses[:min(len(addresses), maxDialled)] {
		conn, err = e.options.Connect(ctx, network, netip.AddrPortFrom(ip.Unmap(), port).String())
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// control checks an address once more, when the socket is there.
func (e *Egress) control(_ context.Context, _, resolved string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil || !e.allowed(at.Addr(), at.Port()) {
		return errForbidden
	}
	return nil
}

// addresses are those of a host: its own when it is one.
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

// check refuses addresses by their form, before anything is looked up.
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
	if bracketed || !plainName(strings.TrimSuffix(host, ".")) {
		return nil, errors.New(reasonBadURL)
	}
	return u, nil
}

// plainName tells whether a host is a name as the DNS has it. One whose last
// part begins with a digit may be an address in disguise.
func plainName(host string) bool {
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

// allowed tells whether an address may be reached at a port. An IPv4 address
// inside an IPv6 one must be allowed itself.
func (e *Egress) allowed(ip netip.Addr, port uint16) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || never(ip) {
		return false
	}
	for _, inner := range embedded(ip) {
		if never(inner) || (private(inner) && !in(inner, e.options.Allow)) {
			return false
		}
	}
	if in(ip, e.options.Allow) {
		return true
	}
	return !private(ip) && (port == 443 || port == 8443 || slices.Contains(e.options.Ports, port))
}

// Handshake proves that a server wants to be a webhook: it must answer a
// random text with just that text. The error is for the client to see.
func (e *Egress) Handshake(ctx context.Context, raw, check string) error {
	u, err := e.check(raw)
	if err != nil {
		return refused(reasonBadURL)
	}
	if u.RawQuery != "" { // as it is: it may be signed
		u.RawQuery += "&"
	}
	u.RawQuery += "check=" + url.QueryEscape(check)
	status, answer, reason := e.send(ctx, http.MethodGet, u, nil, nil)
	switch {
	case status == 0 && reason == reasonTimeout:
		return refused(reasonConnect) // a port that is shut is nobody's business
	case status == 0 && reason != reasonBroken:
		return refused(reason)
	case status != http.StatusOK || strings.TrimSuffix(string(answer), "\n") != check:
		return refused(reasonMismatch)
	}
	return nil
}

// remedies say what would be right instead.
var remedies = map[string]string{
	reasonBadURL:      "the url must name its server by a DNS name in ASCII or by a plain IP address, with a port from 1 to 65535 or none",
	reasonForbidden:   "webhooks reach public addresses on ports 443 and 8443, and what the operator of this server allows",
	reasonConnect:     "the url must be of a server that speaks HTTPS and answers within seconds",
	reasonCertificate: "the server must show a certificate for its name, in force, from an authority that this server knows",
	reasonMismatch:    "the url must answer GET ?check=TEXT with status 200 and exactly that text",
}

func refused(reason string) error {
	return lastmile.InvalidHook("the webhook could not be validated: %s", reason).Because("%s", remedies[reason])
}

// Post sends a notification. reason is why that failed, and empty when it was
// answered well.
func (e *Egress) Post(ctx context.Context, raw string, header http.Header, body []byte) (status int, reason string) {
	u, err := e.check(raw)
	if err != nil {
		return 0, reasonBadURL
	}
	status, _, reason = e.send(ctx, http.MethodPost, u, header, body)
	if reason == "" && status != http.StatusOK {
		reason = reasonStatus
	}
	return status, reason
}

// send makes one request. The answer is read only when its status is 200: of
// any other, no more matters.
func (e *Egress) send(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) (status int, answer []byte, reason string) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Timeout)
	defer cancel()
	request := (&http.Request{Method: method, URL: u, Host: u.Host, Header: header}).WithContext(ctx)
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if len(body) > 0 {
		request.ContentLength = int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	request.Header["User-Agent"] = userAgent
	request.Header["Accept-Encoding"] = identity
	// Not sent. It says that a request may go out again, over a new connection,
	// when the server closed the kept one at that very moment.
	request.Header["Idempotency-Key"] = nil
	response, err := e.via.RoundTrip(request)
	if err != nil {
		return 0, nil, why(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ContentLength == 0 {
		return response.StatusCode, nil, ""
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return response.StatusCode, nil, why(ctx, err)
	}
	return response.StatusCode, answer, ""
}

var userAgent, identity = []string{"Dray-Webhook/1"}, []string{"identity"}

// why turns a failure into one of few reasons.
func why(ctx context.Context, err error) string {
	var (
		certificate *tls.CertificateVerificationError
		unconnected errUnconnected
	)
	switch {
	case errors.Is(err, errForbidden):
		return reasonForbidden
	case errors.As(err, &certificate):
		return reasonCertificate
	case ctx.Err() != nil || timedOut(err):
		return reasonTimeout
	case errors.As(err, &unconnected):
		return reasonConnect
	}
	return reasonBroken
}

func timedOut(err error) bool {
	var timeout net.Error
	if unconnected, ok := errors.AsType[errUnconnected](err); ok {
		err = unconnected.error
	}
	return errors.As(err, &timeout) && timeout.Timeout()
}
