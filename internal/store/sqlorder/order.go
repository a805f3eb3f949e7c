package sqlorder

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Part is a part of a transaction, with the records of this package.
type Part struct {
	c     engine.Conn
	cache *ServiceCache
}

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c: c} }

// WithCache returns the part with a cache of delivery services.
func (p Part) WithCache(cache *ServiceCache) Part { return Part{p.c, cache} }

// documentVersion is the version of the encoding of stored records: JSON of the domain
// types, in which money is an integer, unlike in the API.
const documentVersion = 1

// DeliveryServices lists the delivery services of a courier, oldest first.
func (p Part) DeliveryServices(ctx context.Context, courier lastmile.OrganizationID) ([]order.Service, error) {
	found, err := engine.Collect(ctx, p.c, p.cache.scan, `SELECT doc FROM delivery_service WHERE org = $1`, courier)
	if err != nil {
		return nil, fmt.Errorf("read delivery services: %w", err)
	}
	engine.OldestFirst(found, func(s order.Service) (time.Time, string) { return s.Created, string(s.ID) })
	return found, nil
}

// DeliveryService returns a delivery service of a courier.
func (p Part) DeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) (order.Service, error) {
	found, err := engine.Collect(ctx, p.c, engine.ScanDocument[order.Service], `SELECT doc FROM delivery_service WHERE org = $1 AND id = $2`, courier, id)
	return engine.Only(ctx, p.c, store.Services, id, found, err)
}

// OfferedService returns a delivery service of a courier that the organization is an
// active client of.
func (p Part) OfferedService(ctx context.Context, client lastmile.OrganizationID, id string) (order.Service, error) {
	found, err := engine.Collect(ctx, p.c, p.cache.scan, `SELECT s.doc FROM delivery_service s
		JOIN client c ON c.org = s.org WHERE s.id = $2 AND c.organization = $1 AND c.status = 'active'`, client, id)
	return engine.Only(ctx, p.c, store.Services, id, found, err)
}

// SaveDeliveryService saves a delivery service.
func (p Part) SaveDeliveryService(ctx context.Context, s order.Service) error {
	doc, err := json.Marshal(s)
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO delivery_service (org, id, doc, v, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := p.c.Exec(ctx, query, s.Organization, s.ID, doc, documentVersion, s.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save delivery service %s: %w", s.ID, err)
	}
	return nil
}

// DeleteDeliveryService deletes a delivery service. Its quotes stay valid.
func (p Part) DeleteDeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) error {
	if _, err := p.c.Exec(ctx, `DELETE FROM delivery_service WHERE org = $1 AND id = $2`, courier, id); err != nil {
		return fmt.Errorf("delete delivery service %s: %w", id, err)
	}
	return nil
}

// CountQuotes counts the quotes of a client that expire after a time, up to limit.
func (p Part) CountQuotes(ctx context.Context, client lastmile.OrganizationID, after time.Time, limit int) (int, error) {
	return engine.Count(ctx, p.c, `SELECT COUNT(*) FROM (SELECT 1 FROM quote WHERE client = $1 AND expires > $2 LIMIT $3) AS valid`,
		client, after.UnixMilli(), limit)
}

// SaveQuote saves a new quote.
func (p Part) SaveQuote(ctx context.Context, q order.Quote) error {
	doc, err := json.Marshal(q)
	if err != nil {
		return err
	}
	const query = `INSERT INTO quote (org, id, client, doc, v, expires) VALUES ($1, $2, $3, $4, $5, $6)`
	if err := p.c.Send(ctx, query, q.Organization, q.ID, q.Client, doc, documentVersion, q.Expires.UnixMilli()); err != nil {
		return fmt.Errorf("save quote %s: %w", q.ID, err)
	}
	return nil
}

// Quote returns a quote of a client, which may have expired.
func (p Part) Quote(ctx context.Context, client lastmile.OrganizationID, id string) (order.Quote, error) {
	found, err := engine.Collect(ctx, p.c, engine.ScanDocument[order.Quote], `SELECT doc FROM quote WHERE id = $1 AND client = $2`, id, client)
	return engine.Only(ctx, p.c, store.Quotes, id, found, err)
}

// DeleteQuotes deletes about limit quotes that expired before a time, and returns how
// many it deleted.
func (p Part) DeleteQuotes(ctx context.Context, before time.Time, limit int) (int64, error) {
	return engine.DeleteOld(ctx, p.c, `quote`, `expires`, ``, before.UnixMilli(), limit)
}

