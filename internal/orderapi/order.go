package orderapi

import (
	"cmp"
	"context"

	"dray/internal/edge"
	"dray/internal/order"
	"dray/internal/ordering"
	"dray/internal/wire"
)

// orders serves the endpoints of orders.
type orders struct{ *Server }

func (s orders) routes() []edge.Route {
	const eitherID = "The short ID of the order, or its ID."
	const place = `"destination": {"address": {"number": "350", "street": "5th Avenue", "city": "New York", "country": "US"}, "location": [-73.9857, 40.7484]}`
	return edge.Tagged("Orders",
		edge.Create("/taskOrders", "Place an order", s.create, newOrder).Finds().
			Describe("Creates a pickup, and a drop-off that depends on it, which the courier carries out. The price is that of the quote or the service and does not change any more.").
			Example(`{
				"deliveryServiceId": "Qt9LxW3mKc7VbN5zRs2HdP8f",
				"pickupTask": {`+place+`},
				"dropoffTask": {`+place+`, "recipients": [{"name": "Mary Seacole", "phone": "+12125550142"}]}
			}`),
		edge.Get("/taskOrders", "List orders", s.list,
			edge.Parameter{Name: "side", Description: "received for orders of clients, placed for orders with couriers. Default: both"},
			edge.Parameter{Name: "status", Description: "comma-separated statuses: unassigned, assigned, active, completed, failed, cancelled, rejected"},
			edge.Parameter{Name: "from", Description: "Unix time in milliseconds; only orders placed at or after it", Type: "number"},
			edge.Parameter{Name: "to", Description: "Unix time in milliseconds; only orders placed before it", Type: "number"},
			edge.Parameter{Name: "service", Description: "ID of a delivery service"},
			edge.Parameter{Name: "client", Description: "ID of a client, or of its organization"},
			edge.Parameter{Name: "lastId", Description: "lastId of the previous page"}).
			Describe("Returns the orders that the organization received or placed, newest first, up to 64 per page. If few of many orders match, a page can have fewer, even none: only a page without lastId is the last one."),
		edge.Get("/taskOrders/{id}", "Read an order", s.read).
			Describe("For the client and for the courier. "+eitherID),
		edge.Put("/taskOrders/{id}", "Update an order", s.update).
			Describe("Changes the tasks of an order that is not started. Both tasks must be sent; fields that are not sent stay unchanged. The price does not change. "+eitherID).
			Example(`{"pickupTask": {"notes": "Back door."}, "dropoffTask": {"completeBefore": 1894028400000}}`),
		edge.Create("/taskOrders/cancel", "Cancel orders", s.cancel, newCancelled).Finds().
			Describe("Cancels orders that are not started, all or none. Their tasks are deleted.").
			Example(`{"orderIds": ["Or4BnX8wQk2LmV6zRt9HsC3d"]}`),
		edge.Create("/taskOrders/{id}/clone", "Clone an order", s.clone, newOrder).
			Describe("Places an order with the same tasks, without their times. Only the client of an order without a delivery service can. "+eitherID).
			Example(`{}`),
		edge.Create("/taskOrders/{id}/reject", "Reject an order", s.reject, newOrder).
			Describe("For the courier of an order that is not started. Its tasks are deleted. "+eitherID).
			Example(`{"reason": "No vehicle is large enough."}`),
	)
}

func newOrder(p ordering.Placed) Order {
	return NewOrder(p.Order, p.PickupTask, p.DropoffTask)
}

func newCancelled(c ordering.Cancelled) CancelledOrders {
	return CancelledOrders{Status: "success", TotalOrdersRemoved: c.Orders}
}

// value returns a text that was sent; empty if it was not.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (s orders) create(ctx context.Context, c *edge.Call, body OrderBody) (ordering.Placed, error) {
	pickup, dropoff, err := body.Tasks(c.Who.Organization)
	if err != nil {
		return ordering.Placed{}, err
	}
	draft := ordering.Draft{
		Client: value(body.Client), Courier: value(body.Courier), Service: value(body.DeliveryServiceID), Price: body.Price, Currency: value(body.Currency),
		Quantity: body.Quantity, Pickup: pickup, Dropoff: dropoff,
	}
	if body.Weight != nil {
		draft.Weight = new(body.Weight.Domain())
	}
	return s.Orders.Create(ctx, c.Who, draft)
}

func (s orders) list(ctx context.Context, c *edge.Call) (OrderPage, error) {
	q := ordering.OrderQuery{Service: order.ServiceID(c.Query.Get("service")), Client: c.Query.Get("client"), After: c.Query.Get("lastId")}
	for _, status := range c.List("status") {
		q.Statuses = append(q.Statuses, order.Status(status))
	}
	var err error
	if q.Side, err = ordering.ParseSide(c.Query.Get("side")); err != nil {
		return OrderPage{}, err
	}
	if q.From, err = c.Time("from"); err != nil {
		return OrderPage{}, err
	}
	if q.To, err = c.Time("to"); err != nil {
		return OrderPage{}, err
	}
	page, last, err := s.Orders.List(ctx, c.Who, q)
	return OrderPage{Orders: wire.OrEmpty(wire.Each(page, newOrder)), LastID: last}, err
}

func (s orders) read(ctx context.Context, c *edge.Call) (Order, error) {
	placed, err := s.Orders.Read(ctx, c.Who, c.ID())
	return newOrder(placed), err
}

func (s orders) update(ctx context.Context, c *edge.Call, body OrderTasksBody) (Order, error) {
	pickup, dropoff, err := body.Tasks(c.Who.Organization)
	if err != nil {
		return Order{}, err
	}
	placed, err := s.Orders.Update(ctx, c.Who, c.ID(), ordering.Draft{Pickup: pickup, Dropoff: dropoff})
	return newOrder(placed), err
}

func (s orders) cancel(ctx context.Context, c *edge.Call, body CancelOrdersBody) (ordering.Cancelled, error) {
	return s.Orders.Cancel(ctx, c.Who, body.OrderIDs, value(body.Client))
}

func (s orders) clone(ctx context.Context, c *edge.Call, _ wire.NoBody) (ordering.Placed, error) {
	return s.Orders.Clone(ctx, c.Who, c.ID())
}

func (s orders) reject(ctx context.Context, c *edge.Call, body RejectOrderBody) (ordering.Placed, error) {
	return s.Orders.Reject(ctx, c.Who, c.ID(), cmp.Or(value(body.Reason), value(body.Reasons)))
}
