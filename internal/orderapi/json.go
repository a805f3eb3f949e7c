package orderapi

import (
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/wire"
)

// Money is an amount of money, or a percentage, as a JSON number with all decimals of
// its currency.
type Money string

// MarshalJSON implements json.Marshaler.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// JSONSchema describes the JSON of an amount.
func (Money) JSONSchema() string { return `{"type": "number"}` }

// QuoteBody is a request for quotes.
type QuoteBody struct {
	// Unix time in milliseconds from which the delivery can be picked up.
	ReadyBy wire.Millis `json:"readyBy" required:"true" example:"1894021200000"`
	// Unix time in milliseconds before which the delivery must be dropped off; by default, what each service promises.
	DueBy wire.OptionalMillis `json:"dueBy" example:"1894028400000"`
	// Number of pieces.
	Quantity *int `json:"quantity" required:"true" example:"2"`
	// Total weight.
	Weight *WeightBody `json:"weight" required:"true"`
	// Where the delivery is picked up.
	Pickup *QuotePlace `json:"pickup" required:"true"`
	// Where the delivery is dropped off.
	Dropoff *QuotePlace `json:"dropoff" required:"true"`
}

// QuotePlace is a place in a request for quotes: a destination as when one is created, or the
// fields of its address with an optional location.
type QuotePlace struct{ wire.DestinationBody }

// SchemaOf returns the body of a destination, for documentation.
func (QuotePlace) SchemaOf() any { return QuotePlaceBody{} }

// QuotePlaceBody is a place: a destination as when one is created, or the fields of its address.
type QuotePlaceBody struct {
	wire.AddressBody
	// Address of the place, instead of its fields here.
	Address *wire.SentAddress `json:"address"`
	// Location of the place, as [longitude, latitude]. If it is sent, the address is not geocoded.
	Location *wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *QuotePlace) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return codec.Malformed("must be an address, not %s", codec.KindName(data[0]))
	}
	p.DestinationBody = wire.DestinationBody{}
	if err := codec.DecodePart(data, &p.DestinationBody); err != nil || p.Address != nil {
		return err
	}
	var address wire.SentAddress
	if err := codec.DecodePart(data, &address); err != nil {
		return err
	}
	p.Address = &address
	return nil
}

// Job returns the delivery to be priced, without the length of the trip, and where it is
// picked up and dropped off.
func (b QuoteBody) Job() (job order.Job, pickup, dropoff lastmile.DestinationDraft, err error) {
	for _, missing := range []struct {
		field string
		is    bool
	}{
		{"readyBy", b.ReadyBy.IsZero()},
		{"quantity", b.Quantity == nil},
		{"weight", b.Weight == nil},
		{"pickup", b.Pickup == nil},
		{"dropoff", b.Dropoff == nil},
	} {
		if missing.is {
			return job, pickup, dropoff, lastmile.Missing(missing.field)
		}
	}
	job = order.Job{
		ReadyBy: b.ReadyBy.Time(), DueBy: time.Time(b.DueBy), Quantity: *b.Quantity,
		Weight: b.Weight.Domain(),
	}
	return job, b.Pickup.Draft(), b.Dropoff.Draft(), nil
}

// Quote is the price of a delivery by one service.
type Quote struct {
	// ID of the quote, which is accepted as deliveryServiceId of an order until it expires.
	ID order.QuoteID `json:"id" example:"Qt9LxW3mKc7VbN5zRs2HdP8f"`
	// ID of the base rate.
	RateID string `json:"rateId" example:"Rt2MvB8xLq5KwZ9nDc4HsP7f"`
	// ID of the courier's organization.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the delivery service.
	DeliveryService order.ServiceID `json:"deliveryService" example:"Sv6KpX2nQw8RtL4mZc9YbH3d"`
	// Name of the delivery service.
	DisplayName string `json:"displayName" example:"Express"`
	// Unix time in milliseconds before which the delivery would be dropped off.
	DueBy wire.Millis `json:"dueBy" example:"1894028400000"`
	// Price: the sum of the breakdown.
	EstimatedCost Money `json:"estimatedCost" example:"8.80"`
	// Entries that add up to the price.
	EstimatedCostBreakdown []QuoteEntry `json:"estimatedCostBreakdown"`
	// Currency of the price, by its ISO 4217 code.
	Currency order.Currency `json:"currency" example:"USD"`
	// Distance from pickup to drop-off in meters, by which distance rates were applied.
	Distance int64 `json:"distance" example:"5400"`
	// Travel time from pickup to drop-off in seconds, by which duration rates were applied.
	Duration int64 `json:"duration" example:"780"`
	// Unix time in milliseconds until which an order at this price can be placed.
	ValidUntil wire.Millis `json:"validUntil" example:"1894019400000"`
}

