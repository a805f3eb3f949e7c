package app

import (
	"context"
	"fmt"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/ordering"
	"dray/internal/rate"
	"dray/internal/sms"
	"dray/internal/store"
	"dray/internal/store/sqlorder"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

type (
	// Client is a client of a courier.
	Client = store.Client
	// ClientDraft is a request for a client.
	ClientDraft = ordering.ClientDraft
	// ClientStatus is the status of a client.
	ClientStatus = store.ClientStatus
)

// addOrders sets up the use cases of couriers and their clients.
func (a *App) addOrders(newID func() string, shares *rate.Shares) {
	a.Clients = &ordering.Clients{
		Store: sqlstore.With[ordering.ClientReader, ordering.ClientWriter](a.Store, withParts), Organizations: a.Organizations,
		Now: a.Now, NewID: newID, KnownCountry: sms.KnownCountry,
	}
	cache := &sqlorder.ServiceCache{}
	caching := func(t *sqlstore.Tx) parts {
		tx := withParts(t)
		tx.orderPart = tx.orderPart.WithCache(cache)
		return tx
	}
	a.Services = &ordering.Services{Store: sqlstore.With[ordering.ServiceReader, ordering.ServiceWriter](a.Store, caching), Now: a.Now, NewID: newID}
	a.Quotes = &ordering.Quotes{
		Store: sqlstore.With[ordering.QuoteReader, ordering.QuoteWriter](a.Store, caching), Places: a.Book, Travel: a.Travel, Shares: shares, Now: a.Now, NewID: newID,
	}
	a.Orders = &ordering.Orders{
		Store: sqlstore.With[ordering.OrderReader, ordering.OrderWriter](a.Store, caching), Tasks: orderTasks{a.Tasks}, Quotes: a.Quotes,
		Now: a.Now, NewID: newID, NewShortID: access.RandomShortID, Many: rate.NewShares(1),
	}
}

// orderTasks implements ordering.Tasks.
type orderTasks struct{ *taskflow.Tasks }

// Prepare implements ordering.Tasks.
func (t orderTasks) Prepare(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft) (ordering.PreparedTask, error) {
	return t.Tasks.Prepare(ctx, who, d)
}

// Place implements ordering.Tasks.
func (t orderTasks) Place(ctx context.Context, tx store.Transaction, who lastmile.Principal, p ordering.PreparedTask, order string, after ...lastmile.TaskID) (lastmile.Task, error) {
	ready, err := prepared(p)
	if err != nil {
		return lastmile.Task{}, err
	}
	return t.Tasks.Place(ctx, tx, who, ready, order, after...)
}

// Amend implements ordering.Tasks.
func (t orderTasks) Amend(ctx context.Context, tx store.Transaction, who lastmile.Principal, id lastmile.TaskID, p ordering.PreparedTask) (lastmile.Task, error) {
	ready, err := prepared(p)
	if err != nil {
		return lastmile.Task{}, err
	}
	return t.Tasks.Amend(ctx, tx, who, id, ready)
}

// prepared converts a result of Prepare back to its type.
func prepared(p ordering.PreparedTask) (taskflow.Prepared, error) {
	ready, ok := p.(taskflow.Prepared)
	if !ok {
		return ready, fmt.Errorf("%T is no prepared task", p)
	}
	return ready, nil
}
