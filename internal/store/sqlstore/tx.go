package sqlstore

import (
	"context"
	"fmt"
	"time"

	"dray/internal/store"
	"dray/internal/store/engine"
)

// Tx is a transaction, or a consistent snapshot for reading only. It is composed of
// parts, each with the statements of one family of records, over one connection. Saving a
// record that exists replaces it.
type Tx struct {
	*base
	addressTx
	batchTx
	containerTx
	customFieldTx
	dispatchTx
	driverTx
	eventTx
	fleetTx
	geographyTx
	messageTx
	organizationTx
	receiptTx
	routePlanTx
	taskTx
	trackingTx
	uploadTx
	webhookTx
	workTx
}

// The parts of a transaction.
type (
	addressTx      struct{ *base } // destinations and recipients
	batchTx        struct{ *base } // batches
	containerTx    struct{ *base } // containers and the order of their tasks
	customFieldTx  struct{ *base } // custom fields and task templates
	dispatchTx     struct{ *base } // dispatches
	driverTx       struct{ *base } // workers' sessions, actions and positions
	eventTx        struct{ *base } // events and the log
	fleetTx        struct{ *base } // workers, teams and hubs
	geographyTx    struct{ *base } // cached geocoding, postal areas, settings and trips
	messageTx      struct{ *base } // text messages
	organizationTx struct{ *base } // organizations, their connections, administrators and keys
	receiptTx      struct{ *base } // replies to idempotent requests
	routePlanTx    struct{ *base } // route plans
	taskTx         struct{ *base } // tasks
	trackingTx     struct{ *base } // locations and estimates
	uploadTx       struct{ *base } // uploads
	webhookTx      struct{ *base } // webhooks and notifications
	workTx         struct{ *base } // leases of background work
)

func newTx(c conn, now func() time.Time) *Tx {
	b := &base{conn: c, now: now}
	return &Tx{
		base:           b,
		addressTx:      addressTx{b},
		batchTx:        batchTx{b},
		containerTx:    containerTx{b},
		customFieldTx:  customFieldTx{b},
		dispatchTx:     dispatchTx{b},
		driverTx:       driverTx{b},
		eventTx:        eventTx{b},
		fleetTx:        fleetTx{b},
		geographyTx:    geographyTx{b},
		messageTx:      messageTx{b},
		organizationTx: organizationTx{b},
		receiptTx:      receiptTx{b},
		routePlanTx:    routePlanTx{b},
		taskTx:         taskTx{b},
		trackingTx:     trackingTx{b},
		uploadTx:       uploadTx{b},
		webhookTx:      webhookTx{b},
		workTx:         workTx{b},
	}
}

// Conn returns the connection of the transaction, for the parts in other packages; see
// With.
func (t *Tx) Conn() engine.Conn { return t.whole() }

// itself returns the transaction, even from a larger one that embeds it.
func (t *Tx) itself() *Tx { return t }

// View is a database as one use case uses it: R and W are the interfaces that
// the use case declares, which its transactions implement.
type View[R, W any] struct {
	db      store.Transactor[*Tx, *Tx]
	compose func(*Tx) any // makes the use case's transaction
}

// For returns the view of a use case on a database. That *Tx implements R and W
// cannot be expressed as a constraint; package app proves it for every use case
// when it is compiled.
func For[R, W any](db store.Transactor[*Tx, *Tx]) View[R, W] {
	return With[R, W](db, func(t *Tx) *Tx { return t })
}

// With returns the view of a use case whose records are not all in this package. compose
// makes its transaction from a *Tx: usually a struct that embeds the *Tx and parts of
// other packages that use its Conn.
func With[R, W, T any](db store.Transactor[*Tx, *Tx], compose func(*Tx) T) View[R, W] {
	return View[R, W]{db: db, compose: func(t *Tx) any { return compose(t) }}
}

// Read implements store.Transactor.
func (v View[R, W]) Read(ctx context.Context, fn func(R) error) error {
	return v.db.Read(ctx, func(t *Tx) error {
		r, err := as[R](v.compose(t))
		if err != nil {
			return err
		}
		return fn(r)
	})
}

// Write implements store.Transactor.
func (v View[R, W]) Write(ctx context.Context, fn func(W) error) error {
	return v.db.Write(ctx, func(t *Tx) error {
		w, err := as[W](v.compose(t))
		if err != nil {
			return err
		}
		return fn(w)
	})
}

// Join implements store.Joiner.
func (v View[R, W]) Join(t store.Transaction) (W, error) {
	begun, err := as[interface{ itself() *Tx }](t)
	if err != nil {
		var none W
		return none, err
	}
	return as[W](v.compose(begun.itself()))
}

// as returns a transaction as the port of a use case.
func as[P any](t any) (P, error) {
	p, ok := t.(P)
	if !ok {
		return p, fmt.Errorf("%T does not implement %T", t, &p)
	}
	return p, nil
}
