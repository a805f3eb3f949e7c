package ordering

import (
	"context"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store"
)

// Limits of lists of orders.
const (
	// OrderPage is the number of orders in a page.
	OrderPage = 64
	// maxScanned is the maximum number of orders compared with the query for a page.
	maxScanned = 2_000
)

// OrderQuery selects orders; zero fields select all.
type OrderQuery struct {
	store.OrderRange
	Statuses []order.Status
	Service  order.ServiceID
	Client   string // id of a client or of its organization
	After    string // id of the last order of the previous page
}

// matches reports whether the query selects an order, apart from its side and its time.
func (q OrderQuery) matches(o order.Order) bool {
	return (len(q.Statuses) == 0 || slices.Contains(q.Statuses, o.Status)) && (q.Service == "" || q.Service == o.Service) &&
		(q.Client == "" || q.Client == string(o.ClientID) || q.Client == string(o.Client))
}

// check rejects a query that can select nothing.
func (q OrderQuery) check() error {
	for _, s := range q.Statuses {
		if err := s.Check("status"); err != nil {
			return err
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return lastmile.Invalid("from must be before to")
	}
	return nil
}

// List returns a page of the orders that the caller's organization received or placed,
// newest first, and the id that the next page starts after; empty for the last page. If few
// orders match, a page may have fewer than OrderPage, even none.
func (os *Orders) List(ctx context.Context, who lastmile.Principal, q OrderQuery) (page []Placed, last string, err error) {
	if err := q.check(); err != nil {
		return nil, "", err
	}
	err = os.Store.Read(ctx, func(r OrderReader) error {
		page, last = nil, ""
		after := q.After
		for scanned := 0; len(page) < OrderPage && scanned < maxScanned; {
			found, err := r.Orders(ctx, who.Organization, q.OrderRange, after, OrderPage+1)
			if err != nil {
				return err
			}
			last = ""
			for i, o := range found {
				if i == OrderPage || len(page) == OrderPage {
					last = after
					break
				}
				after = string(o.ID)
				if !q.matches(o) {
					continue
				}
				placed, err := whole(ctx, r, who, o)
				if err != nil {
					return err
				}
				page = append(page, placed)
			}
			if last == "" {
				return nil
			}
			scanned += OrderPage
		}
		return nil
	})
	return page, last, err
}

// Side is a side of orders.
type Side = store.OrderSide

// ParseSide returns the side with a name; empty is both.
func ParseSide(name string) (Side, error) {
	switch side := Side(name); side {
	case store.BothSides, store.Received, store.Sent:
		return side, nil
	}
	return "", lastmile.Malformed("side must be received or placed, not %q", lastmile.Truncate(name, 32))
}
