package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// How much is sent at once, and how it is shared out.
const (
	totalInFlight   = 256
	slowInFlight    = 64 // of those, for webhooks that fail or take long
	perOrgInFlight  = 16
	maxQueued       = 64              // of one webhook, in memory
	maxHeld         = 4096            // of all webhooks, in memory
	claimPage       = 256             // read at once
	claimLease      = 3 * time.Minute // others keep off for so long
	parkFor         = 15 * time.Second
	slowAfter       = 5 * time.Second
	pollEvery       = 500 * time.Millisecond
	retryErrorAfter = time.Second
)

// Poster sends one notification. Egress is the real one.
type Poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) (status int, reason string)
}

// Sender sends what webhooks are owed. Each webhook has a queue and a few
// slots of its own, and those that fail or take long share a small part of
// all slots, so that a dead server keeps nobody else waiting.
type Sender struct {
	Store   store.Store
	Poster  Poster
	Secrets func(ctx context.Context, org lastmile.OrganizationID) ([][]byte, error)
	Now     func() time.Time
	Log     *slog.Logger
	Woken   <-chan struct{}
	NewID   func() string // for claims

	lanes    map[lastmile.WebhookID]*lane
	perHost  map[string]int
	perOrg   map[lastmile.OrganizationID]int
	held     int // in queues and in flight
	inFlight int
	slow     int  // in flight for slow webhooks
	full     bool // the last page was full: there may be more
	results  chan result
	unsaved  []result
	saving   bool
	saved    chan struct{}
	attempts sync.WaitGroup
}

// lane is one webhook's way out.
type lane struct {
	hook     lastmile.Webhook
	host     string
	secrets  [][]byte
	queue    []claimed
	inFlight int
	slow     bool
}

// claimed is a notification that this process may send until the lease ends.
type claimed struct {
	lastmile.Notification
	until time.Time
}

// result is what came of an attempt; a zero attempt gives the notification
// back to be tried at again.
type result struct {
	lane    *lane
	n       lastmile.Notification
	attempt lastmile.Attempt
	slow    bool // it took a slot of the slow
	again   time.Time
}

// Run sends until ctx ends, then waits for what is being sent to be recorded.
func (s *Sender) Run(ctx context.Context) {
	s.lanes, s.perHost, s.perOrg = map[lastmile.WebhookID]*lane{}, map[string]int{}, map[lastmile.OrganizationID]int{}
	s.results, s.saved = make(chan result, totalInFlight), make(chan struct{}, 1)
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for ctx.Err() == nil {
		if s.held < maxHeld {
			s.claim(ctx)
		}
		s.dispatch(ctx)
		s.save(ctx)
		if s.full && s.held < maxHeld {
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.Woken:
		case <-poll.C:
		case r := <-s.results:
			s.finish(r)
		case <-s.saved:
			s.saving = false
		}
		s.drain()
	}
	s.stop(context.WithoutCancel(ctx))
}

// drain takes all results that are there.
func (s *Sender) drain() {
	for {
		select {
		case r := <-s.results:
			s.finish(r)
		case <-s.saved:
			s.saving = false
		default:
			return
		}
	}
}

// stop records what was being sent and gives back the rest.
func (s *Sender) stop(ctx context.Context) {
	go func() {
		s.attempts.Wait()
		close(s.results)
	}()
	for r := range s.results {
		s.finish(r)
	}
	if s.saving {
		<-s.saved
	}
	now := s.Now()
	for _, l := range s.lanes {
		for _, c := range l.queue {
			s.unsaved = append(s.unsaved, result{n: c.Notification, again: now})
		}
	}
	if err := s.record(ctx, s.unsaved); err != nil {
		s.Log.Error("record the last attempts", "error", err)
	}
}

