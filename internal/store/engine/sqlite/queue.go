package sqlite

import (
	"math"
	"sync"
	"time"

	"dray/internal/store/engine"
)

// queue holds the operations that wait for the writer; see engine.Queue for their order.
type queue struct {
	mu    sync.Mutex
	ops   engine.Queue[*operation]
	ready chan struct{} // has a value while operations wait
}

// endless is longer than any operation is expected to take.
const endless = time.Duration(math.MaxInt64)

// several stands for the caller of a transaction with operations of several callers. No
// caller has this name.
const several = "several callers"

// add adds an operation, and reports whether there was room for it.
func (q *queue) add(op *operation) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ops.Len() >= queueLength || q.ops.LenOf(op.caller) >= callerLength {
		return false
	}
	q.ops.Add(op.caller, op)
	q.signal()
	return true
}

// signal makes ready readable.
func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// next removes and returns the next operation; nil if there is none, or if it is expected
// to take longer than most and is not of the caller own.
func (q *queue) next(most time.Duration, own string) *operation {
	q.mu.Lock()
	defer q.mu.Unlock()
	op, _, _ := q.ops.Next(most, own)
	if q.ops.Len() > 0 {
		q.signal()
	}
	return op
}

// used records what an operation has spent.
func (q *queue) used(op *operation, spent time.Duration, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops.Used(op.caller, spent, now)
}

// length returns how many operations wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ops.Len()
}
