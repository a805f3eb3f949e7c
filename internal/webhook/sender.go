package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

const (
	pageSize     = 128  // notifications of one webhook read at a time
	lowWater     = 32   // notifications left in a queue when the next page is read
	turnLength   = 64   // attempts after which a webhook yields to others that wait
	recordAtOnce = 1024 // attempts recorded in one transaction

	// Notifications that are handed over while so many bytes are in memory must be read
	// from the database: in pages of at most maxPage bytes, or minPage if the memory is
	// used up. A page has at least one notification.
	maxQueued      = 2 << 20 // of one webhook
	maxQueuedTotal = 16 << 20
	maxPage        = 1 << 20
	minPage        = 64 << 10

	leaseFor     = 20 * time.Second
	slowAfter    = time.Second           // an attempt that takes longer is slow
	freshFor     = time.Second           // how long the URL and the secrets of a webhook are cached
	flushGap     = 10 * time.Millisecond // between two transactions that record attempts
	unsignedWait = time.Minute           // before a webhook without secrets is tried again
	errorPause   = time.Second
	stopPatience = 5 * time.Second // for attempts under way
	profileTTL   = 10 * time.Minute

	pollSoon = time.Second / 4
	pollIdle = 2 * time.Second

	// A webhook keeps its lease for a moment after its last notification, so
	// that the next one is sent without a query. Other nodes wait meanwhile.
	lingerShared = 50 * time.Millisecond
	lingerAlone  = time.Second
)

// Poster sends one notification. Egress implements it.
type Poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) (status int, reason, response string)
}

// Sender sends pending notifications. The unit of work is a webhook: while a
// process holds the webhook's lease, a delivery sends what is due and records
// the attempts. Webhooks are admitted by pace, so that those with slow servers
// delay only each other.
type Sender struct {
	Store   store.Transactor[Reader, Writer]
	Poster  Poster
	Secrets func(ctx context.Context, org lastmile.OrganizationID) ([][]byte, error)
	Now     func() time.Time
	Log     *slog.Logger
	NewID   func() string // for lease tokens
	Idle    time.Duration // between polls while no webhook is due; 0 for the default
	Alone   bool          // no other process sends from this database

	// Committed receives a value after a commit of this process has added
	// notifications, which Drain then returns. A notification without a body must be
	// read from the database.
	Committed <-chan struct{}
	Drain     func() []lastmile.Notification

	loop     *work.Loop[Reader, Writer]
	limiter  *limiter
	recorder *recorder
	queued   atomic.Int64 // bytes of the notifications in memory

	mu       sync.Mutex
	profiles map[lastmile.WebhookID]*profile
	purged   time.Time // when old profiles were last removed
	turns    int64     // number of turns that webhooks have had so far

	delivered, failed, fenced atomic.Int64
}

// SenderStats counts the attempts of a Sender.
type SenderStats struct {
	Delivered, Failed int64 // recorded attempts
	Fenced            int64 // attempts not recorded because the lease was lost
	InFlight          int64
}

// Stats returns the counts since the start.
func (s *Sender) Stats() SenderStats {
	stats := SenderStats{Delivered: s.delivered.Load(), Failed: s.failed.Load(), Fenced: s.fenced.Load()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limiter != nil {
		stats.InFlight = int64(s.limiter.inFlight())
	}
	return stats
}

// Run sends notifications until ctx ends. Then it waits up to stopPatience for
// the attempts under way and records them.
func (s *Sender) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopPatience, cancel) })()
	s.begin(func(leased context.Context, l *work.Lease) (work.End[Writer], error) {
		leased, stop := context.WithCancel(leased)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		return nil, s.deliver(leased, sending, l)
	})
	var handing sync.WaitGroup
	handing.Go(func() { s.handOver(ctx.Done()) })
	s.loop.Run(ctx)
	handing.Wait()
}

func (s *Sender) begin(do func(context.Context, *work.Lease) (work.End[Writer], error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profiles, s.purged = map[lastmile.WebhookID]*profile{}, s.Now()
	poll := work.Poll{Soon: pollSoon, Idle: cmp.Or(s.Idle, pollIdle), Gap: pollSoon}
	if s.Alone { // commits are handed over, and retries are found in time
		poll.Soon = pollIdle
	}
	s.loop = &work.Loop[Reader, Writer]{
		Kind: work.Webhooks, Store: s.Store, Do: do, Admission: admission{s}, Order: s.leastRecent,
		Candidates: work.Limits{Total: maxCandidates, PerOrganization: lastmile.MaxWebhooks},
		LeaseFor:   leaseFor, Poll: poll, Grace: 2 * stopPatience, Alone: s.Alone,
		Now: s.Now, NewID: s.NewID, Log: s.Log,
	}
	s.recorder = &recorder{store: s.Store, now: s.Now}
	s.limiter = newLimiter(func() { s.loop.Offer() })
}

// handOver passes committed notifications to the deliveries of their webhooks,
// and offers the other webhooks to the loop.
func (s *Sender) handOver(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-s.Committed:
		}
		var items []work.Item
		offered := map[lastmile.WebhookID]bool{}
		for _, n := range s.Drain() {
			if !offered[n.Webhook] && !s.hand(n) {
				offered[n.Webhook] = true
				items = append(items, item(n.Organization, n.Webhook, n.Next))
			}
		}
		if len(items) > 0 {
			s.loop.Offer(items...)
		}
	}
}

func item(org lastmile.OrganizationID, id lastmile.WebhookID, due time.Time) work.Item {
	return work.Item{Kind: work.Webhooks, Organization: org, ID: string(id), Due: due}
}

// hand passes a notification to the delivery of its webhook. It reports false if
// there is none and the loop does not know yet that the webhook is due.
func (s *Sender) hand(n lastmile.Notification) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profiles[n.Webhook]
	if p == nil || p.delivery == nil {
		return p != nil && s.Now().Sub(p.denied).Abs() < pollSoon
	}
	return p.delivery.hand(n)
}

// deliver sends the notifications of a webhook. It stops at the latest when ctx ends,
// because the lease was lost or the Sender stops. Attempts under way are aborted when
// sending ends.
func (s *Sender) deliver(ctx, sending context.Context, l *work.Lease) error {
	d := &delivery{
		Sender: s, id: lastmile.WebhookID(l.ID), lease: l, profile: s.profileOf(l.Item),
		calls: make(chan func(), maxCalls), known: map[string]bool{}, more: true,
	}
	s.setDelivery(d.profile, d)
	d.run(ctx, sending)
	s.setDelivery(d.profile, nil)
	if d.more && d.err == nil {
		s.loop.Offer(item(l.Organization, d.id, s.Now()))
	}
	return d.err
}

// setDelivery sets or removes the delivery of a webhook.
func (s *Sender) setDelivery(p *profile, d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.delivery = d
	s.use(p, s.Now())
}
