package webhook_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"dray/internal/webhook"
)

// trap rejects all connections and records their addresses.
type trap struct {
	mu      sync.Mutex
	dialled []string
}

func (t *trap) connect(_ context.Context, _, address string) (net.Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialled = append(t.dialled, address)
	return nil, syscall.ECONNREFUSED
}

func (t *trap) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	dialled := t.dialled
	t.dialled = nil
	return dialled
}

func newEgress(t testing.TB, o webhook.EgressOptions) *webhook.Egress {
	t.Helper()
	e, err := webhook.NewEgress(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// special lists the special-purpose networks of the IANA registries for IPv4 and
// IPv6, as of 2026, multicast, and the metadata services of cloud providers.
var special = []string{
	"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",

	"::1/128", "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32",
	"2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28",
	"2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",

	"224.0.0.0/4", "ff00::/8", "fec0::/10", "3ffe::/16", "::/96", "::ffff:0:0:0/96", "4000::/3", "e000::/4",
	"169.254.169.254/32", "169.254.170.2/32", "169.254.0.23/32", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
	"fd00:ec2::254/128", "fd20:ce::254/128", "fd00:42::42/128", "fe80::a9fe:a9fe/128",
}

// ends returns the first, the last and a middle address of a network.
func ends(t *testing.T, network string) []netip.Addr {
	t.Helper()
	p, err := netip.ParsePrefix(network)
	if err != nil {
		t.Fatal(err)
	}
	first := p.Masked().Addr()
	last, middle := first.AsSlice(), first.AsSlice()
	for bit := p.Bits(); bit < first.BitLen(); bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
		if bit%3 != 0 {
			middle[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	var all []netip.Addr
	for _, b := range [][]byte{first.AsSlice(), middle, last} {
		if ip, _ := netip.AddrFromSlice(b); !slices.Contains(all, ip) {
			all = append(all, ip)
		}
	}
	return all
}

// notations returns ways to write an IPv4 address as the host of a URL.
func notations(ip netip.Addr) []string {
	b := ip.As4()
	n := uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
	hosts := []string{
		ip.String(), ip.String() + ".",
		fmt.Sprintf("%d", n), fmt.Sprintf("%#x", n), fmt.Sprintf("0%o", n), fmt.Sprintf("%d.", n),
		fmt.Sprintf("%d.%d", b[0], n&0xffffff), fmt.Sprintf("%d.%d.%d", b[0], b[1], n&0xffff),
		fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]), fmt.Sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), fmt.Sprintf("0x%08x", n), fmt.Sprintf("%d.0x%x", b[0], n&0xffffff),
		"[::ffff:" + ip.String() + "]", fmt.Sprintf("[::ffff:%x:%x]", n>>16, n&0xffff), "[::" + ip.String() + "]",
		"[0:0:0:0:0:ffff:" + ip.String() + "]", "[::ffff:0:" + ip.String() + "]", "[64:ff9b::" + ip.String() + "]", "[64:ff9b:1::" + ip.String() + "]",
		fmt.Sprintf("[2002:%x:%x::]", n>>16, n&0xffff), fmt.Sprintf("[2001::%x:%x]", ^n>>16&0xffff, ^n&0xffff),
		fmt.Sprintf("[64:ff9b:1:%x:%x:%x::]", n>>16, n>>8&0xff, n&0xff<<8),
	}
	digits := []rune("０１２３４５６７８９")
	wide := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return digits[r-'0']
		}
		return '．'
	}, ip.String())
	return append(hosts, wide, strings.ReplaceAll(ip.String(), ".", "。"), strings.ReplaceAll(ip.String(), ".", "%2e"),
		"%"+fmt.Sprintf("%x", ip.String()[0])+ip.String()[1:])
}

