package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// SQLSTATE codes that are handled.
const (
	pgSerialization   = "40001" // lost against another transaction
	pgDeadlock        = "40P01"
	pgUniqueViolation = "23505"
	pgPlanChanged     = "0A000" // a cached plan, after a migration by another node
	pgDuplicateTable  = "42P07"
	pgDuplicateObject = "42710"
	pgInternal        = "XX000" // "tuple concurrently updated", of the catalog
	pgDiskFull        = "53100"
	pgTooManyConns    = "53300"
	pgOutOfMemory     = "53200"
	pgShutdown        = "57P01"
	pgCrashShutdown   = "57P02"
	pgStarting        = "57P03"
	pgIdleTimeout     = "57P05"
)

// Limits of retries. If two operations raced for a unique key, the second run finds the
// row; a key that stays violated is a bug of the operation.
const (
	maxRetries       = 50
	maxUniqueRetries = 3
	maxLostRetries   = 1
	longestBackoff   = 100 * time.Millisecond
)

// After loneRetry retries, an operation runs while no other of its caller does, or a long
// one would lose against short ones as long as there are any. It waits at most
// lonePatience for the running ones.
const (
	loneRetry    = 3
	lonePatience = time.Second
)

// retries counts the retries of an operation by reason.
type retries struct {
	lost, unique, total int
	careful             bool // a connection broke before the transaction began
}

// Write implements engine.Engine. The transaction is serializable and runs again if it
// lost against another one, unless lastmile.Locking marks the context: then it is read
// committed, because it locks what it relies on.
func (e *Engine) Write(ctx context.Context, fn func(engine.Conn) error) error {
	return e.limited(ctx, operationPatience, func(ctx context.Context) error {
		return e.Transact(ctx, fn)
	})
}

// Transact is Write without a time limit.
func (e *Engine) Transact(ctx context.Context, fn func(engine.Conn) error) error {
	e.count.Running.Add(1)
	defer e.count.Running.Add(-1)
	var r retries
	leave := func() {}
	defer func() { leave() }()
	for {
		err := e.enter(ctx, r, fn)
		if err == nil {
			e.count.Operations.Add(1)
			e.count.Committed(1)
			return nil
		}
		if !r.again(err) || ctx.Err() != nil {
			e.count.Failed.Add(1)
			return e.settle(ctx, err)
		}
		e.count.Retries.Add(1)
		if r.total == 1 {
			// Operations usually lose against others of the same caller, so its
			// retries run one at a time. Other callers do not wait for them.
			end, err := e.again.Take(ctx, lastmile.CallerOf(ctx))
			if err != nil {
				return err
			}
			leave = end
		}
		if err := backoff(ctx, r.total); err != nil {
			return err
		}
	}
}

// enter runs fn once, at the same time as other operations of the caller or, after
// several retries, alone.
func (e *Engine) enter(ctx context.Context, r retries, fn func(engine.Conn) error) error {
	caller := lastmile.CallerOf(ctx)
	if r.total >= loneRetry {
		waiting, cancel := context.WithTimeout(ctx, lonePatience)
		defer cancel()
		if leave, err := e.gate.EnterAlone(waiting, caller); err == nil {
			defer leave()
			return e.attempt(ctx, r.careful, fn)
		}
	}
	leave, err := e.gate.Enter(ctx, caller)
	if err != nil {
		return err
	}
	defer leave()
	return e.attempt(ctx, r.careful, fn)
}

// attemptError is the error of a failed attempt: the error of fn or the database, and the
// error of the database that decides whether to try again.
type attemptError struct {
	err       error
	cause     error
	lost      bool // the connection broke
	unbegun   bool // the connection broke before the transaction began
	committed bool // COMMIT was sent without a response
}

// Error implements error.
func (a *attemptError) Error() string { return a.err.Error() }

// Unwrap is for errors.Is and errors.As.
func (a *attemptError) Unwrap() error { return a.err }

// attempt runs fn once in its own transaction.
func (e *Engine) attempt(ctx context.Context, careful bool, fn func(engine.Conn) error) error {
	how := beginSerializable
	if lastmile.IsLocking(ctx) {
		how = beginLocking
	}
	c, release, err := e.begin(ctx, how, careful)
	if err != nil {
		return err
	}
	defer release()
	err = engine.Protect(e.log, c, fn)
	c.end()
	if err == nil {
		err = c.failed
	}
	if err == nil && c.isEmpty() {
		return nil
	}
	deadline, limited := ctx.Deadline()
	switch together := c.begun && limited; { // the last statements are sent together with COMMIT
	case err != nil:
	case together:
		err = ctx.Err()
	default:
		err = c.flush(ctx)
	}
	closed := c.raw.IsClosed()
	if err != nil {
		return &attemptError{err: err, cause: errors.Join(err, c.failed), lost: closed, unbegun: c.neverBegan()}
	}
	if closed {
		return &attemptError{err: errConnectionLost, cause: errConnectionLost, lost: true}
	}
	// From here on, only a response proves that COMMIT had no effect: if the connection breaks
	// after COMMIT was sent, pgx may report that a retry is safe.
	sent, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(commitPatience, time.Until(deadline)))
	defer cancel()
	if err := c.commit(sent); err != nil {
		lost := c.raw.IsClosed()
		return &attemptError{
			err:       fmt.Errorf("commit: %w", err),
			cause:     err,
			lost:      lost,
			committed: (lost || pgCode(err) != "") && !notKept(err),
		}
	}
	return nil
}

