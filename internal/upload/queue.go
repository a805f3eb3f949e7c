package upload

import (
	"context"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// Limits of the queue for decoding. Each image in it is held in memory.
const (
	maxWaiting   = 16 // waiting images on a node
	maxWaitingOf = 4  // images of one organization, waiting or being decoded
	maxWait      = 30 * time.Second
)

func tooManyAtOnce() error { return lastmile.Overloaded("too many images arrive at once: try again") }

// queue admits one image at a time, because decoding needs much memory.
// Organizations take turns. When the queue is full, an organization with few
// images in it takes the slot of one with many, so that no organization can keep
// others out.
type queue struct {
	mu     sync.Mutex
	busy   lastmile.OrganizationID // organization whose image is being decoded; "" for none
	lines  []*line                 // one for each organization with waiting images, in the order of turns
	length int                     // number of waiting images in all lines
}

// line holds the waiting images of an organization, oldest first.
type line struct {
	of      lastmile.OrganizationID
	waiting []chan error // each receives nil when its turn comes, or an error when it is evicted
}

// enter waits for a turn. If it returns nil, leave must be called.
func (q *queue) enter(ctx context.Context, org lastmile.OrganizationID) error {
	turn, err := q.join(org)
	if err != nil || turn == nil {
		return err
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = lastmile.Overloaded("the image waited too long to be decoded: try again")
	}
	if !q.withdraw(org, turn) && <-turn == nil { // the turn has come in the meantime
		q.leave()
	}
	return err
}

// join adds an image to the line of its organization and returns the channel for its turn. If
// no image is being decoded, it takes the turn immediately and returns nil.
func (q *queue) join(org lastmile.OrganizationID) (chan error, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy == "" {
		q.busy = org
		return nil, nil
	}
	own := q.lineOf(org)
	count := len(own.waiting)
	if q.busy == org {
		count++
	}
	switch {
	case count >= maxWaitingOf:
		return nil, lastmile.TooMany().Because("%d images of the organization wait to be decoded: try again", count)
	case q.length >= maxWaiting && !q.evict(len(own.waiting)):
		return nil, tooManyAtOnce()
	}
	if len(own.waiting) == 0 {
		q.lines = append(q.lines, own)
	}
	turn := make(chan error, 1)
	own.waiting = append(own.waiting, turn)
	q.length++
	return turn, nil
}

// lineOf returns the line of an organization, or a new one that is not in the queue yet. The
// caller holds the lock.
func (q *queue) lineOf(org lastmile.OrganizationID) *line {
	for _, l := range q.lines {
		if l.of == org {
			return l
		}
	}
	return &line{of: org}
}

// evict ends the newest wait in the longest line, but only if that line still has more than the
// given number of images afterwards. It reports whether it did. The caller holds the lock.
func (q *queue) evict(than int) bool {
	longest := slices.MaxFunc(q.lines, func(a, b *line) int { return len(a.waiting) - len(b.waiting) })
	last := len(longest.waiting) - 1
	if last <= than {
		return false
	}
	longest.waiting[last] <- tooManyAtOnce()
	longest.waiting = longest.waiting[:last]
	q.length--
	return true
}

// withdraw ends a wait. It returns false if the wait is already over.
func (q *queue) withdraw(org lastmile.OrganizationID, turn chan error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lineOf(org)
	i := slices.Index(l.waiting, turn)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	q.length--
	if len(l.waiting) == 0 {
		q.lines = slices.DeleteFunc(q.lines, func(other *line) bool { return other == l })
	}
	return true
}

// leave ends a turn and gives the next one to the first line.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = ""
	if len(q.lines) == 0 {
		return
	}
	next := q.lines[0]
	q.lines = slices.Delete(q.lines, 0, 1)
	q.busy = next.of
	next.waiting[0] <- nil
	next.waiting = next.waiting[1:]
	q.length--
	if len(next.waiting) > 0 {
		q.lines = append(q.lines, next)
	}
}
