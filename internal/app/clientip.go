package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// clientIPResolver finds the addresses of clients behind reverse proxies. Loopback
// is always trusted as a proxy on the same machine.
type clientIPResolver struct{ proxies []netip.Prefix }

func newClientIPResolver(networks []string) (clientIPResolver, error) {
	c := clientIPResolver{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for _, text := range networks {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return c, fmt.Errorf("--trusted-proxy: %q is not a network such as 10.0.0.0/8", text)
		}
		c.proxies = append(c.proxies, prefix.Masked())
	}
	return c, nil
}

// resolve returns the address of the client for limits: the network of an IPv6 address, see
// networkOf, and "" if the address is unknown.
func (c clientIPResolver) resolve(r *http.Request) string {
	ip, known := c.find(r)
	if !known {
		return ""
	}
	if network := networkOf(ip); network.Bits() < ip.BitLen() {
		return network.String()
	}
	return ip.String()
}

// client returns the whole address of the client, or "" if it is unknown.
func (c clientIPResolver) client(r *http.Request) string {
	if ip, known := c.find(r); known {
		return ip.String()
	}
	return ""
}

// find returns the nearest address that is not a trusted proxy; entries of
// X-Forwarded-For beyond it could be forged. It reports false if there are only proxies.
func (c clientIPResolver) find(r *http.Request) (netip.Addr, bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	ip := peer.Addr()
	for {
		ip = ip.Unmap().WithZone("")
		if !c.isProxy(ip) {
			return ip, true
		}
		if len(hops) == 0 {
			return netip.Addr{}, false
		}
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		if ip, err = parseHop(last); err != nil {
			return netip.Addr{}, false
		}
	}
}

// parseHop parses an entry of X-Forwarded-For. Some proxies add the port, and brackets around
// an IPv6 address.
func parseHop(text string) (netip.Addr, error) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr(), nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	return netip.ParseAddr(text)
}

// networkOf returns the network that counts as one client for limits by address: an IPv4
// address, or the /64 network of an IPv6 address, because one customer has all of it.
func networkOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked()
}

func (c clientIPResolver) isProxy(ip netip.Addr) bool {
	for _, p := range c.proxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
