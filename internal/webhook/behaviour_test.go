package webhook_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
)

// behaviour is a way in which a receiver responds, and the attempt that must be
// recorded.
type behaviour struct {
	connect func(ctx context.Context) error // called instead of accepting the connection
	raw     func(net.Conn)                  // called instead of using TLS
	tls     func(authority) *tls.Config     // used instead of a valid certificate
	reply   func(conn net.Conn)             // called after a request was read; then the connection is closed

	status int
	reason string
	took   time.Duration // 0 means less than a second
}

// The reasons of failed attempts.
const (
	delivered   = ""
	notTwo      = "the answer was not 200"
	broken      = "the answer broke off"
	timeout     = "no complete answer in time"
	connecting  = "could not connect"
	certificate = "the certificate is not valid"
)

const (
	head200 = "HTTP/1.1 200 OK\r\n"
	head404 = "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found"
)

// say responds with a text and closes the connection.
func say(text string) func(net.Conn) {
	return func(conn net.Conn) { io.WriteString(conn, text) } //nolint:errcheck // the sender may be gone
}

// status responds with a status.
func status(code int, header ...string) behaviour {
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: 0\r\n", code, http.StatusText(code))
	for _, line := range header {
		text += line + "\r\n"
	}
	return behaviour{reply: say(text + "\r\n"), status: code, reason: notTwo}
}

// after responds with several texts, each after a pause.
func after(parts ...any) func(net.Conn) {
	return func(conn net.Conn) {
		for _, part := range parts {
			switch part := part.(type) {
			case time.Duration:
				time.Sleep(part)
			case string:
				io.WriteString(conn, part) //nolint:errcheck // the sender may be gone
			}
		}
	}
}

// endless responds with a head and then with the same text until the sender stops reading. It
// counts the bytes that the sender has read.
func endless(head, more string, sent *atomic.Int64) func(net.Conn) {
	return func(conn net.Conn) {
		io.WriteString(conn, head) //nolint:errcheck // the sender may be gone
		for {
			n, err := io.WriteString(conn, more)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

// drip responds with a head and then with one byte a second.
func drip(head string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for {
			time.Sleep(time.Second)
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
		}
	}
}

// bomb returns a response whose body is a compressed gigabyte of zeros.
func bomb() string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	zeros := make([]byte, 1<<20)
	for range 32 {
		w.Write(zeros) //nolint:errcheck // a buffer accepts all bytes
	}
	w.Close()
	return fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", head200, 32*out.Len(), strings.Repeat(out.String(), 32))
}

// with changes the certificate of a receiver.
func with(change func(*x509.Certificate)) func(authority) *tls.Config {
	return func(a authority) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{a.issue(change)}}
	}
}

