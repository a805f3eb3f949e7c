package app

import (
	"net/http"
	"testing"
)

func TestCallers(t *testing.T) {
	c, err := newCallers([]string{"10.1.0.0/16"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"a caller without a proxy":             {"203.0.113.9:1234", nil, "203.0.113.9"},
		"who is no proxy is not believed":      {"203.0.113.9:1234", []string{"198.51.100.7"}, "203.0.113.9"},
		"a proxy of the same machine":          {"127.0.0.1:1234", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy of a network":                 {"10.1.2.3:1234", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy behind a proxy":               {"127.0.0.1:1234", []string{"198.51.100.7, 10.1.2.3"}, "198.51.100.7"},
		"the nearest is believed":              {"127.0.0.1:1234", []string{"192.0.2.1, 198.51.100.7"}, "198.51.100.7"},
		"several headers are one":              {"127.0.0.1:1234", []string{"192.0.2.1", "198.51.100.7"}, "198.51.100.7"},
		"an IPv6 address is its network":       {"[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64"},
		"an IPv4 address in an IPv6 one":       {"[::ffff:203.0.113.9]:1234", nil, "203.0.113.9"},
		"a proxy that says nothing":            {"127.0.0.1:1234", nil, ""},
		"a proxy that says nonsense":           {"127.0.0.1:1234", []string{"nonsense"}, ""},
		"a proxy that speaks for itself alone": {"127.0.0.1:1234", []string{"10.1.2.3"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
			if got := c.address(r); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if _, err := newCallers([]string{"10.0.0.1"}); err == nil {
		t.Error("an address is taken for a network")
	}
}
