package app

import (
	"net/http"
	"testing"
)

func TestClientIP(t *testing.T) {
	c, err := newClientIPResolver([]string{"10.1.0.0/16"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"a client without a proxy":       {"203.0.113.9:1234", nil, "203.0.113.9"},
		"an untrusted peer's header":     {"203.0.113.9:1234", []string{"198.51.100.7"}, "203.0.113.9"},
		"a proxy on the same machine":    {"127.0.0.1:1234", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy in a trusted network":   {"10.1.2.3:1234", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy behind a proxy":         {"127.0.0.1:1234", []string{"198.51.100.7, 10.1.2.3"}, "198.51.100.7"},
		"the nearest untrusted address":  {"127.0.0.1:1234", []string{"192.0.2.1, 198.51.100.7"}, "198.51.100.7"},
		"several headers":                {"127.0.0.1:1234", []string{"192.0.2.1", "198.51.100.7"}, "198.51.100.7"},
		"an IPv6 address is its network": {"[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64"},
		"an IPv4 address in an IPv6 one": {"[::ffff:203.0.113.9]:1234", nil, "203.0.113.9"},
		"an address with a port":         {"127.0.0.1:1234", []string{"198.51.100.7:5678"}, "198.51.100.7"},
		"an IPv6 address with a port":    {"127.0.0.1:1234", []string{"[2001:db8:1:2::3]:443"}, "2001:db8:1:2::/64"},
		"an IPv6 address in brackets":    {"127.0.0.1:1234", []string{"[2001:db8:1:2::3]"}, "2001:db8:1:2::/64"},
		"a proxy with a port":            {"127.0.0.1:1234", []string{"198.51.100.7, 10.1.2.3:80"}, "198.51.100.7"},
		"brackets around nothing":        {"127.0.0.1:1234", []string{"[]"}, ""},
		"a proxy without the header":     {"127.0.0.1:1234", nil, ""},
		"an invalid header":              {"127.0.0.1:1234", []string{"nonsense"}, ""},
		"only proxies":                   {"127.0.0.1:1234", []string{"10.1.2.3"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
			if got := c.resolve(r); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	whole := &http.Request{RemoteAddr: "10.1.2.3:1234", Header: http.Header{"X-Forwarded-For": {"2001:db8:1:2::3"}}}
	if got := c.client(whole); got != "2001:db8:1:2::3" {
		t.Errorf("the whole address is %q", got)
	}
	if _, err := newClientIPResolver([]string{"10.0.0.1"}); err == nil {
		t.Error("an address was accepted as a network")
	}
}
