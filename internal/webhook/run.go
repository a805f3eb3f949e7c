package webhook

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// run is some notifications of one webhook that are sent one after the other,
// in one slot. The items are its own; the rest is the Sender's.
type run struct {
	lane    *lane
	slot    slot
	url     string
	secrets [][]byte
	since   time.Time // when its present attempt began
	done    bool
	items   []claimed
}

// outcome is what came of one attempt of a run.
type outcome struct {
	run     *run
	item    claimed
	attempt lastmile.Attempt
	broken  bool      // off by this process, which is stopping
	last    bool      // the run has ended
	rest    []claimed // what it did not send
}

// send makes the attempts. It ends early when one fails or takes long, or when
// the next should not begin.
func (r *run) send(ctx, sending context.Context, s *Sender) {
	for i, c := range r.items {
		now := s.Now()
		o := outcome{run: r, item: c, attempt: lastmile.Attempt{
			Organization: c.Organization, Notification: c.ID, Number: c.Attempts + 1, At: now,
		}}
		o.attempt.Status, o.attempt.Reason = s.Poster.Post(sending, r.url, signed(c.Notification, r.secrets, now), c.Body)
		end := s.Now()
		o.attempt.Took = end.Sub(now)
		o.broken = sending.Err() != nil && !o.attempt.Delivered()
		o.rest = r.items[i+1:]
		o.last = len(o.rest) == 0 || !o.attempt.Delivered() || o.attempt.Took >= slowAfter || r.over(ctx, end, o.rest[0])
		s.ended <- o
		if o.last {
			return
		}
	}
}

// over tells whether nothing more is to be sent: the process is stopping, or
// the claim ends too soon.
func (r *run) over(ctx context.Context, now time.Time, next claimed) bool {
	return ctx.Err() != nil || now.Add(totalTimeout).After(next.until)
}