// Order returns an order of a courier or a client, by its id or its short id.
func (p Part) Order(ctx context.Context, org lastmile.OrganizationID, id string) (order.Order, error) {
	column := `short_id`
	if lastmile.ValidID(id) {
		column = `id`
	}
	found, err := engine.Collect(ctx, p.c, engine.ScanDocument[order.Order], `SELECT doc FROM task_order WHERE `+column+` = $1 AND (org = $2 OR client = $2)`, id, org)
	return engine.Only(ctx, p.c, store.Orders, id, found, err)
}

// Orders lists at most limit orders of a courier or a client, newest first, beginning
// after order after, unless that is empty.
func (p Part) Orders(ctx context.Context, org lastmile.OrganizationID, q store.OrderRange, after string, limit int) ([]order.Order, error) {
	before, last := int64(math.MaxInt64), ""
	if !q.To.IsZero() {
		before = q.To.UnixMilli()
	}
	if after != "" {
		o, err := p.Order(ctx, org, after)
		if err != nil {
			return nil, err
		}
		if at := o.Created.UnixMilli(); at < before {
			before, last = at, string(o.ID)
		}
	}
	var all []order.Order
	for side, column := range map[store.OrderSide]string{store.Received: `org`, store.Sent: `client`} {
		if q.Side != store.BothSides && q.Side != side {
			continue
		}
		found, err := engine.Collect(ctx, p.c, engine.ScanDocument[order.Order], `SELECT doc FROM task_order
			WHERE `+column+` = $1 AND created >= $2 AND (created, id) < ($3, $4) ORDER BY created DESC, id DESC LIMIT `+strconv.Itoa(limit),
			org, max(q.From.UnixMilli(), 0), before, last)
		if err != nil {
			return nil, fmt.Errorf("read orders: %w", err)
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b order.Order) int {
		return cmp.Or(cmp.Compare(b.Created.UnixMilli(), a.Created.UnixMilli()), cmp.Compare(b.ID, a.ID))
	})
	return all[:min(len(all), limit)], nil
}

// SaveOrder saves an order.
func (p Part) SaveOrder(ctx context.Context, o order.Order) error {
	doc, err := json.Marshal(o)
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO task_order (org, id, client, short_id, doc, v, created) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := p.c.Exec(ctx, query, o.Courier, o.ID, o.Client, o.ShortID, doc, documentVersion, o.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save order %s: %w", o.ID, err)
	}
	return nil
}

// SaveOrderTasks saves the tasks of an order as they were when they were deleted.
func (p Part) SaveOrderTasks(ctx context.Context, o order.Order, pickup, dropoff lastmile.Task) error {
	first, err := wire.Marshal(wire.NewTask(pickup))
	if err != nil {
		return err
	}
	last, err := wire.Marshal(wire.NewTask(dropoff))
	if err != nil {
		return err
	}
	if _, err := p.c.Exec(ctx, `UPDATE task_order SET pickup = $3, dropoff = $4 WHERE org = $1 AND id = $2`, o.Courier, o.ID, first, last); err != nil {
		return fmt.Errorf("save the tasks of order %s: %w", o.ID, err)
	}
	return nil
}

// OrderTasks returns the tasks of an order that SaveOrderTasks saved.
func (p Part) OrderTasks(ctx context.Context, o order.Order) (pickup, dropoff lastmile.Task, err error) {
	var docs [2][]byte
	err = p.c.Row(ctx, `SELECT pickup, dropoff FROM task_order WHERE org = $1 AND id = $2`, o.Courier, o.ID).Scan(&docs[0], &docs[1])
	var tasks [2]lastmile.Task
	for i, doc := range docs {
		if err == nil {
			tasks[i], err = decodeTask(o.Courier, doc)
			tasks[i].Organization, tasks[i].Origin = o.Courier, o.Client
		}
	}
	if err != nil {
		return pickup, dropoff, fmt.Errorf("read the tasks of order %s: %w", o.ID, err)
	}
	return tasks[0], tasks[1], nil
}

// decodeTask decodes the API's JSON of a task.
func decodeTask(org lastmile.OrganizationID, doc []byte) (lastmile.Task, error) {
	var form wire.Task
	if err := json.Unmarshal(doc, &form); err != nil {
		return lastmile.Task{}, err
	}
	task := form.TaskRecord.Domain()
	task.Destination = form.Destination.Domain(org)
	for _, recipient := range form.Recipients {
		known := recipient.Domain()
		task.Recipient = &known
	}
	return task, nil
}
