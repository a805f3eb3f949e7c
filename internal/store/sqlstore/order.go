package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// DeliveryServices lists the delivery services of a courier, oldest first.
func (t orderTx) DeliveryServices(ctx context.Context, courier lastmile.OrganizationID) ([]wire.StoredService, error) {
	found, err := collect(ctx, t, engine.ScanDocument[wire.StoredService], `SELECT doc FROM delivery_service WHERE org = $1`, courier)
	if err != nil {
		return nil, fmt.Errorf("read delivery services: %w", err)
	}
	engine.OldestFirst(found, func(s wire.StoredService) (time.Time, string) { return s.Created, string(s.ID) })
	return found, nil
}

// DeliveryService returns a delivery service of a courier.
func (t orderTx) DeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) (wire.StoredService, error) {
	found, err := collect(ctx, t, engine.ScanDocument[wire.StoredService], `SELECT doc FROM delivery_service WHERE org = $1 AND id = $2`, courier, id)
	return only(ctx, t.base, store.Services, id, found, err)
}

// OfferedService returns a delivery service of a courier that the organization is an
// active client of.
func (t orderTx) OfferedService(ctx context.Context, client lastmile.OrganizationID, id string) (wire.StoredService, error) {
	found, err := collect(ctx, t, engine.ScanDocument[wire.StoredService], `SELECT s.doc FROM delivery_service s
		JOIN client c ON c.org = s.org WHERE s.id = $2 AND c.organization = $1 AND c.status = 'active'`, client, id)
	return only(ctx, t.base, store.Services, id, found, err)
}

// SaveDeliveryService saves a delivery service.
func (t orderTx) SaveDeliveryService(ctx context.Context, s wire.StoredService) error {
	doc, err := json.Marshal(s)
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO delivery_service (org, id, doc, v, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := t.exec(ctx, query, s.Organization, s.ID, doc, documentVersion, s.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save delivery service %s: %w", s.ID, err)
	}
	return nil
}

// DeleteDeliveryService deletes a delivery service. Its quotes stay valid.
func (t orderTx) DeleteDeliveryService(ctx context.Context, courier lastmile.OrganizationID, id string) error {
	return t.erase(ctx, courier, id, [2]string{"delivery_service", "id"})
}

// CountQuotes returns how many quotes of a client expire after a time, up to limit.
func (t orderTx) CountQuotes(ctx context.Context, client lastmile.OrganizationID, after time.Time, limit int) (int, error) {
	return t.count(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM quote WHERE client = $1 AND expires > $2 LIMIT $3) AS valid`,
		client, after.UnixMilli(), limit)
}

// SaveQuote saves a new quote.
func (t orderTx) SaveQuote(ctx context.Context, q wire.StoredQuote) error {
	doc, err := json.Marshal(q)
	if err != nil {
		return err
	}
	const query = `INSERT INTO quote (org, id, client, doc, v, expires) VALUES ($1, $2, $3, $4, $5, $6)`
	if err := t.send(ctx, query, q.Organization, q.ID, q.Client, doc, documentVersion, q.Expires.UnixMilli()); err != nil {
		return fmt.Errorf("save quote %s: %w", q.ID, err)
	}
	return nil
}

// Quote returns a quote of a client, which may have expired.
func (t orderTx) Quote(ctx context.Context, client lastmile.OrganizationID, id string) (wire.StoredQuote, error) {
	found, err := collect(ctx, t, engine.ScanDocument[wire.StoredQuote], `SELECT doc FROM quote WHERE id = $1 AND client = $2`, id, client)
	return only(ctx, t.base, store.Quotes, id, found, err)
}

// DeleteQuotes deletes about limit quotes that expired before a time, and returns how
// many it deleted.
func (t orderTx) DeleteQuotes(ctx context.Context, before time.Time, limit int) (int64, error) {
	return t.deleteOld(ctx, `quote`, `expires`, ``, before.UnixMilli(), limit)
}

// Order returns an order of a courier or a client, by its id or its short id.
func (t orderTx) Order(ctx context.Context, org lastmile.OrganizationID, id string) (wire.StoredOrder, error) {
	column := `short_id`
	if lastmile.ValidID(id) {
		column = `id`
	}
	found, err := collect(ctx, t, engine.ScanDocument[wire.StoredOrder], `SELECT doc FROM task_order WHERE `+column+` = $1 AND (org = $2 OR client = $2)`, id, org)
	return only(ctx, t.base, store.Orders, id, found, err)
}

// SaveOrder saves an order.
func (t orderTx) SaveOrder(ctx context.Context, o wire.StoredOrder) error {
	doc, err := json.Marshal(o)
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO task_order (org, id, client, short_id, doc, v, created) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := t.exec(ctx, query, o.Courier, o.ID, o.Client, o.ShortID, doc, documentVersion, o.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save order %s: %w", o.ID, err)
	}
	return nil
}

// SaveOrderTasks keeps the tasks of an order as they were when they were deleted.
func (t orderTx) SaveOrderTasks(ctx context.Context, o wire.StoredOrder, pickup, dropoff lastmile.Task) error {
	first, err := wire.Marshal(wire.NewTask(pickup))
	if err != nil {
		return err
	}
	last, err := wire.Marshal(wire.NewTask(dropoff))
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE task_order SET pickup = $3, dropoff = $4 WHERE org = $1 AND id = $2`, o.Courier, o.ID, first, last); err != nil {
		return fmt.Errorf("save the tasks of order %s: %w", o.ID, err)
	}
	return nil
}

// OrderTasks returns the tasks of an order as SaveOrderTasks kept them.
func (t orderTx) OrderTasks(ctx context.Context, o wire.StoredOrder) (pickup, dropoff lastmile.Task, err error) {
	var docs [2][]byte
	err = t.row(ctx, `SELECT pickup, dropoff FROM task_order WHERE org = $1 AND id = $2`, o.Courier, o.ID).Scan(&docs[0], &docs[1])
	var tasks [2]lastmile.Task
	for i, doc := range docs {
		if err == nil {
			tasks[i], err = decodeTask(o.Courier, doc)
		}
	}
	if err != nil {
		return pickup, dropoff, fmt.Errorf("read the tasks of order %s: %w", o.ID, err)
	}
	return tasks[0], tasks[1], nil
}

// decodeTask decodes a whole task in the form of the API.
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
