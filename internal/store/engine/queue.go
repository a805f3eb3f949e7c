package engine

import "time"

// Queue holds operations that wait to run. Each belongs to a caller, such as an
// organization. The next one is the oldest of the caller that has used the least
// time lately: a caller with long operations delays itself and not the others. A
// caller that had none waiting counts as if it had used hardly less than those that
// have run, so that one that has used a little does not wait for long if many others
// begin.
//
// A Queue is used by one goroutine at a time. The zero Queue is empty.
type Queue[T any] struct {
	callers map[string]*caller[T]
	waiting []*caller[T] // those with operations that wait, in no order
	added   uint64
	length  int
	turn    time.Duration // the most that the caller of an operation had used; halved every halfLife
	halved  time.Time     // when the times of all callers were last halved
}

// caller is what the operations of one caller wait for and use.
type caller[T any] struct {
	name    string
	waiting []waiting[T]
	used    time.Duration // halved every halfLife
	long    time.Duration // what its next operation may take; halved every halfLife
}

// waiting is an operation and its number.
type waiting[T any] struct {
	operation T
	number    uint64
}

// halfLife is how soon half of the time that a caller has used is forgiven.
const halfLife = time.Second

// headStart is how much less than those before it a caller counts as having used when it begins,
// so that a few short operations of it come before a long one.
const headStart = 10 * time.Millisecond

// Len returns how many operations wait.
func (q *Queue[T]) Len() int { return q.length }

// LenOf returns how many operations of a caller wait.
func (q *Queue[T]) LenOf(name string) int {
	if c := q.callers[name]; c != nil {
		return len(c.waiting)
	}
	return 0
}

// Add adds an operation of a caller.
func (q *Queue[T]) Add(name string, operation T) {
	c := q.caller(name)
	if len(c.waiting) == 0 {
		q.waiting = append(q.waiting, c)
		c.used = max(c.used, q.turn-headStart)
	}
	q.added++
	q.length++
	c.waiting = append(c.waiting, waiting[T]{operation, q.added})
}

// caller returns the entry of a caller.
func (q *Queue[T]) caller(name string) *caller[T] {
	c := q.callers[name]
	if c == nil {
		if q.callers == nil {
			q.callers = map[string]*caller[T]{}
		}
		c = &caller[T]{name: name}
		q.callers[name] = c
	}
	return c
}

// Next removes and returns the operation that runs next and its caller. It returns
// none if the operation is expected to take longer than most, unless it is of the
// caller own.
func (q *Queue[T]) Next(most time.Duration, own string) (operation T, name string, ok bool) {
	next := -1
	for i, c := range q.waiting {
		if next < 0 || c.before(q.waiting[next]) {
			next = i
		}
	}
	if next < 0 || q.waiting[next].long > most && q.waiting[next].name != own {
		return operation, "", false
	}
	c := q.waiting[next]
	q.turn = max(q.turn, c.used) // those that begin one after another must not each have used less
	operation, c.waiting = c.waiting[0].operation, c.waiting[1:]
	q.length--
	if len(c.waiting) == 0 {
		c.waiting = nil
		last := len(q.waiting) - 1
		q.waiting[next] = q.waiting[last]
		q.waiting[last] = nil
		q.waiting = q.waiting[:last]
	}
	return operation, c.name, true
}

// before reports whether a caller goes before another.
func (c *caller[T]) before(other *caller[T]) bool {
	if c.used != other.used {
		return c.used < other.used
	}
	return c.waiting[0].number < other.waiting[0].number
}

// Used records how long an operation of a caller took, and when it ended. The next
// one is expected to take as long as the longest lately: that some were short in
// between, such as rejected requests, says nothing about it.
func (q *Queue[T]) Used(name string, took time.Duration, now time.Time) {
	q.halve(now)
	c := q.caller(name)
	c.used += max(took, 0)
	c.long = max(took, c.long)
}

// halve halves the used times, and drops callers that have used nothing for long.
func (q *Queue[T]) halve(now time.Time) {
	passed := now.Sub(q.halved)
	if passed >= 0 && passed < halfLife {
		return
	}
	halvings := max(1, min(passed/halfLife, 63))
	q.turn >>= halvings
	for name, c := range q.callers {
		c.used, c.long = c.used>>halvings, c.long>>halvings
		if c.used == 0 && len(c.waiting) == 0 {
			delete(q.callers, name)
		}
	}
	q.halved = now
}