// forbidden returns URLs of webhooks for which no connection may be made.
func forbidden(t *testing.T) []string {
	t.Helper()
	var urls []string
	for _, network := range special {
		for _, ip := range ends(t, network) {
			if ip.Is4() {
				for _, host := range notations(ip) {
					urls = append(urls, "https://"+host+"/hook")
				}
				continue
			}
			urls = append(urls, "https://["+ip.String()+"]/", "https://["+strings.ToUpper(ip.StringExpanded())+"]:8443/", "https://["+ip.String()+"%25eth0]/")
		}
	}
	for _, host := range []string{
		"localhost", "localhost.", "LOCALHOST", "loopback.test", "mixed.test", "private6.test", "metadata.test", "zoned.test", "many.test",
		"[localhost]", "[public.test]", "public.test\x00.test", "public.test%00", "public.test%20", "-", "public..test", ".public.test", "..",
		"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ", "public.test。", "pub\u200blic.test", strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 130) + "test",
		"[::1", "::1", "[::1]extra", "[]", "1", "0", "0x", "0x7f", "127.1", "127.0.1", "127.0.0.1.2", "256.0.0.1", "public.test.1",
		"public.test:22", "public.test:80", "public.test:0", "public.test:65536", "public.test:-1", "public.test:443x", "public.test:0x1bb",
		"user@public.test", "user:password@public.test", "127.0.0.1@public.test", "public.test@127.0.0.1", "public.test:443@127.0.0.1:443",
		"public.test\\@127.0.0.1", "public.test#@127.0.0.1", " public.test", "public.test\t", "public.test\n", "public.test\r\nX-Injected: 1",
	} {
		urls = append(urls, "https://"+host+"/")
	}
	urls = append(urls, []string{
		"http://public.test/", "HTTP://public.test/", "ftp://public.test/", "file:///etc/passwd", "gopher://public.test/", "data:,x", "unix:///run/x.sock",
		"https:public.test", "https:/public.test", "https:///public.test", "https://", "https://?x", "//public.test/", "public.test", "/", "", "https",
		"wss://public.test/", "javascript:alert(1)", "https+unix://x/", "https://public.test/#fragment", "https://%zz/", "\x00https://public.test/",
	}...)
	return urls
}

// libc resolves names like a C library, which accepts addresses in any notation,
// and like a malicious name server.
func libc(_ context.Context, host string) ([]netip.Addr, error) {
	public := netip.MustParseAddr("93.184.215.14")
	private := map[string][]netip.Addr{
		"loopback.test": {netip.MustParseAddr("127.0.0.1")},
		"localhost":     {netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()},
		"mixed.test":    {public, netip.MustParseAddr("10.0.0.1")},
		"private6.test": {netip.MustParseAddr("fd12::1")},
		"metadata.test": {netip.MustParseAddr("169.254.169.254")},
		"zoned.test":    {netip.MustParseAddr("fd12::1%eth0")},
		"many.test":     append(slices.Repeat([]netip.Addr{public}, 1000), netip.MustParseAddr("::ffff:127.0.0.1")),
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if found := private[name]; found != nil {
		return found, nil
	}
	parts := strings.Split(name, ".")
	var n uint64
	for i, part := range parts {
		value, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return []netip.Addr{public}, nil //nolint:nilerr // a name, not a number
		}
		shift := 8 * (3 - i)
		if i == len(parts)-1 {
			shift = 0
		}
		n |= value << max(shift, 0)
	}
	return []netip.Addr{netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})}, nil
}

func TestEgressBlocksForbiddenAddresses(t *testing.T) {
	var caught trap
	e := newEgress(t, webhook.EgressOptions{Resolve: libc, Connect: caught.connect})
	urls := forbidden(t)
	for _, url := range urls {
		status, reason, _ := e.Post(t.Context(), url, nil, []byte("{}"))
		if status != 0 || (reason != "the address cannot be used" && reason != "the target is not allowed") {
			t.Errorf("%q: %d %s", url, status, reason)
		}
		if err := e.Handshake(t.Context(), url, "check"); err == nil {
			t.Errorf("%q passed the handshake", url)
		}
		if dialled := caught.take(); len(dialled) > 0 {
			t.Errorf("%q connected to %v", url, dialled)
		}
	}
	if len(urls) < 500 {
		t.Errorf("only %d targets", len(urls))
	}
	t.Logf("%d targets", len(urls))

	t.Run("the trap works", func(t *testing.T) {
		for _, url := range []string{
			"https://public.test/", "https://public.test:8443/a?b", "https://93.184.215.14/", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
			"https://xn--bcher-kva.example./", "https://public.test:443/",
		} {
			_, reason, _ := e.Post(t.Context(), url, nil, nil)
			if dialled := caught.take(); len(dialled) != 1 || reason != "could not connect" {
				t.Errorf("%s connected to %v: %s", url, dialled, reason)
			}
		}
	})
}

// TestEgressDialsWhatItChecked uses names that resolve to a different address each
// time.
func TestEgressDialsWhatItChecked(t *testing.T) {
	const sends = 10_000
	var (
		asked  atomic.Int64
		caught trap
	)
	public, loopback := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1")
	e := newEgress(t, webhook.EgressOptions{Connect: caught.connect, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		switch asked.Add(1) % 4 {
		case 0:
			return []netip.Addr{loopback}, nil
		case 1:
			return []netip.Addr{public}, nil
		case 2:
			return []netip.Addr{public, loopback}, nil
		default:
			return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1"), public}, nil
		}
	}})
	for range sends {
		e.Post(t.Context(), "https://rebinding.test/", nil, nil)
	}
	dialled := caught.take()
	for _, address := range dialled {
		if address != "93.184.215.14:443" {
			t.Fatalf("a connection went to %s", address)
		}
	}
	if asked.Load() != sends || len(dialled) != sends/4 {
		t.Errorf("%d lookups and %d connections, want %d and %d", asked.Load(), len(dialled), sends, sends/4)
	}
}

