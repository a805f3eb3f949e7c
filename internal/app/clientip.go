package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// clientIPResolver tells where requests come from when proxies stand between. Loopback
// is a proxy of the same machine, which speaks for everybody.
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

// address is the nearest address that is not a proxy's: whoever is further away
// can write anything. It is empty when only proxies are known. Of an IPv6
// address it is the network, all of which one household has.
func (c clientIPResolver) resolve(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	ip := peer.Addr()
	for {
		ip = ip.Unmap().WithZone("")
		if !c.isProxy(ip) {
			break
		}
		if len(hops) == 0 {
			return ""
		}
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		if ip, err = netip.ParseAddr(last); err != nil {
			return ""
		}
	}
	if ip.Is6() {
		network, err := ip.Prefix(64)
		if err != nil {
			return ""
		}
		return network.String()
	}
	return ip.String()
}

func (c clientIPResolver) isProxy(ip netip.Addr) bool {
	for _, p := range c.proxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