// QuoteEntry is a part of a quoted price.
type QuoteEntry struct {
	// Name of the rate.
	Name string `json:"name" example:"Distance"`
	// What the rate charges for.
	RatingType order.RatingType `json:"ratingType" example:"distance"`
	// Whether it is the base rate.
	IsBaseRate bool `json:"isBaseRate"`
	// Amount, with all decimals of the currency.
	Cost Money `json:"cost" example:"4.80"`
}

// NewQuotes returns quotes in their wire form.
func NewQuotes(quotes []order.Quote) []Quote {
	return wire.Each(quotes, func(q order.Quote) Quote {
		c := q.Price.Currency
		return Quote{
			ID: q.ID, RateID: q.Rate, Organization: q.Organization, DeliveryService: q.Service, DisplayName: q.DisplayName, DueBy: wire.Millis(q.Job.DueBy),
			EstimatedCost:          Money(c.Text(q.Price.Total)),
			EstimatedCostBreakdown: wire.Each(q.Price.Entries, func(e order.Entry) QuoteEntry { return newQuoteEntry(c, e) }),
			Currency:               c, Distance: q.Job.Distance, Duration: q.Job.Duration, ValidUntil: wire.Millis(q.Expires),
		}
	})
}

func newQuoteEntry(c order.Currency, e order.Entry) QuoteEntry {
	return QuoteEntry{Name: e.Name, RatingType: e.Type, IsBaseRate: e.IsBase, Cost: Money(c.Text(e.Cost))}
}

