package webhook

import (
	"net/url"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// Limits of handshakes, so that registering webhooks cannot be used to send
// requests to other people's servers. Many organizations may share a host.
const (
	handshakeBurst     = 200 // twice the maximum number of webhooks of an organization
	handshakeRate      = 1   // per second, in the long run
	hostHandshakeBurst = 1_000
	hostHandshakeRate  = 5
)

// Handshakes limits the handshakes of each organization and with each host on this
// node. Nil has no limits.
type Handshakes struct{ organizations, hosts *rate.Limiter }

// NewHandshakes returns the limits with nothing used yet.
func NewHandshakes(now func() time.Time) *Handshakes {
	return &Handshakes{
		organizations: rate.New(rate.Limit{Burst: handshakeBurst, PerSecond: handshakeRate}, now),
		hosts:         rate.New(rate.Limit{Burst: hostHandshakeBurst, PerSecond: hostHandshakeRate}, now),
	}
}

// admit rejects a handshake if the organization or the host has had too many.
func (h *Handshakes) admit(org lastmile.OrganizationID, target string) error {
	if h == nil {
		return nil
	}
	host := target
	if u, err := url.Parse(target); err == nil {
		host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	}
	if rejected := h.organizations.Take(string(org), 1); rejected != nil {
		return rejected.Because("the servers of at most %d webhooks in a row, and then of %d per second, are checked for an organization", handshakeBurst, handshakeRate)
	}
	if rejected := h.hosts.Take(host, 1); rejected != nil {
		return rejected.Because("this host was checked too often; %d webhooks per second are possible", hostHandshakeRate)
	}
	return nil
}
