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

// Limits of one transaction. The time limit keeps the first operation of a batch from
// waiting for many slow ones.
const (
	maxBatch     = 256
	maxBatchTime = 25 * time.Millisecond
)

// Limits of waiting operations. Few clients repeat a rejected request, so waiting through
// a short peak is better than rejecting.
const (
	patience     = 10 * time.Second
	queueLength  = 4096
	callerLength = queueLength / 2 // operations of one caller
)

// writer commits operations on the one connection that may write. It runs waiting
// operations in one transaction, each in a savepoint, so that up to maxBatch operations
// cost one fsync.
type writer struct {
	h        *handle
	log      *slog.Logger
	now      func() time.Time
	spent    func() time.Duration // what the current thread has spent; see newMeter
	patience time.Duration        // longest wait before an operation is rejected
	longest  time.Duration        // time for which a transaction accepts more operations
	queue    queue
	asides   chan func()   // functions to run on the connection between two transactions
	quit     chan struct{} // closed to stop
	gone     chan struct{} // closed when stopped
	begin    func() error  // opens a transaction
	between  func()        // called after every transaction
	taken    []*operation  // operations of the current transaction
	doomed   atomic.Bool   // the disk failed; no further write is accepted

	waiting atomic.Int64
	count   engine.Counters
}

// operation is one write and its result.
type operation struct {
	fn        func(engine.Conn) error
	caller    string
	cancelled func() error // the caller's context
	state     atomic.Int32
	err       error
	result    chan error
}

// The states of an operation. Its caller abandons it or the writer starts it,
// whichever comes first.
const (
	waiting int32 = iota
	started
	abandoned
)

// newWriter returns a writer over h. Its loop is started by the caller.
func newWriter(h *handle, log *slog.Logger, now func() time.Time, patience time.Duration) *writer {
	w := &writer{
		h:        h,
		log:      log,
		now:      now,
		spent:    newMeter(h),
		patience: patience,
		longest:  maxBatchTime,
		queue:    queue{ready: make(chan struct{}, 1)},
		asides:   make(chan func()),
		quit:     make(chan struct{}),
		gone:     make(chan struct{}),
		between:  func() {},
	}
	w.begin = func() error { return h.run("BEGIN IMMEDIATE") }
	return w
}

