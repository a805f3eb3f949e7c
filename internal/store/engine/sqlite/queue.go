package sqlite

import (
	"math"
	"sync"
	"time"

	"dray/internal/store/engine"
)

// queue is the operations that wait for the writer. Their callers take turns.
type queue struct {
	mu    sync.Mutex
	ops   engine.Queue[*operation]
	ready chan struct{} // has a value while operations wait
}

// endless is longer than any operation is expected to take.
const endless = time.Duration(math.MaxInt64)

// several is no caller's name: a transaction has operations of several callers.
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

// signal keeps ready.
func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// next takes an operation, or nil if none waits that may be done within a time or is
// of the caller own.
func (q *queue) next(most time.Duration, own string) *operation {
	q.mu.Lock()
	defer q.mu.Unlock()
	op, _, _ := q.ops.Next(most, own)
	if q.ops.Len() > 0 {
		q.signal()
	}
	return op
}

// used records how long an operation took.
func (q *queue) used(op *operation, took time.Duration, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops.Used(op.caller, took, now)
}

// length returns how many operations wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ops.Len()
}
