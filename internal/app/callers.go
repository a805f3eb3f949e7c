package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// callers tells where requests come from when proxies stand between. Loopback
// is a proxy of the same machine, which speaks for everybody.
type callers struct{ proxies []netip.Prefix }

func newCallers(networks []string) (callers, error) {
	c := callers{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
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
func (c callers) address(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	at := peer.Addr()
	for {
		at = at.Unmap().WithZone("")
		if !c.trusts(at) {
			break
		}
		if len(hops) == 0 {
			return ""
		}
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		if at, err = netip.ParseAddr(last); err != nil {
			return ""
		}
	}
	if at.Is6() {
		network, err := at.Prefix(64)
		if err != nil {
			return ""
		}
		return network.String()
	}
	return at.String()
}

func (c callers) trusts(at netip.Addr) bool {
	for _, p := range c.proxies {
		if p.Contains(at) {
			return true
		}
	}
	return false
}