// do queues an operation and waits until it is durable. While the operation is queued, the
// end of the context or the time limit cancels it; once started, it runs to its end.
func (w *writer) do(ctx context.Context, fn func(engine.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &operation{fn: fn, caller: lastmile.CallerOf(ctx), cancelled: ctx.Err, result: make(chan error, 1)}
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	if !w.queue.add(op) {
		return w.count.Overloaded("too many writes are waiting")
	}
	select {
	case err := <-op.result:
		return err
	case <-ctx.Done():
		if op.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
	case <-timer.C:
		if op.state.CompareAndSwap(waiting, abandoned) {
			return w.count.Overloaded("writes wait longer than %v", w.patience)
		}
	case <-w.gone:
		if op.state.CompareAndSwap(waiting, abandoned) {
			return engine.ErrClosed
		}
	}
	return <-op.result // every operation that was started has a result
}

// loop runs until quit is closed, and then finishes the queued operations.
func (w *writer) loop() {
	finished := false
	defer func() {
		if finished {
			close(w.gone)
			return
		}
		// An operation ended this goroutine with runtime.Goexit, as a failing test does. Other
		// operations must not be affected.
		w.rollback()
		w.finish(errors.New("the operation ended its goroutine"))
		go w.loop()
	}()
	for {
		select {
		case <-w.queue.ready:
			if op := w.queue.next(endless, several); op != nil {
				w.batch(op)
			}
			continue
		case aside := <-w.asides:
			aside()
			continue
		case <-w.quit:
		}
		for op := w.queue.next(endless, several); op != nil; op = w.queue.next(endless, several) {
			w.batch(op)
		}
		finished = true
		return
	}
}

// batch runs op, and operations that wait meanwhile, in one transaction.
func (w *writer) batch(op *operation) {
	defer w.between()
	if w.doomed.Load() {
		if op.start() {
			w.report(op.fail(engine.ErrUnsynced))
		}
		return
	}
	if err := w.begin(); err != nil {
		if op.start() {
			w.report(op.fail(fmt.Errorf("begin: %w", err)))
		}
		return
	}
	begun, own := w.now(), op.caller
	w.taken = w.taken[:0]
	for op != nil {
		if op.caller != own {
			own = several
		}
		if op.start() {
			w.taken = append(w.taken, op)
			if !w.savepoint(op) {
				w.recover(len(w.taken) - 1)
				return
			}
		}
		op = w.next(w.longest-w.now().Sub(begun), own)
	}
	w.commit()
}

// next takes another waiting operation into the batch, unless the batch is full or the
// operation is expected to exceed the time left, for which the others would wait. If all
// operations of the batch belong to the caller own, its operations may exceed the time.
func (w *writer) next(left time.Duration, own string) *operation {
	if len(w.taken) >= maxBatch || left <= 0 {
		return nil
	}
	if op := w.queue.next(left, own); op != nil {
		return op
	}
	// Let goroutines that are about to write run first: committing one by one
	// costs more than the short delay. On an idle machine this returns at once.
	runtime.Gosched()
	return w.queue.next(left, own)
}

// fail sets the error of the operation.
func (op *operation) fail(err error) *operation {
	op.err = err
	return op
}

// start claims the operation, unless its caller has abandoned it.
func (op *operation) start() bool {
	if !op.state.CompareAndSwap(waiting, started) {
		return false
	}
	if err := op.cancelled(); err != nil {
		op.result <- err
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

// first runs the first operation of a transaction. It needs no savepoint, which
// would copy each page that the operation changes: if it fails, the transaction
// is rolled back and another one begins.
func (w *writer) first(op *operation) (intact bool) {
	if w.call(op); op.err == nil {
		return true
	}
	w.rollback()
	return w.begin() == nil
}

// pageRead is what a page that is not in the writer's cache counts.
const pageRead = 100 * time.Microsecond

// newMeter returns a function that returns what the current thread has spent for operations
// on h: its processor time, and pageRead for each page that it read. Time for which it waited
// does not count: a caller would wait even longer for its next operation, and none of the next
// ones would be expected to fit into a transaction with others.
func newMeter(h *handle) func() time.Duration {
	var pages int64
	return func() time.Duration {
		pages += h.pagesRead()
		return threadTime() + time.Duration(pages)*pageRead
	}
}

// call runs the function of an operation.
func (w *writer) call(op *operation) {
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	c, begun := &conn{h: w.h}, w.spent()
	op.err = engine.Protect(w.log, c, op.fn)
	c.end()
	w.queue.used(op, w.spent()-begun, w.now())
	if op.err == nil {
		op.err = c.failed
	}
}

// commit makes the batch durable and reports the results. Failed operations get their
// results only now, because what they read was not yet durable.
func (w *writer) commit() {
	if err := w.h.run("COMMIT"); err != nil {
		w.log.Error("commit", "operations", len(w.taken), "error", err)
		if w.doomed.Load() { // the next commit may seem to work
			w.rollback()
			w.finish(engine.ErrUnsynced)
			return
		}
		w.recover(-1)
		return
	}
	w.count.Committed(len(w.taken))
	w.finish(nil)
}

// finish reports the result of every operation of the transaction. err is the
// result of those that have no error themselves.
func (w *writer) finish(err error) {
	for i, op := range w.taken {
		if op.err == nil {
			op.err = err
		}
		w.report(op)
		w.taken[i] = nil
	}
	w.taken = w.taken[:0]
}

// report sends the result of one operation.
func (w *writer) report(op *operation) {
	if op.err != nil {
		w.count.Failed.Add(1)
	} else {
		w.count.Operations.Add(1)
	}
	op.result <- w.present(op.err)
}

// recover cleans up after a transaction that failed as a whole. The operation
// that caused it (or -1) keeps its error; the others run again, each alone.
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
		w.report(op)
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

// rollback ends an open transaction, if there is one.
func (w *writer) rollback() {
	w.h.settle()
	if w.h.idle() {
		return
	}
	if err := w.h.run("ROLLBACK"); err != nil {
		w.log.Error("rollback", "error", err)
	}
}

// present turns temporary errors into ones that the client may retry.
func (w *writer) present(err error) error {
	switch resultCode(err) {
	case lib.SQLITE_FULL:
		return lastmile.Overloaded("The server cannot store anything now: try again later.").
			Because("the disk is full")
	case lib.SQLITE_BUSY:
		return w.count.Overloaded("another process holds the database")
	default:
		return outOfMemory(&w.count, err)
	}
}

// outOfMemory turns the error of an operation for which the library had no memory
// into one that the client may retry.
func outOfMemory(count *engine.Counters, err error) error {
	failure, ok := errors.AsType[*libraryError](err)
	if ok && (failure.code == lib.SQLITE_NOMEM || failure.code == lib.SQLITE_IOERR_NOMEM) {
		return fmt.Errorf("%w: %w", count.Overloaded("the database has no memory left"), err)
	}
	return err
}

// stop finishes the queued operations and waits for the loop to end.
func (w *writer) stop() {
	close(w.quit)
	<-w.gone
}