// behaviours returns all behaviours by name. sent counts the bytes read from
// endless responses.
func behaviours(sent *atomic.Int64) map[string]behaviour {
	none := "Content-Length: 0\r\n\r\n"
	long := strings.Repeat("X-Long: "+strings.Repeat("x", 1000)+"\r\n", 100)
	all := map[string]behaviour{
		"200":                                  {reply: say(head200 + none), status: 200},
		"200 with a body":                      {reply: say(head200 + "Content-Length: 5\r\n\r\nthank"), status: 200},
		"200 in chunks":                        {reply: say(head200 + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), status: 200},
		"200 of HTTP/1.0":                      {reply: say("HTTP/1.0 200 OK\r\n\r\nbye"), status: 200},
		"200 and an end without a length":      {reply: say(head200 + "Connection: close\r\n\r\nbye"), status: 200},
		"200 and a body without end":           {reply: endless(head200+"Transfer-Encoding: chunked\r\n\r\n", "3e8\r\n"+strings.Repeat("x", 1000)+"\r\n", sent), status: 200},
		"200 and a decompression bomb":         {reply: say(bomb()), status: 200},
		"200 after 100":                        {reply: say("HTTP/1.1 100 Continue\r\n\r\n" + head200 + none), status: 200},
		"200 after 103":                        {reply: say("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + head200 + none), status: 200},
		"200 just in time":                     {reply: after(29_900*time.Millisecond, head200+none), status: 200, took: 29_900 * time.Millisecond},
		"200 just too late":                    {reply: after(30_100*time.Millisecond, head200+none), reason: timeout, took: 30 * time.Second},
		"200 whose body is too late":           {reply: after(29*time.Second, head200+"Content-Length: 1\r\n\r\n", 2*time.Second, "x"), status: 200, reason: timeout, took: 30 * time.Second},
		"200 and a body that drips":            {reply: drip(head200 + "Content-Length: 1000\r\n\r\n"), status: 200, reason: timeout, took: 30 * time.Second},
		"200 and a truncated body":             {reply: say(head200 + "Content-Length: 100\r\n\r\nabc"), status: 200, reason: broken},
		"200 and invalid chunks":               {reply: say(head200 + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), status: 200, reason: broken},
		"headers that drip":                    {reply: drip("HTTP/1.1 200 OK\r\nX-Drip: "), reason: timeout, took: 30 * time.Second},
		"headers of 100 kB":                    {reply: say(head200 + long + none), reason: broken},
		"headers without end":                  {reply: endless(head200+"X-Long: ", strings.Repeat("x", 1000), sent), reason: broken},
		"100 without end":                      {reply: endless("", "HTTP/1.1 100 Continue\r\n\r\n", sent), reason: broken},
		"two lengths":                          {reply: say(head200 + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), reason: broken},
		"no status":                            {reply: say("HTTP/1.1 fine\r\n\r\n"), reason: broken},
		"not HTTP":                             {reply: say("220 mail.example ESMTP\r\n"), reason: broken},
		"nothing":                              {reply: func(net.Conn) { time.Sleep(time.Hour) }, reason: timeout, took: 30 * time.Second},
		"a cut":                                {reply: say(""), reason: broken},
		"a cut in the headers":                 {reply: say("HTTP/1.1 200 OK\r\nContent-"), reason: broken},
		"another protocol":                     {reply: say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), status: 101, reason: notTwo},
		"404 and a body":                       {reply: say(head404), status: 404, reason: notTwo},
		"500 and a body that drips":            {reply: drip("HTTP/1.1 500 Oh No\r\nContent-Length: 1000\r\n\r\n"), status: 500, reason: notTwo},
		"a refused connection":                 {connect: func(context.Context) error { return syscall.ECONNREFUSED }, reason: connecting},
		"no route":                             {connect: func(context.Context) error { return syscall.EHOSTUNREACH }, reason: connecting},
		"a black hole":                         {connect: blackHole, reason: timeout, took: 30 * time.Second},
		"a connection that is cut":             {raw: say(""), reason: connecting},
		"a connection that says nothing":       {raw: func(net.Conn) { time.Sleep(time.Hour) }, reason: timeout, took: 5 * time.Second},
		"HTTP without TLS":                     {raw: say("HTTP/1.1 400 Bad Request\r\n\r\n"), reason: connecting},
		"a certificate that has expired":       {tls: with(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Second) }), reason: certificate},
		"a certificate that is not valid yet":  {tls: with(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }), reason: certificate},
		"a certificate of another host":        {tls: with(func(c *x509.Certificate) { c.DNSNames = []string{"other.test"} }), reason: certificate},
		"a certificate of no host":             {tls: with(func(c *x509.Certificate) { c.DNSNames = nil; c.Subject.CommonName = "receiver.test" }), reason: certificate},
		"a certificate for clients":            {tls: with(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), reason: certificate},
		"a certificate that it signed itself":  {tls: selfSigned, reason: certificate},
		"a certificate of an unknown issuer":   {tls: func(authority) *tls.Config { return with(func(*x509.Certificate) {})(newAuthority()) }, reason: certificate},
		"TLS 1.0":                              {tls: only(tls.VersionTLS10), reason: connecting},
		"TLS 1.1":                              {tls: only(tls.VersionTLS11), reason: connecting},
		"TLS 1.2":                              {tls: only(tls.VersionTLS12), reply: say(head200 + none), status: 200},
		"a required certificate of the client": {tls: demanding, reason: broken},
	}
	for _, code := range []int{201, 202, 204, 206, 301, 302, 307, 308, 400, 401, 410, 429, 500, 503} {
		all[fmt.Sprint(code)] = status(code, "Location: https://127.0.0.1/", "Retry-After: 300")
	}
	return all
}