// claim reads notifications that are due into the queues of their webhooks.
func (s *Sender) claim(ctx context.Context) {
	var (
		page  []lastmile.Notification
		hooks map[lastmile.WebhookID]lastmile.Webhook
	)
	now, token := s.Now(), s.NewID()
	due := false
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		due, err = r.NotificationsDue(ctx, now)
		return err
	})
	if err == nil && due {
		err = s.Store.Write(ctx, func(w store.Writer) (err error) {
			hooks = map[lastmile.WebhookID]lastmile.Webhook{}
			if page, err = w.ClaimNotifications(ctx, now, claimLease, token, claimPage); err != nil {
				return err
			}
			for _, n := range page {
				if _, known := hooks[n.Webhook]; known {
					continue
				}
				if hooks[n.Webhook], err = w.Webhook(ctx, n.Organization, n.Webhook); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Error("claim notifications", "error", err)
		}
		s.full = false
		return
	}
	s.full = len(page) == claimPage
	for _, n := range page {
		s.enqueue(ctx, hooks[n.Webhook], claimed{Notification: n, until: now.Add(claimLease)})
	}
}

// enqueue puts a notification into its webhook's queue. When that is long, it
// is given back for a while, so that it is not in the way of others.
func (s *Sender) enqueue(ctx context.Context, hook lastmile.Webhook, c claimed) {
	l := s.lanes[hook.ID]
	if l == nil {
		l = &lane{host: host(hook.URL)}
		s.lanes[hook.ID] = l
	}
	if l.hook.URL != hook.URL || len(l.queue)+l.inFlight == 0 {
		secrets, err := s.Secrets(ctx, hook.Organization)
		if err != nil {
			s.Log.Error("read webhook secrets", "organization", hook.Organization, "error", err)
			s.unsaved = append(s.unsaved, result{n: c.Notification, again: s.Now().Add(parkFor)})
			return
		}
		l.secrets, l.host = secrets, host(hook.URL)
	}
	l.hook = hook
	l.slow = l.slow || hook.FailureStreak > 0
	if len(l.queue) >= maxQueued {
		s.unsaved = append(s.unsaved, result{n: c.Notification, again: s.Now().Add(parkFor)})
		return
	}
	l.queue = append(l.queue, c)
	s.held++
}

func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Host
}

// dispatch starts as many attempts as there are slots for, one round over the
// webhooks after another.
func (s *Sender) dispatch(ctx context.Context) {
	for started := true; started; {
		started = false
		for id, l := range s.lanes {
			if len(l.queue) == 0 {
				if l.inFlight == 0 {
					delete(s.lanes, id)
				}
				continue
			}
			if s.free(l) {
				s.start(ctx, l)
				started = true
			}
		}
	}
}

// free tells whether a webhook may have one more attempt.
func (s *Sender) free(l *lane) bool {
	most := perHostInFlight
	if l.slow {
		most = 1
		if s.slow >= slowInFlight {
			return false
		}
	} else if s.perOrg[l.hook.Organization] >= perOrgInFlight {
		return false
	}
	return l.inFlight < most && s.perHost[l.host] < perHostInFlight && s.inFlight < totalInFlight
}

// start begins an attempt at the first of a queue, unless the lease is about
// to end.
func (s *Sender) start(ctx context.Context, l *lane) {
	c := l.queue[0]
	l.queue = l.queue[1:]
	now := s.Now()
	if now.Add(totalTimeout + connectTimeout).After(c.until) {
		s.held--
		return
	}
	l.inFlight++
	s.inFlight++
	s.perHost[l.host]++
	slow := l.slow
	if slow {
		s.slow++
	} else {
		s.perOrg[l.hook.Organization]++
	}
	target, header := l.hook.URL, signed(c.Notification, l.secrets, now)
	s.attempts.Go(func() {
		status, reason := s.Poster.Post(context.WithoutCancel(ctx), target, header, c.Body)
		s.results <- result{lane: l, n: c.Notification, slow: slow, attempt: lastmile.Attempt{
			Organization: c.Organization, Notification: c.ID, Number: c.Attempts + 1, At: now,
			Took: s.Now().Sub(now), Status: status, Reason: reason,
		}}
	})
}

// finish frees the slots of an attempt and keeps its result to be saved.
func (s *Sender) finish(r result) {
	l := r.lane
	l.inFlight--
	s.inFlight--
	s.held--
	if s.perHost[l.host]--; s.perHost[l.host] <= 0 {
		delete(s.perHost, l.host)
	}
	if r.slow {
		s.slow--
	} else if s.perOrg[l.hook.Organization]--; s.perOrg[l.hook.Organization] <= 0 {
		delete(s.perOrg, l.hook.Organization)
	}
	l.slow = !r.attempt.Delivered() || r.attempt.Took > slowAfter
	s.unsaved = append(s.unsaved, r)
}

// save records results in the background, many at once.
func (s *Sender) save(ctx context.Context) {
	if s.saving || len(s.unsaved) == 0 {
		return
	}
	batch := s.unsaved
	s.unsaved, s.saving = nil, true
	s.attempts.Go(func() {
		defer func() { s.saved <- struct{}{} }()
		for {
			err := s.record(context.WithoutCancel(ctx), batch)
			if err == nil {
				return
			}
			s.Log.Error("record attempts", "error", err)
			wait := time.NewTimer(retryErrorAfter)
			select {
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return // the leases end by themselves, and what is owed is sent again
			}
		}
	})
}
