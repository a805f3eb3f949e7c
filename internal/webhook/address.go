package webhook

import (
	"fmt"
	"net/netip"
)

// prefixes parses a table of networks that was written with care.
func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// neverReached are networks that no setting may except: where clouds tell
// machines their secrets, and what is not a single host.
var neverReached = prefixes(
	"0.0.0.0/8",
	"169.254.0.0/16",
	"100.100.100.200/32",
	"168.63.129.16/32",
	"224.0.0.0/4",
	"255.255.255.255/32",
	"::/128",
	"fe80::/10",
	"fd00:ec2::254/128",
	"ff00::/8",
)

// specialNetworks are the special-purpose networks of the IANA registries for
// IPv4 and IPv6, as of 2026: reached only where an exception says so.
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
	"::1/128",
	"::/96",
	"::ffff:0:0:0/96",
	"64:ff9b::/96",
	"64:ff9b:1::/48",
	"100::/64",
	"100:0:0:1::/64",
	"2001::/23",
	"2001:db8::/32",
	"2002::/16",
	"2620:4f:8000::/48",
	"3fff::/20",
	"5f00::/16",
	"fc00::/7",
	"fec0::/10",
)

// never tells whether an address can under no circumstances be reached. An
// IPv4 address inside an IPv6 one counts as itself.
func never(ip netip.Addr) bool {
	return in(ip, neverReached) || (embedded(ip).IsValid() && in(embedded(ip), neverReached))
}

// private tells whether an address is not of the public internet.
func private(ip netip.Addr) bool { return in(ip, specialNetworks) || !ip.IsGlobalUnicast() }

func in(ip netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// embedded is the IPv4 address that translation would reach through an IPv6
// one.
func embedded(ip netip.Addr) netip.Addr {
	if !ip.Is6() {
		return netip.Addr{}
	}
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip), netip.MustParsePrefix("::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return netip.Addr{}
}

// checkException refuses an exception that would open what must stay shut.
func checkException(p netip.Prefix) error {
	for _, forbidden := range neverReached {
		if p.Overlaps(forbidden) {
			return fmt.Errorf("webhooks can never reach %s, so %s cannot be allowed", forbidden, p)
		}
	}
	return nil
}
