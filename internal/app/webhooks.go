package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
	"dray/internal/work"
)

// clearingLoop gives up or deletes the notifications of webhooks that were disabled or
// deleted.
type clearingLoop = work.Loop[webhook.Reader, webhook.Writer]

// handshakeLength is the length of the random text of a webhook's handshake.
const handshakeLength = 43

// numberEventsInterval is the interval at which a node numbers events that have no sequence
// number yet.
const numberEventsInterval = 250 * time.Millisecond

// addWebhooks sets up the registry and the sender of webhooks and the event feed.
func (a *App) addWebhooks(ctx context.Context, newID func() string) error {
	egress, err := newEgress(a.Config)
	if err != nil {
		return err
	}
	db := sqlstore.For[webhook.Reader, webhook.Writer](a.Store)
	a.Webhooks = &webhook.Registry{
		Store: db, Events: a.Events, Egress: egress, Now: a.Now, NewID: newID,
		NewCheck: func() string { return access.RandomSecret(handshakeLength) }, Handshakes: webhook.NewHandshakes(a.Now),
	}
	a.Sender = &webhook.Sender{
		Store: db, Poster: egress, Now: a.Now, Log: a.Log, NewID: newID, Committed: a.Events.Committed(), Drain: a.Events.Drain,
		Idle:  a.Config.Poll,
		Alone: a.Store.Engine() == "sqlite", // only one server uses a data folder
		Secrets: func(ctx context.Context, org lastmile.OrganizationID) ([][]byte, error) {
			return a.Organizations.WebhookSecrets(ctx, org)
		},
	}
	a.Clearing = &clearingLoop{
		Kind: webhook.Clearing, Store: db, Do: a.Webhooks.Clear,
		Limits: work.Limits{Total: 2, PerOrganization: 1},
		Poll:   work.Poll{Idle: a.Config.Poll},
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	a.endStreams, a.ended = end, following.Done()
	var committed <-chan struct{}
	if a.Store.Engine() != "sqlite" { // which numbers events when they are stored
		committed = a.Events.Committed()
	}
	a.Feed = &webhook.Feed{Store: db, Log: a.Log, Hub: a.Hub, Committed: committed, Ended: a.ended, Poll: cmp.Or(a.Config.Poll, numberEventsInterval)}
	return nil
}

// newEgress returns the egress policy of webhooks: networks, ports and certificate
// authorities.
func newEgress(c Config) (*webhook.Egress, error) {
	options, err := c.egressOptions()
	if err != nil {
		return nil, err
	}
	for _, file := range c.WebhookCAs {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--webhook-ca-file: %w", err)
		}
		options.ExtraCAs = append(options.ExtraCAs, pem)
	}
	return webhook.NewEgress(options)
}

// egressOptions returns the networks and ports that webhooks may reach.
func (c *Config) egressOptions() (options webhook.EgressOptions, err error) {
	for _, text := range c.WebhookNets {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return options, fmt.Errorf("--webhook-allow-cidr: %q is not a network such as 10.0.0.0/8", text)
		}
		options.Allow = append(options.Allow, prefix.Masked())
	}
	for _, text := range c.WebhookPorts {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return options, fmt.Errorf("--webhook-port: %q is not a port", text)
		}
		options.Ports = append(options.Ports, uint16(port))
	}
	return options, nil
}
