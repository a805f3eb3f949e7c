package webhook

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// run is some notifications of one webhook that are sent one after the other,
// in one slot. since, slot and done are the Sender's, the rest does not change.
type run struct {
	lane    *lane
	claim   string
	until   time.Time // the claim lasts
	url     string
	secrets [][]byte
	items   []lastmile.Notification

	slot  slot
	since time.Time // when its present attempt began
	done  bool
}

// outcome is what came of one attempt of a run.
type outcome struct {
	run     *run
	n       lastmile.Notification
	attempt lastmile.Attempt
	broken  bool                    // off by this process, which is stopping
	last    bool                    // the run has ended
	rest    []lastmile.Notification // what it did not send
}

// send makes the attempts. It ends early when one fails or takes long, or when
// the next should not begin.
func (r *run) send(ctx, sending context.Context, s *Sender) {
	sign := newSigner(r.secrets)
	for i, n := range r.items {
		now := s.Now()
		o := outcome{run: r, n: n, rest: r.items[i+1:], attempt: lastmile.Attempt{
			Organization: n.Organization, Notification: n.ID, Number: n.Attempts + 1, At: now,
		}}
		o.attempt.Status, o.attempt.Reason = s.Poster.Post(sending, r.url, sign.header(n, now), n.Body)
		end := s.Now()
		o.attempt.Took = end.Sub(now)
		o.broken = sending.Err() != nil && !o.attempt.Delivered()
		o.last = len(o.rest) == 0 || !o.attempt.Delivered() || o.attempt.Took >= slowAfter ||
			ctx.Err() != nil || end.Add(totalTimeout).After(r.until)
		s.ended <- o
		if o.last {
			return
		}
	}
}