// notKept reports whether the server's response to COMMIT proves that nothing was
// committed. A response that the server shuts down proves nothing.
func notKept(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}
	switch code := pgCode(err); code {
	case "", pgShutdown, pgCrashShutdown, "40003":
		return false
	default:
		return true
	}
}

// again counts a failed attempt and reports whether to run the operation once more.
func (r *retries) again(err error) bool {
	a, ok := errors.AsType[*attemptError](err)
	if !ok || a.committed || givenUp(a.cause) {
		return false
	}
	r.total++
	switch code := pgCode(a.cause); {
	case code == pgSerialization, code == pgDeadlock, code == pgPlanChanged:
		return r.total <= maxRetries
	case code == pgUniqueViolation:
		r.unique++
		return r.unique <= maxUniqueRetries
	case a.unbegun && !r.careful:
		r.careful = true
		return true
	case a.lost, connectionCode(code):
		r.lost++
		return r.lost <= maxLostRetries
	default:
		return false
	}
}

// settle returns the error of the operation after its last attempt.
func (e *Engine) settle(ctx context.Context, err error) error {
	a, ok := errors.AsType[*attemptError](err)
	if !ok {
		return err // no connection
	}
	if a.committed {
		return fmt.Errorf("%w: %w", lastmile.ErrUnknownOutcome, a.err)
	}
	code := pgCode(a.cause)
	conflict := code == pgSerialization || code == pgDeadlock
	switch {
	case conflict && ctx.Err() != nil: // otherwise it would have run again
		return ctx.Err()
	case ctx.Err() != nil, givenUp(a.cause):
		return ended(ctx, a.err)
	case conflict:
		e.count.Shed.Add(1)
		return lastmile.Overloaded("The server is busy: try again in a moment.").
			Because("other writers were faster %d times", maxRetries)
	case a.lost:
		e.count.Shed.Add(1)
		return e.unreachable(a.err)
	default:
		return e.present(ctx, a.err)
	}
}

// define runs a change of the schema. Two nodes that create the same table at once collide
// in the catalog; this is not reported as a serialization failure, so define retries it.
// There is no time limit: a change of a large table, or the wait for another node that
// makes it, may take long.
func (e *Engine) define(ctx context.Context, fn func(engine.Conn) error) error {
	for i := 0; ; i++ {
		err := e.Transact(ctx, fn)
		switch pgCode(err) {
		case pgUniqueViolation, pgDuplicateTable, pgDuplicateObject, pgInternal:
		default:
			return err
		}
		if i == maxRetries {
			return err
		}
		if err := backoff(ctx, i); err != nil {
			return err
		}
	}
}

// backoff waits for a random time that grows with each attempt.
func backoff(ctx context.Context, attempt int) error {
	limit := min(time.Millisecond<<min(attempt, 10), longestBackoff)
	timer := time.NewTimer(rand.N(limit) + limit/4)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// present turns temporary errors into ones that the client may retry.
func (e *Engine) present(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || givenUp(err) {
		return ended(ctx, err)
	}
	if _, ours := errors.AsType[*lastmile.Error](err); ours {
		return err
	}
	code := pgCode(err)
	switch {
	case code == pgDiskFull:
		return lastmile.Overloaded("The server cannot store anything now: try again later.").
			Because("the database's disk is full")
	case connectionCode(code), errors.Is(err, errConnectionLost):
		e.count.Shed.Add(1)
		return e.unreachable(err)
	default:
		return err
	}
}

// ended adds the error of an ended context to err, because the error that a connection
// returns then need not mention the context.
func ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || givenUp(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// connectionCode reports whether a code concerns the connection or the server as a whole
// and not the statement.
func connectionCode(code string) bool {
	switch code {
	case pgTooManyConns, pgOutOfMemory, pgShutdown, pgCrashShutdown, pgStarting, pgIdleTimeout:
		return true
	default:
		return len(code) == 5 && code[:2] == "08"
	}
}

// IsUnique implements engine.Engine.
func (e *Engine) IsUnique(err error) bool { return pgCode(err) == pgUniqueViolation }

// pgCode returns the SQLSTATE code in err, or "".
func pgCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}
