package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// How the Sender works.
const (
	maxQueued    = 1024   // notifications of one webhook, in memory
	mostQueued   = 16_384 // notifications of all webhooks
	fetchCount   = 128    // notifications of one webhook, read at once
	fetchAhead   = 96     // notifications left when more are read
	runLength    = 16     // notifications sent one after the other in a slot
	fetchAtOnce  = 64     // webhooks that are read together
	recordAtOnce = 1024
	lanesAtOnce  = 128 // of a pace in one round

	claimFor     = totalTimeout + 5*time.Second // others keep off for so long
	claimAlone   = 5 * time.Minute              // where there are no others; a lane outlives it
	freshFor     = time.Second                  // what was read of a webhook
	slowAfter    = time.Second                  // an attempt that ended was slow
	glanceEvery  = 50 * time.Millisecond        // at attempts that may take long
	gatherFor    = 10 * time.Millisecond        // results, between two times that they are recorded
	pollSoon     = time.Second / 4              // for what other processes have stored
	pollIdle     = 2 * time.Second              // while they store nothing
	pollShare    = 20                           // of the time is not spent looking
	forgetAfter  = 10 * time.Minute             // a lane without work; more than any claim lasts
	errorPause   = time.Second
	stopPatience = 5 * time.Second // with attempts that are under way
)

// Poster sends one notification. Egress is the real one.
type Poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) (status int, reason string)
}

// Sender sends what webhooks are owed. Each webhook has a lane, and each lane a
// pace: those that fail to answer soon have slots of their own, so that they
// keep nobody else waiting. Nothing is read for a webhook that has no slot; it
// waits in the database, whatever there is of it.
//
// One process at a time sends to a webhook: it holds a claim, without which no
// attempt can be recorded.
type Sender struct {
	Store   store.Store
	Poster  Poster
	Secrets func(ctx context.Context, org lastmile.OrganizationID) ([][]byte, error)
	Now     func() time.Time
	Log     *slog.Logger
	NewID   func() string                  // for claims
	Woken   <-chan struct{}                // sent to after commits
	Owed    func() []lastmile.Notification // what those commits have stored
	Alone   bool                           // no other process sends from this database

	lanes   map[lastmile.WebhookID]*lane
	queued  int            // in all lanes
	turns   [paces][]*lane // in line
	slots   slots
	recent  []*run    // under way, until they are late
	wants   [2][]want // of lanes that are not quick, and of those that are
	claims  []claim
	unsaved []result

	booking    bool    // something is being written
	resting    bool    // something was, a moment ago
	fetching   [2]bool // something is being read for either
	found      chan look
	booked     chan booking
	fetched    chan fetch
	ended      chan outcome
	background sync.WaitGroup
	forgotten  time.Time // when idle lanes were last forgotten

	delivered, failed, fenced, inFlight atomic.Int64
}

// SenderStats counts what a Sender has done.
type SenderStats struct {
	Delivered, Failed int64 // attempts that were recorded
	Fenced            int64 // attempts that others had taken over meanwhile
	InFlight          int64
}

// Stats counts what was done since the start.
func (s *Sender) Stats() SenderStats {
	return SenderStats{Delivered: s.delivered.Load(), Failed: s.failed.Load(), Fenced: s.fenced.Load(), InFlight: s.inFlight.Load()}
}

// Run sends until ctx ends, then waits a while for what is being sent and
// gives back the rest.
func (s *Sender) Run(ctx context.Context) {
	s.lanes, s.queued, s.slots, s.forgotten = map[lastmile.WebhookID]*lane{}, 0, newSlots(), s.Now()
	s.found, s.ended = make(chan look, 1), make(chan outcome, mostInFlight)
	s.booked, s.fetched = make(chan booking, 1), make(chan fetch, len(s.fetching))
	if s.Alone {
		s.reclaim(ctx)
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	poll, late, gathered := time.NewTimer(0), time.NewTimer(0), time.NewTimer(0)
	defer poll.Stop()
	defer late.Stop()
	defer gathered.Stop()
	pause, watching := pollSoon, false
	for ctx.Err() == nil {
		s.serve(ctx, sending)
		s.book(ctx)
		s.fetch(ctx, 0)
		s.fetch(ctx, 1)
		if len(s.recent) > 0 && !watching {
			watching = true
			late.Reset(glanceEvery)
		}
		select {
		case <-ctx.Done():
		case <-s.Woken:
			for _, n := range s.Owed() {
				s.receive(n)
			}
		case <-poll.C:
			s.forget()
			s.look(ctx)
		case <-late.C:
			watching = false
			s.markLate()
		case <-gathered.C:
			s.resting = false
		case f := <-s.found:
			pause = min(2*pause, pollIdle)
			some, next := s.expectAll(f.waiting)
			if some && !s.Alone { // alone, it hears of what is stored at once
				pause = min(max(pollSoon, pollShare*f.took), pollIdle)
			}
			poll.Reset(min(pause, next))
		case b := <-s.booked:
			s.settle(ctx, sending, b)
			s.resting = true
			gathered.Reset(gatherFor)
		case f := <-s.fetched:
			s.enter(ctx, sending, f)
		case o := <-s.ended:
			s.finish(o)
		}
		s.drain()
	}
	s.stop(ctx, sending, cancel)
}

// reclaim ends the claims of processes that are gone.
func (s *Sender) reclaim(ctx context.Context) {
	err := s.Store.Write(ctx, func(w store.Writer) error { return w.ReleaseWebhooks(ctx) })
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("notifications cannot be sent at once: they will be when the claims of their webhooks end", "error", err)
	}
}

