package access

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Principal is who is asking.
type Principal struct {
	Organization lastmile.OrganizationID
	Key          lastmile.KeyID
	Worker       lastmile.WorkerID // set when a worker asks, not an API key

	// MustSetPassword says that the worker signed in with a temporary password
	// and has not set her own.
	MustSetPassword bool
	session         store.Session // of the worker

	// Receipt is set when the request carries an idempotency key: what Once
	// does for it is done once.
	Receipt *lastmile.Receipt
}

// Answered is returned in place of doing something a second time. Reply is
// the answer that was given the first time.
type Answered struct{ Reply []byte }

// Error implements error.
func (a *Answered) Error() string { return "this request was answered before" }

// Once runs change in one transaction and keeps its result as the answer to
// the principal's idempotency key, if the request has one. When that request
// was done before, nothing is changed and the error is *Answered.
//
// change may run more than once, like every function given to store.Write.
func Once[T any](ctx context.Context, s store.Store, who Principal, change func(store.Writer) (T, error)) (T, error) {
	var result T
	err := s.Write(ctx, func(w store.Writer) error {
		if err := answered(ctx, w, who); err != nil {
			return err
		}
		var err error
		if result, err = change(w); err != nil || who.Receipt == nil {
			return err
		}
		return w.SaveReceipt(ctx, *who.Receipt, result)
	})
	return result, err
}

// Keep keeps the answer to a request that changed nothing, such as a search,
// for the principal's idempotency key. When another request with the key was
// faster, the error is *Answered.
func (d *Directory) Keep(ctx context.Context, who Principal, answer any) error {
	_, err := Once(ctx, d.Store, who, func(store.Writer) (any, error) { return answer, nil })
	return err
}

// CheckAnswered returns *Answered when the principal's request was done
// before, so that not even the work before the transaction is done again.
func (d *Directory) CheckAnswered(ctx context.Context, who Principal) error {
	return d.Store.Read(ctx, func(r store.Reader) error { return answered(ctx, r, who) })
}

func answered(ctx context.Context, r store.Reader, who Principal) error {
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
	return &Answered{Reply: kept.Reply}
}

// Actor is the principal as events name it.
func (p Principal) Actor() lastmile.Actor {
	if p.Worker != "" {
		return lastmile.Actor{Type: lastmile.ActorWorker, ID: string(p.Worker)}
	}
	return lastmile.Actor{Type: lastmile.ActorAPI, ID: string(p.Key)}
}
