package webhook

import (
	"net/url"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// pace is how soon a webhook's server answers.
type pace int

// The paces. Each has slots of its own, so that what a slower one does with
// its slots is no matter to the others.
const (
	unknown pace = iota // this process has not tried it yet
	quick               // the last attempt ended soon, well or badly
	slow                // the last attempt took long, or is taking longer than usual
	dead                // the last attempt took long and failed
	paces   = iota
)

// share is how many attempts may be under way at once.
type share struct{ all, organization, host, webhook int }

var shares = [paces]share{
	unknown: {all: 256, organization: 16, host: 4, webhook: 1},
	quick:   {all: 256, organization: 16, host: 4, webhook: 4},
	slow:    {all: 64, organization: 8, host: 4, webhook: 2},
	dead:    {all: 64, organization: 8, host: 2, webhook: 1},
}

// mostInFlight bounds the attempts of all paces but the quick ones. It is more
// than their shares: attempts that turn out to take long count as slow from
// then on, however many of those there are already.
const mostInFlight = 1024

// lane is one webhook's way out.
type lane struct {
	org  lastmile.OrganizationID
	id   lastmile.WebhookID
	pace pace

	// The webhook as it was read last.
	url     string
	host    string
	secrets [][]byte
	read    time.Time

	claim string // nobody else sends
	until time.Time

	queue    []lastmile.Notification // set by keep
	queued   *int                    // with those of all other lanes
	held     map[string]bool         // ids of what is queued, under way or not saved
	inFlight int
	due      bool        // the database has more for it
	fetching bool        // something is being read for it
	settled  []string    // ids of what was saved meanwhile
	fetched  store.Place // up to which it was, when there was more
	reserved *slot       // for the first of what is read
	inLine   bool        // for a turn

	usual time.Duration // of attempts that ended soon
	used  time.Time
	muted time.Time // until then nothing can be signed
}

func newLane(org lastmile.OrganizationID, id lastmile.WebhookID, queued *int) *lane {
	return &lane{org: org, id: id, queued: queued, held: map[string]bool{}}
}

// keep makes a list the queue.
func (l *lane) keep(list []lastmile.Notification) {
	*l.queued += len(list) - len(l.queue)
	l.queue = list
}

// queueAt is which of the Sender's two lists the lane's wishes are in: what
// others wish for is no matter to the quick ones.
func (l *lane) queueAt() int {
	if l.pace == quick {
		return 1
	}
	return 0
}

// fresh tells whether what was read of the webhook is still good.
func (l *lane) fresh(now time.Time) bool { return now.Sub(l.read) < freshFor }

// idle tells whether there is nothing to do for a lane.
func (l *lane) idle() bool { return len(l.held) == 0 && l.inFlight == 0 && !l.due && !l.fetching }

// hasUse tells whether a lane has a use for a turn.
func (l *lane) hasUse() bool { return len(l.queue) > 0 || (l.due && !l.fetching) }

// claimed tells whether the lane's claim lasts long enough for an attempt.
func (l *lane) claimed(now time.Time) bool { return !now.Add(totalTimeout).After(l.until) }

// patience is how long an attempt may take before others get its slot.
func (l *lane) patience() time.Duration {
	if l.pace == unknown {
		return slowAfter / 4
	}
	return min(max(slowAfter/10, 8*l.usual), slowAfter)
}

// add queues notifications that the lane does not hold yet.
func (l *lane) add(list ...lastmile.Notification) {
	for _, n := range list {
		if !l.held[n.ID] {
			l.held[n.ID] = true
			l.keep(append(l.queue, n))
		}
	}
}

// drop forgets notifications that were to be sent. They are still due.
func (l *lane) drop(list []lastmile.Notification) {
	for _, n := range list {
		delete(l.held, n.ID)
		l.due, l.fetched = true, store.Place{}
	}
}

// empty drops the queue.
func (l *lane) empty() {
	l.drop(l.queue)
	l.keep(nil)
}

// forget lets go of a notification whose result was saved. What is being read
// may still have it, as it was before.
func (l *lane) forget(id string) {
	if l.fetching {
		l.settled = append(l.settled, id)
		return
	}
	delete(l.held, id)
}

// lose lets go of a webhook that another process sends to, or that is gone.
func (l *lane) lose() {
	l.claim, l.until = "", time.Time{}
	l.empty()
	l.due = false
}

func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Host
}

// slot is the place of one attempt.
type slot struct {
	pace pace
	org  lastmile.OrganizationID
	host string
}

// fits tells whether the slot is one that the lane may use.
func (s slot) fits(l *lane) bool { return s.pace == l.pace && s.host == l.host }

// slots counts the places that are taken.
type slots struct {
	all    int
	ofPace [paces]int
	ofOrg  map[slot]int // without their hosts
	ofHost map[slot]int // without their organizations
}

func newSlots() slots { return slots{ofOrg: map[slot]int{}, ofHost: map[slot]int{}} }

// full tells whether a pace has no place left for anybody.
func (s *slots) full(p pace) bool {
	return s.ofPace[p] >= shares[p].all || (p != quick && s.all >= mostInFlight)
}

// free tells whether a webhook may have one more place. Its host is not known
// before it was read.
func (s *slots) free(l *lane) bool {
	most, taken := shares[l.pace], l.inFlight
	if l.reserved != nil {
		taken++
	}
	return taken < most.webhook && !s.full(l.pace) &&
		s.ofOrg[slot{pace: l.pace, org: l.org}] < most.organization &&
		(l.host == "" || s.ofHost[slot{pace: l.pace, host: l.host}] < most.host)
}

func (s *slots) take(l *lane) slot {
	taken := slot{pace: l.pace, org: l.org, host: l.host}
	s.count(taken, 1)
	return taken
}

func (s *slots) give(taken slot) { s.count(taken, -1) }

// slow makes the place of an attempt that takes long one of the slow.
func (s *slots) slow(taken slot) slot {
	s.count(taken, -1)
	taken.pace = slow
	s.count(taken, 1)
	return taken
}

func (s *slots) count(one slot, by int) {
	s.all += by
	s.ofPace[one.pace] += by
	add(s.ofOrg, slot{pace: one.pace, org: one.org}, by)
	add(s.ofHost, slot{pace: one.pace, host: one.host}, by)
}

func add(counts map[slot]int, at slot, by int) {
	if counts[at] += by; counts[at] == 0 {
		delete(counts, at)
	}
}