// drain takes all results that are there.
func (s *Sender) drain() {
	for {
		select {
		case o := <-s.ended:
			s.finish(o)
		default:
			return
		}
	}
}

// look is which webhooks are owed something, and how long it took to see.
type look struct {
	waiting []store.Waiting
	took    time.Duration
}

// look asks the database, in the background, which webhooks are owed
// something.
func (s *Sender) look(ctx context.Context) {
	s.background.Go(func() {
		var (
			f     look
			begin = s.Now()
		)
		err := s.Store.Read(ctx, func(r store.Reader) (err error) {
			f.waiting, err = r.WaitingWebhooks(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("look for notifications", "error", err)
		}
		f.took = s.Now().Sub(begin)
		s.found <- f
	})
}

// expectAll notes which webhooks have something due, and tells whether any has
// and how long it takes until another does.
func (s *Sender) expectAll(waiting []store.Waiting) (some bool, next time.Duration) {
	now := s.Now()
	next = pollIdle
	for _, w := range waiting {
		wait := w.Next.Sub(now)
		l := s.lanes[w.Webhook]
		if (l == nil || l.claim != w.Claim) && w.ClaimedUntil.After(now) { // by another process
			wait = max(wait, w.ClaimedUntil.Sub(now))
		}
		if wait > 0 {
			next = min(next, wait)
			continue
		}
		some = true
		l = s.lane(w.Organization, w.Webhook)
		if l.pace == unknown && w.Failing {
			l.pace = dead
		}
		s.expect(l, now)
	}
	return some, next
}

// receive takes in a notification that was just stored: it goes out without
// being read again when the webhook has none that must be, and there is room.
func (s *Sender) receive(n lastmile.Notification) {
	l, now := s.lane(n.Organization, n.Webhook), s.Now()
	if n.Body != nil && l.pace == quick && !l.due && !l.fetching && len(l.queue) < maxQueued && s.queued < mostQueued &&
		l.claimed(now) && !n.Next.After(now) {
		l.add(n)
		s.line(l)
		return
	}
	s.expect(l, now)
}

// expect notes that a lane has something due.
func (s *Sender) expect(l *lane, now time.Time) {
	if now.Before(l.muted) {
		return
	}
	l.due = true
	s.line(l)
}

// lane is the lane of a webhook.
func (s *Sender) lane(org lastmile.OrganizationID, id lastmile.WebhookID) *lane {
	l := s.lanes[id]
	if l == nil {
		l = newLane(org, id, &s.queued)
		s.lanes[id] = l
	}
	return l
}

// line has a lane wait for its turn, if it has a use for one.
func (s *Sender) line(l *lane) {
	if !l.inLine && l.hasUse() {
		l.inLine = true
		s.turns[l.pace] = append(s.turns[l.pace], l)
	}
}

// forget drops lanes that have been idle for longer than any claim lasts. A
// lane dropped with its claim in force would leave the webhook claimed by nobody.
func (s *Sender) forget() {
	now := s.Now()
	if now.Sub(s.forgotten) < forgetAfter {
		return
	}
	s.forgotten = now
	for id, l := range s.lanes {
		if l.idle() && now.Sub(l.used) >= forgetAfter && !l.until.After(now) {
			delete(s.lanes, id)
		}
	}
}

// serve gives lanes their turns, one after the other, the quick ones first.
func (s *Sender) serve(ctx, sending context.Context) {
	for _, p := range [paces]pace{quick, unknown, slow, dead} {
		for range min(len(s.turns[p]), lanesAtOnce) {
			if s.slots.full(p) {
				break
			}
			l := s.turns[p][0]
			s.turns[p] = s.turns[p][1:]
			l.inLine = false
			s.turn(ctx, sending, l)
			s.line(l)
		}
	}
}

// turn starts what a lane may send, and has more read where there is more.
func (s *Sender) turn(ctx, sending context.Context, l *lane) {
	fresh := l.fresh(s.Now())
	for fresh && len(l.queue) > 0 && s.slots.free(l) {
		s.start(ctx, sending, l)
	}
	if l.fetching || len(s.wants[l.queueAt()]) >= fetchAtOnce || (l.pace != quick && len(s.claims) >= fetchAtOnce) {
		return
	}
	count := 1
	if l.pace == quick {
		count = fetchCount
	}
	switch {
	case l.due && l.pace == quick && l.inFlight > 0 && len(l.queue) <= fetchAhead:
	case l.due && len(l.queue) == 0 && s.slots.free(l):
		s.reserve(l)
	case !fresh && len(l.queue) > 0 && s.slots.free(l):
		s.reserve(l)
		count = 0 // only the webhook
	default:
		return
	}
	s.wish(l, count)
}

// reserve takes a slot for the first of what is read.
func (s *Sender) reserve(l *lane) {
	taken := s.slots.take(l)
	l.reserved = &taken
}

// start begins to send the first of a queue, unless the claim is about to end:
// of a quick webhook as many as leave some for its other slots.
func (s *Sender) start(ctx, sending context.Context, l *lane) {
	now, count := s.Now(), 1
	if !l.claimed(now) || ctx.Err() != nil {
		l.empty()
		return
	}
	if l.pace == quick {
		count = min(max(len(l.queue)/shares[quick].webhook, 1), runLength)
	}
	r := &run{lane: l, claim: l.claim, until: l.until, url: l.url, secrets: l.secrets, since: now, items: l.queue[:count]}
	l.keep(l.queue[count:])
	if l.reserved != nil {
		r.slot, l.reserved = *l.reserved, nil
	} else {
		r.slot = s.slots.take(l)
	}
	l.inFlight++
	l.used = now
	s.inFlight.Store(int64(s.slots.all))
	if r.slot.pace < slow {
		s.recent = append(s.recent, r)
	}
	s.background.Go(func() { r.send(ctx, sending, s) })
}

// markLate has attempts that take longer than usual count as slow, and their
// webhooks too until they end.
func (s *Sender) markLate() {
	now := s.Now()
	s.recent = slices.DeleteFunc(s.recent, func(r *run) bool {
		if r.done || now.Sub(r.since) < r.lane.patience() {
			return r.done
		}
		r.slot, r.lane.pace = s.slots.slow(r.slot), max(r.lane.pace, slow)
		return true
	})
}

// finish keeps a result to be saved, and frees the slot after the last of a
// run.
func (s *Sender) finish(o outcome) {
	r, l := o.run, o.run.lane
	r.since = s.Now()
	if o.last {
		r.done = true
		s.slots.give(r.slot)
		s.inFlight.Store(int64(s.slots.all))
		l.inFlight--
		if len(o.rest) > 0 {
			l.keep(slices.Concat(o.rest, l.queue))
		}
	}
	switch {
	case o.broken:
		l.drop([]lastmile.Notification{o.n})
	case o.attempt.Took < slowAfter:
		l.pace, l.usual = quick, (3*l.usual+o.attempt.Took)/4
	case o.attempt.Delivered():
		l.pace = slow
	default:
		l.pace = dead
	}
	if l.pace > quick { // it has no slots for so many any more
		l.empty()
	}
	if !o.broken {
		s.unsaved = append(s.unsaved, result{lane: l, claim: r.claim, n: o.n, attempt: o.attempt})
	}
	s.line(l)
}

// stop waits for what is being sent, not for long, records it and lets go of
// the rest.
func (s *Sender) stop(ctx, sending context.Context, cancel context.CancelFunc) {
	patience := time.AfterFunc(stopPatience, cancel)
	defer patience.Stop()
	go func() {
		s.background.Wait()
		close(s.ended)
	}()
	for o := range s.ended {
		s.finish(o)
	}
	if s.booking {
		s.settle(ctx, sending, <-s.booked)
	}
	b := booking{results: s.unsaved, holds: s.holds(s.unsaved)}
	for i := range b.holds {
		b.holds[i].until = s.Now()
	}
	for _, l := range s.lanes {
		if l.claim != "" && !slices.ContainsFunc(b.holds, func(h hold) bool { return h.claim == l.claim }) {
			b.holds = append(b.holds, hold{lane: l, claim: l.claim, until: s.Now()})
		}
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer done()
	if err := s.write(ending, &b); err != nil {
		s.Log.Error("record the last attempts", "error", err)
	}
}
