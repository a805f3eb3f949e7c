package webhook

import (
	"fmt"
	"net/netip"
)

// prefixes parses constant networks. It panics on a malformed one.
func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// alwaysBlocked are networks that no setting can open: the metadata services of
// cloud providers, and addresses that are not a single host.
var alwaysBlocked = prefixes(
	"0.0.0.0/8",
	"100.100.100.200/32",
	"168.63.129.16/32",
	"169.254.0.0/16",
	"192.0.0.192/32",
	"224.0.0.0/4",
	"255.255.255.255/32",
	"::/128",
	"fd00:42::42/128",
	"fd00:ec2::254/128",
	"fd20:ce::254/128",
	"fe80::/10",
	"ff00::/8",
)

// specialNetworks are the special-purpose networks of the IANA registries for
// IPv4 and IPv6, as of 2026. They are blocked unless the operator allows them.
// IPv6 networks outside publicIPv6 are blocked anyway and not listed.
var specialNetworks = prefixes(
	"10.0.0.0/8",
	"100.64.0.0/10",
	"127.0.0.0/8",
	"172.16.0.0/12",
	"192.0.0.0/24",
	"192.0.2.0/24",
	"192.31.196.0/24",
	"192.52.193.0/24",
	"192.88.99.0/24",
	"192.168.0.0/16",
	"192.175.48.0/24",
	"198.18.0.0/15",
	"198.51.100.0/24",
	"203.0.113.0/24",
	"240.0.0.0/4",
	"2001::/23",
	"2001:db8::/32",
	"2002::/16",
	"2620:4f:8000::/48",
	"3ffe::/16",
	"3fff::/20",
)

// publicIPv6 contains every IPv6 address that is assigned to the internet.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// Networks whose addresses embed an IPv4 address to which a translator or a
// tunnel forwards.
var (
	compatible   = netip.MustParsePrefix("::/96")
	translated   = netip.MustParsePrefix("::ffff:0:0:0/96")
	wellKnown64  = netip.MustParsePrefix("64:ff9b::/96")
	localUse64   = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour    = netip.MustParsePrefix("2002::/16")
	teredoTunnel = netip.MustParsePrefix("2001::/32")
)

// isAlwaysBlocked reports whether no setting can allow the address.
func isAlwaysBlocked(ip netip.Addr) bool { return ip.Zone() != "" || in(ip, alwaysBlocked) }

// isPrivate reports whether the address is not part of the public internet.
func isPrivate(ip netip.Addr) bool {
	return in(ip, specialNetworks) || !ip.IsGlobalUnicast() || (ip.Is6() && !publicIPv6.Contains(ip))
}

func in(ip netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// embedded returns the IPv4 addresses to which a translator or a tunnel may
// forward packets for an IPv6 address.
func embedded(ip netip.Addr) []netip.Addr {
	b := ip.As16()
	at := func(w, x, y, z int) netip.Addr { return netip.AddrFrom4([4]byte{b[w], b[x], b[y], b[z]}) }
	last := at(12, 13, 14, 15)
	switch {
	case ip.Is4() || ip == netip.IPv6Loopback():
		return nil
	case compatible.Contains(ip), translated.Contains(ip), wellKnown64.Contains(ip):
		return []netip.Addr{last}
	case localUse64.Contains(ip): // for each length of the translator's prefix
		return []netip.Addr{at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), last}
	case sixToFour.Contains(ip):
		return []netip.Addr{at(2, 3, 4, 5)}
	case teredoTunnel.Contains(ip):
		client := netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
		return []netip.Addr{at(4, 5, 6, 7), client}
	}
	return nil
}

// checkException rejects an allowed network that overlaps one of alwaysBlocked.
func checkException(p netip.Prefix) error {
	if p.Addr().Is4In6() {
		return fmt.Errorf("write %s as a network of IPv4", p)
	}
	for _, forbidden := range alwaysBlocked {
		if p.Overlaps(forbidden) {
			return fmt.Errorf("webhooks can never reach %s, so %s cannot be allowed", forbidden, p)
		}
	}
	return nil
}
