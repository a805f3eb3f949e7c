package ordering

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store"
)

// Each use case has a Reader, what it reads in a transaction, a Writer, what it
// reads and saves in one, and a Store, which runs its transactions.

// ClientReader is what Clients reads in a transaction.
type ClientReader interface {
	// Client finds a client of a courier, by its id or by that of its organization.
	// It may be deleted.
	Client(ctx context.Context, courier lastmile.OrganizationID, id string) (store.Client, error)
	// Clients lists the clients of a courier, oldest first, without those that were
	// deleted.
	Clients(ctx context.Context, courier lastmile.OrganizationID) ([]store.Client, error)
	// Courier returns an organization as a client of a courier, by the id of the client
	// or of the courier. It may be deleted.
	Courier(ctx context.Context, organization lastmile.OrganizationID, id string) (store.Client, error)
	// Couriers lists an organization as a client of each of its couriers, oldest first,
	// without those that were deleted.
	Couriers(ctx context.Context, organization lastmile.OrganizationID) ([]store.Client, error)
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
}

// ClientWriter is what Clients reads and saves in a transaction.
type ClientWriter interface {
	ClientReader
	store.Receipts
	store.Transaction
	// Connect adds delegatee to the connections of org.
	Connect(ctx context.Context, org, delegatee lastmile.OrganizationID) error
	// Connected reports whether an organization is connected with another.
	Connected(ctx context.Context, org, other lastmile.OrganizationID) (bool, error)
	// CountClients returns how many clients a courier ever had.
	CountClients(ctx context.Context, courier lastmile.OrganizationID) (int, error)
	// Disconnect removes delegatee from the connections of org.
	Disconnect(ctx context.Context, org, delegatee lastmile.OrganizationID) error
	// IsOpened reports whether a courier opened the organization.
	IsOpened(ctx context.Context, organization lastmile.OrganizationID) (bool, error)
	// SaveClient saves a client. A courier has one for each organization.
	SaveClient(ctx context.Context, c store.Client) error
}

// ClientStore runs the transactions of Clients.
type ClientStore = store.Transactor[ClientReader, ClientWriter]

// ServiceReader is what Services reads in a transaction.
type ServiceReader interface {
	ClientReader
	// DeliveryService returns a delivery service of a courier.
	DeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) (order.Service, error)
	// DeliveryServices lists the delivery services of a courier, oldest first.
	DeliveryServices(ctx context.Context, courier lastmile.OrganizationID) ([]order.Service, error)
}

// ServiceWriter is what Services reads and saves in a transaction.
type ServiceWriter interface {
	ServiceReader
	store.Receipts
	// DeleteDeliveryService deletes a delivery service. Its quotes stay valid.
	DeleteDeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) error
	// SaveDeliveryService saves a delivery service.
	SaveDeliveryService(ctx context.Context, s order.Service) error
}

// ServiceStore runs the transactions of Services.
type ServiceStore = store.Transactor[ServiceReader, ServiceWriter]

// QuoteReader is what Quotes reads in a transaction.
type QuoteReader interface {
	ClientReader
	// CountQuotes returns how many quotes of a client expire after a time, up to
	// limit.
	CountQuotes(ctx context.Context, client lastmile.OrganizationID, after time.Time, limit int) (int, error)
	// DeliveryServices lists the delivery services of a courier, oldest first.
	DeliveryServices(ctx context.Context, courier lastmile.OrganizationID) ([]order.Service, error)
}

// QuoteWriter is what Quotes reads and saves in a transaction.
type QuoteWriter interface {
	QuoteReader
	store.Receipts
	// SaveQuote saves a new quote.
	SaveQuote(ctx context.Context, q order.Quote) error
}

// QuoteStore runs the transactions of Quotes.
type QuoteStore = store.Transactor[QuoteReader, QuoteWriter]

// OrderReader is what Orders reads in a transaction.
type OrderReader interface {
	QuoteReader
	// Destination returns a destination.
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	// OfferedService returns a delivery service of a courier that the organization is
	// an active client of.
	OfferedService(ctx context.Context, client lastmile.OrganizationID, id string) (order.Service, error)
	// Order returns an order of a courier or a client, by its id or its short id.
	Order(ctx context.Context, org lastmile.OrganizationID, id string) (order.Order, error)
	// Orders lists orders of a courier or a client, newest first, up to limit: those after
	// one, unless that is empty.
	Orders(ctx context.Context, org lastmile.OrganizationID, q store.OrderRange, after string, limit int) ([]order.Order, error)
	// OrderTasks returns the tasks of an order as SaveOrderTasks kept them.
	OrderTasks(ctx context.Context, o order.Order) (pickup, dropoff lastmile.Task, err error)
	// Quote returns a quote of a client, which may have expired.
	Quote(ctx context.Context, client lastmile.OrganizationID, id string) (order.Quote, error)
	// Recipient returns a recipient.
	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	// TasksOf returns several tasks in the order of their ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
}

// OrderWriter is what Orders reads and saves in a transaction.
type OrderWriter interface {
	OrderReader
	store.Receipts
	store.Transaction
	// SaveOrder saves an order.
	SaveOrder(ctx context.Context, o order.Order) error
	// SaveOrderTasks keeps the tasks of an order as they were when they were deleted.
	SaveOrderTasks(ctx context.Context, o order.Order, pickup, dropoff lastmile.Task) error
}

// OrderStore runs the transactions of Orders.
type OrderStore = store.Transactor[OrderReader, OrderWriter]

// FollowWriter is what Follower reads and saves in a transaction.
type FollowWriter interface {
	// Order returns an order of a courier or a client, by its id or its short id.
	Order(ctx context.Context, org lastmile.OrganizationID, id string) (order.Order, error)
	// SaveOrder saves an order.
	SaveOrder(ctx context.Context, o order.Order) error
}