// Order is a delivery that a client ordered from a courier: a pickup, and a drop-off that
// depends on it.
type Order struct {
	// ID of the order.
	ID order.ID `json:"id" example:"Or4BnX8wQk2LmV6zRt9HsC3d"`
	// Short ID: eight hexadecimal digits. Both tasks have it as orderShortId.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// Unix time in milliseconds at which the order was placed.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the order was last modified.
	TimeLastModified wire.Millis `json:"timeLastModified" example:"1767229200000"`
	// How the order was placed: API.
	Source string `json:"source" example:"API"`
	// What happened to the order, oldest first: the first event and the last ones.
	Events []OrderEvent `json:"events"`
	// Task of the pickup. If the order was cancelled or rejected, it no longer exists and is shown as it was.
	PickupTask OrderTask `json:"pickupTask"`
	// Task of the drop-off. If the order was cancelled or rejected, it no longer exists and is shown as it was.
	DropoffTask OrderTask `json:"dropoffTask"`
	// ID of the delivery service; null if there is none.
	DeliveryService *order.ServiceID `json:"deliveryService" example:"Sv6KpX2nQw8RtL4mZc9YbH3d"`
	// Name of the delivery service when the order was placed, for both sides; null if there is none, and for
	// orders of older versions.
	DeliveryServiceName *string `json:"deliveryServiceName" example:"Same-day"`
	// Reserved; always null.
	OrchestrationDetails *struct{} `json:"orchestrationDetails" example:"null"`
	// Price when the order was placed; null if there is none.
	Price *Money `json:"price" example:"8.80"`
	// Entries that add up to the price; null if there is none.
	PriceBreakdown *[]PriceEntry `json:"priceBreakdown"`
	// Currency of the price, by its ISO 4217 code; null if there is no price.
	Currency *order.Currency `json:"currency" example:"USD"`
	// Reserved; always null.
	DeliveryServiceInvoice *struct{} `json:"deliveryServiceInvoice" example:"null"`
	// Progress of the order, which follows from its tasks.
	Status order.Status `json:"status" example:"unassigned"`
	// Reason why the courier rejected the order; null if it did not.
	RejectionReason *string `json:"rejectionReason" example:"null"`
	// ID of the client.
	ClientID lastmile.ClientID `json:"clientId" example:"Cq7RtV2mXz9LwKd4NbH8sPfJ"`
	// ID of the courier's organization.
	CourierID lastmile.OrganizationID `json:"courierId" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name by which the courier knows the client.
	ClientName string `json:"clientName" example:"Example Kitchens"`
}

// OrderPage is a page of orders.
type OrderPage struct {
	// Orders, the newest first.
	Orders []Order `json:"orders"`
	// ID to request the next page with. Absent on the last page.
	LastID string `json:"lastId,omitzero"`
}

// OrderEvent is something that happened to an order.
type OrderEvent struct {
	// What happened.
	Name string `json:"name" enum:"created,updated,assigned,unassigned,started,completed,failed,cancelled,rejected" example:"created"`
	// Unix time in milliseconds of the event.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// ID of the task that it happened to. Absent if it happened to the order as a whole.
	TaskID lastmile.TaskID `json:"taskId,omitzero"`
	// Status of the order after the event.
	Status order.Status `json:"status" example:"unassigned"`
}

// PriceEntry is a part of the price of an order.
type PriceEntry struct {
	QuoteEntry
	// ID of the rate. Absent if the price is not that of a service.
	ID string `json:"id,omitzero" example:"Rt2MvB8xLq5KwZ9nDc4HsP7f"`
}

// OrderTask is a task of an order.
type OrderTask struct {
	wire.TaskRecord
	// Recipient of the task; empty if there is none.
	Recipients []wire.Recipient `json:"recipients"`
	// Destination of the task.
	Destination OrderDestination `json:"destination"`
	wire.TaskTimes
	// Reserved; always empty.
	CustomRequirements []any `json:"customRequirements" type:"object" example:"[]"`
	// Reserved; always empty.
	BulkTasks []any `json:"bulkTasks" type:"object" example:"[]"`
}

// OrderDestination is the destination of a task of an order.
type OrderDestination struct {
	wire.Destination
	// ID of the organization that ordered the delivery.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Whether the location was found by geocoding the address.
	WasGeocoded bool `json:"wasGeocoded" example:"true"`
	// Whether the location was sent.
	CreatedByLocation bool `json:"createdByLocation"`
}

// NewOrder returns an order with its tasks in its wire form.
func NewOrder(o order.Order, pickup, dropoff lastmile.Task) Order {
	shown := Order{
		ID: o.ID, ShortID: o.ShortID, TimeCreated: wire.Millis(o.Created), TimeLastModified: wire.Millis(o.Modified), Source: string(lastmile.ActorAPI),
		Events: wire.Each(o.Events, func(e order.Event) OrderEvent {
			return OrderEvent{Name: e.Name, Time: wire.Millis(e.At), TaskID: e.Task, Status: e.Status}
		}),
		PickupTask: newOrderTask(o.Client, pickup), DropoffTask: newOrderTask(o.Client, dropoff), DeliveryService: wire.OrNull(o.Service), DeliveryServiceName: wire.OrNull(o.ServiceName),
		Status: o.Status, RejectionReason: wire.OrNull(o.Reason), ClientID: o.ClientID, CourierID: o.Courier, ClientName: o.ClientName,
	}
	if p := o.Price; p != nil {
		entries := wire.Each(p.Entries, func(e order.Entry) PriceEntry { return PriceEntry{QuoteEntry: newQuoteEntry(p.Currency, e), ID: e.ID} })
		shown.Price, shown.Currency, shown.PriceBreakdown = new(Money(p.Currency.Text(p.Total))), &p.Currency, &entries
	}
	return shown
}

func newOrderTask(client lastmile.OrganizationID, t lastmile.Task) OrderTask {
	live := wire.NewTaskLive(t)
	return OrderTask{
		TaskRecord: wire.NewTaskRecord(t), Recipients: live.Recipients, TaskTimes: live.TaskTimes, CustomRequirements: []any{}, BulkTasks: []any{},
		Destination: OrderDestination{Destination: live.Destination, Organization: client, WasGeocoded: !live.Destination.UseGPS, CreatedByLocation: live.Destination.UseGPS},
	}
}

// OrderBody is the body of a request to place an order.
type OrderBody struct {
	// Task of the pickup, as when a task is created. Its recipient is optional.
	PickupTask *wire.TaskBody `json:"pickupTask" required:"true"`
	// Task of the drop-off, as when a task is created. Its recipient is optional.
	DropoffTask *wire.TaskBody `json:"dropoffTask" required:"true"`
	// ID of a quote or of a delivery service. Required if the courier has services for the client.
	DeliveryServiceID *string `json:"deliveryServiceId" example:"Qt9LxW3mKc7VbN5zRs2HdP8f"`
	// Price, if the courier has no services for the client.
	Price *float64 `json:"price" example:"8.8"`
	// Currency of the price, by its ISO 4217 code.
	Currency *string `json:"currency" example:"USD"`
	// Client, by its ID or that of its organization. Required if a courier places the order.
	Client *string `json:"client"`
	// Courier, by the ID of its organization. Required if the caller is the client of several couriers and sends no deliveryServiceId.
	Courier *string `json:"courier"`
	// Number of pieces, for the price of a service; by default, the quantity of the tasks, or 1.
	Quantity *int `json:"quantity" example:"2"`
	// Total weight, for the price of a service; by default, none.
	Weight *WeightBody `json:"weight"`
}

// Tasks returns the requested tasks, nil if they were not sent.
func (b OrderBody) Tasks(own lastmile.OrganizationID) (pickup, dropoff *lastmile.TaskDraft, err error) {
	for i, task := range []*wire.TaskBody{b.PickupTask, b.DropoffTask} {
		if task != nil && (task.AutoAssign != nil || task.Container != nil) {
			field := [...]string{"pickupTask", "dropoffTask"}[i]
			return nil, nil, lastmile.Invalid("%s.autoAssign and %s.container cannot be sent: the courier assigns the tasks of orders", field, field)
		}
	}
	return OrderTasksBody{PickupTask: b.PickupTask, DropoffTask: b.DropoffTask}.Tasks(own)
}

// OrderTasksBody is the body of a request to update the tasks of an order.
type OrderTasksBody struct {
	// Changes of the pickup: destination, recipients, completeAfter, completeBefore, notes and requirements.
	PickupTask *wire.TaskBody `json:"pickupTask" required:"true"`
	// Changes of the drop-off: destination, recipients, completeAfter, completeBefore, notes and requirements.
	DropoffTask *wire.TaskBody `json:"dropoffTask" required:"true"`
}

// Tasks returns the requested changes, nil if they were not sent.
func (b OrderTasksBody) Tasks(own lastmile.OrganizationID) (pickup, dropoff *lastmile.TaskDraft, err error) {
	draft := func(field string, b *wire.TaskBody) *lastmile.TaskDraft {
		if b == nil || err != nil {
			return nil
		}
		made, failed := b.Draft(own)
		err = lastmile.Within(field, failed)
		return &made
	}
	pickup = draft("pickupTask.", b.PickupTask)
	dropoff = draft("dropoffTask.", b.DropoffTask)
	return pickup, dropoff, err
}

// CancelOrdersBody is a request to cancel orders.
type CancelOrdersBody struct {
	// IDs of the orders, at most 100. Short IDs are accepted, too.
	OrderIDs []string `json:"orderIds" required:"true" example:"Or4BnX8wQk2LmV6zRt9HsC3d"`
	// Client whose orders they must be, by its ID or that of its organization, if a courier cancels them.
	Client *string `json:"client"`
}

// CancelledOrders is the result of cancelling orders.
type CancelledOrders struct {
	// Always success.
	Status string `json:"status" example:"success"`
	// Number of orders that were cancelled.
	TotalOrdersRemoved int `json:"totalOrdersRemoved" example:"1"`
}

// RejectOrderBody is a request to reject an order.
type RejectOrderBody struct {
	// Reason, which the client sees. Required.
	Reason *string `json:"reason" example:"No vehicle is large enough."`
	// Alias of reason.
	Reasons *string `json:"reasons"`
}