func blackHole(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func only(version uint16) func(authority) *tls.Config {
	return func(a authority) *tls.Config {
		c := with(func(*x509.Certificate) {})(a)
		c.MinVersion, c.MaxVersion = version, version
		return c
	}
}

func demanding(a authority) *tls.Config {
	c := with(func(*x509.Certificate) {})(a)
	c.ClientAuth = tls.RequireAnyClientCert
	return c
}

func selfSigned(authority) *tls.Config {
	key, template := newKey(), leaf()
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func newAuthority() authority {
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return authority{certificate: parsed, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// leaf returns a valid certificate of a receiver.
func leaf() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "receiver"}, DNSNames: []string{"*.receiver.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func (a authority) issue(change func(*x509.Certificate)) tls.Certificate {
	template, key := leaf(), newKey()
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// take serves one connection.
func (b behaviour) take(conn net.Conn, a authority) {
	defer conn.Close()
	if b.raw != nil {
		b.raw(conn)
		return
	}
	config := with(func(*x509.Certificate) {})(a)
	if b.tls != nil {
		config = b.tls(a)
	}
	secure := tls.Server(conn, config)
	request, err := http.ReadRequest(bufio.NewReader(secure))
	if err != nil {
		return
	}
	io.Copy(io.Discard, request.Body) //nolint:errcheck // the sender notices
	b.reply(secure)
	secure.Close()
}

// patient is a connection that buffers what the other end writes, like a socket.
type patient struct {
	net.Conn
	read chan []byte
	rest []byte
}

func newPatient(conn net.Conn) *patient {
	p := &patient{Conn: conn, read: make(chan []byte, 1024)}
	go func() {
		defer close(p.read)
		for {
			part := make([]byte, 16<<10)
			n, err := conn.Read(part)
			p.read <- part[:n]
			if err != nil {
				return
			}
		}
	}()
	return p
}

// Read implements net.Conn.
func (p *patient) Read(into []byte) (int, error) {
	for len(p.rest) == 0 {
		part, ok := <-p.read
		if !ok {
			return 0, io.EOF
		}
		p.rest = part
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// TestReceivers has a webhook for each behaviour and sends through Egress over
// connections in memory.
func TestReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		all, ca := behaviours(&sent), newAuthority()
		w := newFixture(t)
		defer w.close()
		var (
			hooks = map[string]lastmile.WebhookID{}
			names = map[netip.Addr]string{}
			found = map[string]netip.Addr{}
		)
		for name := range all {
			id := lastmile.WebhookID(newID())
			ip := netip.AddrFrom4([4]byte{93, 184, 1, byte(len(hooks))})
			host := strings.ToLower(string(id)) + ".receiver.test"
			hooks[name], names[ip], found[host] = id, name, ip
			w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
				return tx.SaveWebhook(ctx, lastmile.Webhook{
					ID: id, Organization: acme, Created: now(), Modified: now(), URL: "https://" + host + "/", Trigger: created, Enabled: true,
				})
			})
		}
		egress := newEgress(t, webhook.EgressOptions{
			ExtraCAs: [][]byte{ca.pem},
			Resolve:  func(_ context.Context, host string) ([]netip.Addr, error) { return []netip.Addr{found[host]}, nil },
			Connect: func(ctx context.Context, _, address string) (net.Conn, error) {
				b := all[names[netip.MustParseAddrPort(address).Addr()]]
				if b.connect != nil {
					return nil, b.connect(ctx)
				}
				client, server := net.Pipe()
				go b.take(newPatient(server), ca)
				return client, nil
			},
		})
		sender := w.sender(nil)
		sender.Poster = egress
		w.run(func() {
			w.appendEvents(created, 1)
			time.Sleep(20 * time.Minute)
			egress.Close()
		}, sender)

		for name, b := range all {
			hook, notifications := w.state(hooks[name])
			if len(notifications) != 1 || len(notifications[0].Attempts) != 1 {
				t.Errorf("%s: %d notifications", name, len(notifications))
				continue
			}
			a := notifications[0].Attempts[0]
			if a.Status != b.status || a.Reason != b.reason {
				t.Errorf("%s: recorded as %d %q, want %d %q", name, a.Status, a.Reason, b.status, b.reason)
			}
			if a.Took < b.took || a.Took > b.took+time.Second {
				t.Errorf("%s: took %v, want %v", name, a.Took, b.took)
			}
			if ok := b.status == 200 && b.reason == delivered; ok != (hook.Count == 1) || ok != (hook.FailureStreak == 0) {
				t.Errorf("%s: the webhook is %+v", name, hook)
			}
		}
		if sent.Load() > 256<<10 {
			t.Errorf("%d bytes were read of endless responses", sent.Load())
		}
		if len(all) < 40 {
			t.Errorf("only %d behaviours", len(all))
		}
		time.Sleep(2 * time.Hour) // until the receivers that sleep have ended
	})
}