// TestEgressChecksTheSocket bypasses the first check: the address is checked again
// when it is dialed.
func TestEgressChecksTheSocket(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	e := newEgress(t, webhook.EgressOptions{})
	if conn, err := webhook.Dial(t.Context(), e, listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("got %v, %v", conn, err)
	}
}

func TestEgressExceptions(t *testing.T) {
	t.Run("never open what must stay shut", func(t *testing.T) {
		for _, network := range []string{
			"0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254/32", "168.0.0.0/6", "0.0.0.0/8", "224.0.0.0/3", "255.255.255.255/32", "240.0.0.0/4",
			"fe80::/10", "fe80::1/128", "fd00::/8", "fd00:ec2::254/128", "fd20::/16", "fc00::/7", "ff02::1/128", "100.64.0.0/10", "100.100.100.200/32",
			"168.63.129.16/32", "192.0.0.0/24", "::/96", "::ffff:169.254.169.254/128", "::ffff:10.0.0.0/104",
		} {
			if _, err := webhook.NewEgress(webhook.EgressOptions{Allow: []netip.Prefix{netip.MustParsePrefix(network)}}); err == nil {
				t.Errorf("%s can be allowed", network)
			}
		}
	})

	t.Run("open what they name, at every port, and nothing else", func(t *testing.T) {
		var caught trap
		e := newEgress(t, webhook.EgressOptions{
			Connect: caught.connect, Resolve: libc, Ports: []uint16{9999},
			Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48")},
		})
		for url, open := range map[string]bool{
			"https://10.1.2.3/":                    true,
			"https://10.1.2.3:22/":                 true,
			"https://10.2.2.3/":                    false,
			"https://[::1]:9443/":                  true,
			"https://[::ffff:10.1.2.3]/":           false, // this notation is not accepted
			"https://[::ffff:10.2.2.3]/":           false,
			"https://127.0.0.1/":                   false,
			"https://93.184.215.14:9999/":          true,
			"https://93.184.215.14:9998/":          false,
			"https://[64:ff9b::93.184.215.14]/":    true,
			"https://[64:ff9b::10.1.2.3]/":         true,
			"https://[64:ff9b::10.2.2.3]/":         false,
			"https://[64:ff9b::169.254.169.254]/":  false,
			"https://[64:ff9b:1::a9fe:a9fe]/":      false,
			"https://[64:ff9b:1:a9fe:a9:fe00::]/":  false,
			"https://mixed.test/":                  false,
			"https://169.254.169.254/":             false,
			"https://[::ffff:169.254.169.254]/":    false,
			"https://[64:ff9b:2::93.184.215.14]/x": false,
		} {
			e.Post(t.Context(), url, nil, nil)
			if dialled := caught.take(); (len(dialled) > 0) != open {
				t.Errorf("%s connected to %v", url, dialled)
			}
		}
	})
}

// local starts an HTTPS server on loopback and returns an egress that can reach it.
func local(t testing.TB, handler http.Handler) (url string, e *webhook.Egress) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return server.URL, newEgress(t, webhook.EgressOptions{
		Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		ExtraCAs: [][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
	})
}

func TestEgressKeepsHowFailuresBegin(t *testing.T) {
	var code int
	var body string
	url, e := local(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	for name, test := range map[string]struct {
		code       int
		body, want string
	}{
		"an explanation":         {422, " no such order\n", "no such order"},
		"nothing":                {500, "", ""},
		"a long explanation":     {500, strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<10)},
		"bytes that are no text": {500, "a\x00\xffb", "ab"},
		"a success":              {200, "thanks", ""},
	} {
		code, body = test.code, test.body
		if status, _, response := e.Post(t.Context(), url, nil, []byte("{}")); status != test.code || response != test.want {
			t.Errorf("%s: %d %.40q of %d bytes", name, status, response, len(response))
		}
	}
}

func TestEgressFollowsNoRedirects(t *testing.T) {
	var requests atomic.Int64
	var to string
	var code int
	url, e := local(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	}))
	for _, code = range []int{300, 301, 302, 303, 305, 306, 307, 308} {
		for _, to = range []string{url + "/other", "/relative", "http://127.0.0.1:80/", "https://169.254.169.254/latest/", "//localhost/", "https://public.test/"} {
			requests.Store(0)
			if status, reason, _ := e.Post(t.Context(), url, nil, []byte("{}")); status != code || reason != "the answer was not 200" {
				t.Errorf("%d to %s: %d %s", code, to, status, reason)
			}
			if err := e.Handshake(t.Context(), url, "check"); err == nil {
				t.Errorf("%d to %s passed the handshake", code, to)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d to %s made %d requests of 2", code, to, n)
			}
		}
	}
}

