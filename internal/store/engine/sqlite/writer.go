package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// How much the writer takes into one transaction. The time keeps the first
// operation of a batch from waiting for many slow ones.
const (
	maxBatch     = 256
	maxBatchTime = 25 * time.Millisecond
	queueLength  = 4096
)

// writer commits operations on the one connection that may write. It drains
// what waits into one transaction, a savepoint for each, so that the price of
// making it durable is paid once for all: 256 operations cost one fsync.
type writer struct {
	h        *handle
	log      *slog.Logger
	patience time.Duration // longest wait before an operation is refused
	longest  time.Duration // that a transaction takes in more operations
	queue    chan *operation
	quit     chan struct{} // closed to stop
	gone     chan struct{} // closed when stopped
	begin    func() error  // opens a transaction
	between  func()        // called after every transaction
	taken    []*operation  // operations of the current transaction
	doomed   atomic.Bool   // the disk lost something: nothing is durable any more

	waiting atomic.Int64
	count   engine.Counters
}

// operation is one write and its answer.
type operation struct {
	fn        func(engine.Conn) error
	cancelled func() error // the caller's context
	state     atomic.Int32
	err       error
	answer    chan error
}

// The states of an operation: either side may end the waiting, one wins.
const (
	waiting int32 = iota
	started
	abandoned
)

// newWriter returns a writer over h. Its loop is started by the caller.
func newWriter(h *handle, log *slog.Logger, patience time.Duration) *writer {
	w := &writer{
		h:        h,
		log:      log,
		patience: patience,
		longest:  maxBatchTime,
		queue:    make(chan *operation, queueLength),
		quit:     make(chan struct{}),
		gone:     make(chan struct{}),
		between:  func() {},
	}
	w.begin = func() error { return h.run("BEGIN IMMEDIATE") }
	return w
}

