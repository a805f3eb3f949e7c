package engine

import "time"

// Queue holds operations that wait to run. Each belongs to a caller, such as an
// organization. The next one is the oldest of the caller that has used the least time
// recently, so that a caller with long operations delays only itself. A caller without
// waiting operations starts with hardly less used time than the callers that have run;
// otherwise, many new callers would delay one that has used only a little.
//
// A Queue is used by one goroutine at a time. The zero Queue is empty.
type Queue[T any] struct {
	callers map[string]*caller[T]
	waiting []*caller[T] // callers with waiting operations, in no order
	added   uint64
	length  int
	turn    time.Duration // largest used time of a caller whose operation was started; halved every halfLife
	halved  time.Time     // when the times of all callers were last halved
}

// caller has the waiting operations and the used time of one caller.
type caller[T any] struct {
	name    string
	waiting []waiting[T]
	used    time.Duration // halved every halfLife
	long    time.Duration // expected time of its next operation; halved every halfLife
}

// waiting is a waiting operation and its number in the order of arrival.
type waiting[T any] struct {
	operation T
	number    uint64
}

// halfLife is the time after which half of a caller's used time is forgiven.
const halfLife = time.Second

// headStart is subtracted from the used time with which a caller starts, so that a few
// short operations of it run before a long one.
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

// Next removes and returns the operation that runs next and its caller. It returns none
// if that operation is expected to take longer than most and its caller is not own.
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
	q.turn = max(q.turn, c.used) // or else each new caller would start with less than the one before
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

// before reports whether the next operation of a caller runs before that of another.
func (c *caller[T]) before(other *caller[T]) bool {
	if c.used != other.used {
		return c.used < other.used
	}
	return c.waiting[0].number < other.waiting[0].number
}

// Used records how long an operation of a caller took, and when it ended. The next one is
// expected to take as long as the longest recent one: short ones in between, such as
// rejected requests, say nothing about it.
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