func TestEgressIgnoresProxies(t *testing.T) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	var caught atomic.Int64
	go func() {
		for {
			conn, err := proxy.Accept()
			if err != nil {
				return
			}
			caught.Add(1)
			conn.Close()
		}
	}()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.Addr().String())
	}
	t.Setenv("NO_PROXY", "")
	url, e := local(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if status, reason, _ := e.Post(t.Context(), url, nil, nil); status != 200 || reason != "" {
		t.Errorf("got %d %s", status, reason)
	}
	if n := caught.Load(); n > 0 {
		t.Errorf("%d connections to the proxy", n)
	}
}

func TestEgressHandshake(t *testing.T) {
	var (
		reply  func(w http.ResponseWriter, r *http.Request)
		asked  string
		header http.Header
	)
	url, e := local(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, header = r.Method+" "+r.URL.RequestURI(), r.Header
		reply(w, r)
	}))
	echo := func(before, after string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, before+r.URL.Query().Get("check")+after) //nolint:errcheck // the sender may be gone
		}
	}
	t.Run("adds to the query and does not change it otherwise", func(t *testing.T) {
		reply = echo("", "")
		for path, want := range map[string]string{
			"":                        "/?check=a+b%26c",
			"/":                       "/?check=a+b%26c",
			"/hook?z=1&a=2&z=%7e+%20": "/hook?z=1&a=2&z=%7e+%20&check=a+b%26c",
			"/h%6fok?flag":            "/h%6fok?flag&check=a+b%26c",
			"/?":                      "/?check=a+b%26c",
		} {
			if err := e.Handshake(t.Context(), url+path, "a b&c"); err != nil || asked != "GET "+want {
				t.Errorf("%q requested %q: %v", path, asked, err)
			}
			for _, name := range []string{"X-Onfleet-Signature", "Webhook-Signature", "Authorization", "Idempotency-Key"} {
				if header[name] != nil {
					t.Errorf("%q sent %s", path, name)
				}
			}
		}
	})
	for name, tt := range map[string]struct {
		reply func(http.ResponseWriter, *http.Request)
		want  string // part of the error
	}{
		"the text":                     {echo("", ""), ""},
		"the text and a line end":      {echo("", "\n"), ""},
		"the text and two line ends":   {echo("", "\n\n"), "the answer did not match"},
		"the text after a space":       {echo(" ", ""), "the answer did not match"},
		"the text in quotes":           {echo(`"`, `"`), "the answer did not match"},
		"nothing":                      {func(http.ResponseWriter, *http.Request) {}, "the answer did not match"},
		"the text and a lot more":      {echo("", strings.Repeat("x", 1<<20)), "the answer did not match"},
		"the text with another status": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); echo("", "")(w, r) }, "the answer did not match"},
		"the text with an error":       {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); echo("", "")(w, r) }, "the answer did not match"},
		"a closed connection": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack() // the server can
			conn.Close()
		}, "the answer did not match"},
	} {
		t.Run("with "+name, func(t *testing.T) {
			reply = tt.reply
			err := e.Handshake(t.Context(), url, "some-text")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestEgressRetriesOnANewConnection has a server that closes a kept connection when the next
// request arrives.
func TestEgressRetriesOnANewConnection(t *testing.T) {
	var requests atomic.Int64
	url, e := local(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		}
	}))
	for i := range 2 {
		if status, reason, _ := e.Post(t.Context(), url, nil, []byte("{}")); status != 200 || reason != "" {
			t.Errorf("request %d: %d %s", i+1, status, reason)
		}
	}
	if requests.Load() != 3 {
		t.Errorf("the server saw %d requests", requests.Load())
	}
}

// TestCertificatesAreAlwaysVerified searches the repository for code that turns
// verification off.
func TestCertificatesAreAlwaysVerified(t *testing.T) {
	words := []string{"Insecure" + "SkipVerify", "Verify" + "PeerCertificate", "Verify" + "Connection:"}
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // a temporary file of another process
				return nil
			}
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || name == "dray-data" || strings.HasPrefix(name, ".") && name != "..") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files++
		for _, word := range words {
			if strings.Contains(string(text), word) {
				t.Errorf("%s has %s", path, word)
			}
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("read %d files: %v", files, err)
	}
}