// do queues an operation and waits until it is durable. While it waits for its
// turn, the context or too long a wait end it; once begun, it is waited for.
func (w *writer) do(ctx context.Context, fn func(engine.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &operation{fn: fn, cancelled: ctx.Err, answer: make(chan error, 1)}
	timer := time.NewTimer(w.patience)
	defer timer.Stop()

	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	select {
	case w.queue <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return w.refuse()
	case <-w.gone:
		return engine.ErrClosed
	}
	select {
	case err := <-op.answer:
		return err
	case <-ctx.Done():
		if op.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
	case <-timer.C:
		if op.state.CompareAndSwap(waiting, abandoned) {
			return w.refuse()
		}
	case <-w.gone:
		if op.state.CompareAndSwap(waiting, abandoned) {
			return engine.ErrClosed
		}
	}
	return <-op.answer // begun: everything begun is answered
}

// refuse is the answer to an operation that waited too long.
func (w *writer) refuse() error {
	w.count.Shed.Add(1)
	return lastmile.Overloaded("The server is busy: try again in a moment.").
		Because("writes wait longer than %v", w.patience)
}

// loop runs until quit is closed and then finishes what is queued.
func (w *writer) loop() {
	finished := false
	defer func() {
		if finished {
			close(w.gone)
			return
		}
		// An operation ended this goroutine (runtime.Goexit, which a failing
		// test calls). The others must not pay for that.
		w.rollback()
		w.answer(errors.New("the operation ended its goroutine"))
		go w.loop()
	}()
	for {
		select {
		case op := <-w.queue:
			w.batch(op)
			continue
		case <-w.quit:
		}
		for len(w.queue) > 0 {
			w.batch(<-w.queue)
		}
		finished = true
		return
	}
}

// batch runs op, and what else waits by then, in one transaction.
func (w *writer) batch(op *operation) {
	defer w.between()
	if w.doomed.Load() {
		if op.start() {
			w.tell(op.fail(engine.ErrUnsynced))
		}
		return
	}
	if err := w.begin(); err != nil {
		if op.start() {
			op.answer <- w.present(fmt.Errorf("begin: %w", err))
		}
		return
	}
	full := time.NewTimer(w.longest)
	defer full.Stop()
	w.taken = w.taken[:0]
	for op != nil {
		if op.start() {
			w.taken = append(w.taken, op)
			if !w.savepoint(op) {
				w.recover(len(w.taken) - 1)
				return
			}
		}
		op = w.next(full.C)
	}
	w.commit()
}

// next takes another waiting operation into the batch, unless it is full.
func (w *writer) next(full <-chan time.Time) *operation {
	if len(w.taken) >= maxBatch {
		return nil
	}
	select {
	case <-full:
		return nil
	default:
	}
	select {
	case op := <-w.queue:
		return op
	default:
	}
	// Whoever is about to write is let through first: to commit one by one what
	// could be committed together costs more than the moment. With nobody else
	// at work this returns at once.
	runtime.Gosched()
	select {
	case op := <-w.queue:
		return op
	default:
		return nil
	}
}

// fail gives the operation an error.
func (op *operation) fail(err error) *operation {
	op.err = err
	return op
}

// start claims the operation, unless its caller has given it up.
func (op *operation) start() bool {
	if !op.state.CompareAndSwap(waiting, started) {
		return false
	}
	if err := op.cancelled(); err != nil {
		op.answer <- err
		return false
	}
	return true
}

// savepoint runs one operation so that its failure leaves the rest of the
// transaction alone. It returns false when the transaction itself is lost.
func (w *writer) savepoint(op *operation) (intact bool) {
	if len(w.taken) == 1 {
		return w.first(op)
	}
	if op.err = w.h.run("SAVEPOINT op"); op.err != nil {
		return false
	}
	if w.call(op); op.err == nil {
		op.err = w.h.run("RELEASE op")
		return op.err == nil
	}
	return !w.h.idle() && w.h.run("ROLLBACK TO op") == nil && w.h.run("RELEASE op") == nil
}

// first runs the first operation of a transaction, in which there is nothing yet
// that a failure could harm: the transaction begins anew. A savepoint would keep
// a copy of each page that the operation changes.
func (w *writer) first(op *operation) (intact bool) {
	if w.call(op); op.err == nil {
		return true
	}
	w.rollback()
	return w.begin() == nil
}

// call runs the function of an operation.
func (w *writer) call(op *operation) {
	c := &conn{h: w.h}
	op.err = engine.Protect(w.log, c, op.fn)
	c.end()
	if op.err == nil {
		op.err = c.failed
	}
}

// commit makes the batch durable and answers it. Operations that failed are
// answered now and not before, because what they saw was not yet durable.
func (w *writer) commit() {
	if err := w.h.run("COMMIT"); err != nil {
		w.log.Error("commit", "operations", len(w.taken), "error", err)
		if w.doomed.Load() { // the next commit may seem to work
			w.rollback()
			w.answer(engine.ErrUnsynced)
			return
		}
		w.recover(-1)
		return
	}
	w.count.Committed(len(w.taken))
	w.answer(nil)
}

// answer tells every operation of the transaction how it ended. A non-nil err
// is for those that have none of their own.
func (w *writer) answer(err error) {
	for i, op := range w.taken {
		if op.err == nil {
			op.err = err
		}
		w.tell(op)
		w.taken[i] = nil
	}
	w.taken = w.taken[:0]
}

// tell answers one operation.
func (w *writer) tell(op *operation) {
	if op.err != nil {
		w.count.Failed.Add(1)
	} else {
		w.count.Operations.Add(1)
	}
	op.answer <- w.present(op.err)
}

// recover clears up after a transaction that broke as a whole. The operation
// that broke it (or -1) keeps its error; the innocent run again, each alone.
func (w *writer) recover(culprit int) {
	w.count.Broken.Add(1)
	w.rollback()
	again := make([]*operation, len(w.taken))
	copy(again, w.taken)
	for i, op := range again {
		w.taken = append(w.taken[:0], op)
		if i != culprit {
			w.count.Retries.Add(1)
			w.alone(op)
		}
		w.tell(op)
		w.taken = w.taken[:0]
	}
}

// alone runs one operation in its own transaction.
func (w *writer) alone(op *operation) {
	if w.doomed.Load() {
		op.err = engine.ErrUnsynced
		return
	}
	if op.err = w.begin(); op.err != nil {
		return
	}
	if w.call(op); op.err == nil {
		op.err = w.h.run("COMMIT")
	}
	if op.err != nil {
		w.rollback()
		return
	}
	w.count.Committed(1)
}

// rollback leaves no transaction open, whatever happened.
func (w *writer) rollback() {
	w.h.settle()
	if w.h.idle() {
		return
	}
	if err := w.h.run("ROLLBACK"); err != nil {
		w.log.Error("rollback", "error", err)
	}
}

// present turns errors that will pass into ones that the client may retry.
func (w *writer) present(err error) error {
	switch resultCode(err) {
	case lib.SQLITE_FULL:
		return lastmile.Overloaded("The server cannot store anything now: try again later.").
			Because("the disk is full")
	case lib.SQLITE_BUSY:
		w.count.Shed.Add(1)
		return lastmile.Overloaded("The server is busy: try again in a moment.").
			Because("another process holds the database")
	default:
		return err
	}
}

// stop finishes what is queued and waits for the loop.
func (w *writer) stop() {
	close(w.quit)
	<-w.gone
}
