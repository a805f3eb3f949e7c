package store

import (
	"context"
	"errors"

	"dray/internal/lastmile"
)

// ReceiptReader reads the replies to idempotent requests.
type ReceiptReader interface {
	// Receipt returns the receipt that has the organization, key, method and path of
	// sought, or lastmile.NotFound.
	Receipt(ctx context.Context, sought lastmile.Receipt) (lastmile.Receipt, error)
}

// Receipts reads and saves the replies to idempotent requests.
type Receipts interface {
	ReceiptReader
	// SaveReceipt saves reply, the encoded response, under the receipt.
	SaveReceipt(ctx context.Context, r lastmile.Receipt, reply []byte) error
}

// Idempotent runs change in one transaction and saves its result as the reply
// to the principal's idempotency key, if the request has one. If that request
// was done before, nothing changes and the error is a *lastmile.Replay.
//
// Like every function passed to Write, change may run more than once.
func Idempotent[T, R any, W Receipts](ctx context.Context, s Transactor[R, W], who lastmile.Principal, change func(W) (T, error)) (T, error) {
	var result T
	err := writeOnce(ctx, s, who, func(w W) error {
		if err := checkReplay(ctx, w, who); err != nil {
			return err
		}
		var err error
		if result, err = change(w); err != nil || who.Receipt == nil {
			return err
		}
		reply, err := who.Receipt.Encode(result)
		if err != nil {
			return err
		}
		return w.SaveReceipt(ctx, *who.Receipt, reply)
	})
	return result, err
}

// maxOutcomeRetries is the maximum number of retries of a request with an idempotency key
// after a commit whose outcome is unknown.
const maxOutcomeRetries = 2

// writeOnce is Write for an fn that begins with checkReplay. If the outcome of the commit is
// unknown and the principal's request has a key, it runs fn again, which finds the receipt
// if the first commit succeeded. If the first transaction is still pending, saving the same
// receipt waits for its end.
func writeOnce[R, W any](ctx context.Context, s Transactor[R, W], who lastmile.Principal, fn func(W) error) error {
	first := s.Write(ctx, fn)
	if who.Receipt == nil || !errors.Is(first, lastmile.ErrUnknownOutcome) {
		return first
	}
	for range maxOutcomeRetries {
		err := s.Write(ctx, fn)
		if !unresolved(err) {
			return err
		}
	}
	return first
}

// unresolved reports whether a retry did not find out the outcome of the first write, because
// the database could not be used.
func unresolved(err error) bool {
	if err == nil {
		return false
	}
	if _, done := errors.AsType[*lastmile.Replay](err); done {
		return false
	}
	rejected, ok := errors.AsType[*lastmile.Error](err)
	return !ok || rejected.Code == lastmile.CodeOverloaded
}

// CheckReplay returns a *lastmile.Replay if the principal's request was done
// before. It saves a repeated request the work that precedes the transaction.
func CheckReplay[R ReceiptReader, W any](ctx context.Context, s Transactor[R, W], who lastmile.Principal) error {
	return s.Read(ctx, func(r R) error { return checkReplay(ctx, r, who) })
}

func checkReplay(ctx context.Context, r ReceiptReader, who lastmile.Principal) error {
	if who.Receipt == nil {
		return nil
	}
	kept, err := r.Receipt(ctx, *who.Receipt)
	if lastmile.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if who.Receipt.Created.Sub(kept.Created) > lastmile.ReceiptLifetime {
		return nil
	}
	if err := kept.Matches(who.Receipt.BodyHash); err != nil {
		return err
	}
	return &lastmile.Replay{Reply: kept.Reply}
}
