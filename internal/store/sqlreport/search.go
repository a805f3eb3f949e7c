package sqlreport

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Part is a part of a transaction, with the statements of this package.
type Part struct{ c engine.Conn }

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

// after is greater than every character of a text.
const after = "\U0010FFFF"

// passed is the number of records that are considered for each one to find, if the caller
// manages only some teams. It bounds the cost of a search if most records belong to others.
const passed = 20

// query selects rows t of a table. The parameters of its condition begin with $3.
type query struct {
	columns, table, where, order string
	own                          func(manager string) string // tests whether a manager may see a row; nil if every manager may
}

// limited returns the statement for at most limit rows that the caller may see, and its
// arguments.
func (q query) limited(by store.Viewer, limit int, args ...any) (string, []any) {
	rows := func(columns string) string {
		return `SELECT ` + columns + ` FROM ` + q.table + ` t WHERE t.org = $1 AND ` + q.where + ` ORDER BY ` + q.order + ` LIMIT $2`
	}
	args = append([]any{by.Organization, int64(limit)}, args...)
	if by.Manager == "" || q.own == nil {
		return rows(q.columns), args
	}
	args[1] = int64(passed * limit)
	args = append(args, by.Manager, int64(limit))
	return fmt.Sprintf(`SELECT %s FROM %s t WHERE t.org = $1 AND t.id IN (%s) AND %s ORDER BY %s LIMIT $%d`,
		q.columns, q.table, rows(`t.id`), q.own(fmt.Sprintf(`$%d`, len(args)-1)), q.order, len(args)), args
}

// starting returns the ids of at most limit records whose column q.order begins with a
// text, in the order of that column, which has an index.
func starting[ID ~string](ctx context.Context, p Part, q query, by store.Viewer, prefix string, limit int) ([]ID, error) {
	scan := func(r engine.Rows) (id ID, err error) {
		err = r.Scan(&id)
		return id, err
	}
	q.columns, q.where = `t.id`, q.order+` >= $3 AND `+q.order+` < $4`+q.where
	statement, args := q.limited(by, limit, prefix, prefix+after)
	found, err := engine.Collect(ctx, p.c, scan, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", q.table, err)
	}
	return found, nil
}

// RecipientsNamed finds recipients whose name, in lower case, begins with a text.
func (p Part) RecipientsNamed(ctx context.Context, org lastmile.OrganizationID, name string, limit int) ([]lastmile.RecipientID, error) {
	return starting[lastmile.RecipientID](ctx, p, query{table: `recipient`, order: `t.name`}, store.Viewer{Organization: org}, name, limit)
}

// RecipientsCalled finds recipients whose phone number begins with a text.
func (p Part) RecipientsCalled(ctx context.Context, org lastmile.OrganizationID, phone string, limit int) ([]lastmile.RecipientID, error) {
	return starting[lastmile.RecipientID](ctx, p, query{table: `recipient`, order: `t.phone`}, store.Viewer{Organization: org}, phone, limit)
}

// WorkersNamed finds workers whose name, in lower case, begins with a text.
func (p Part) WorkersNamed(ctx context.Context, by store.Viewer, name string, limit int) ([]lastmile.WorkerID, error) {
	return starting[lastmile.WorkerID](ctx, p, query{table: `worker`, order: `t.name`, own: ownWorker}, by, name, limit)
}

// WorkersCalled finds workers whose phone number begins with a text.
func (p Part) WorkersCalled(ctx context.Context, by store.Viewer, phone string, limit int) ([]lastmile.WorkerID, error) {
	return starting[lastmile.WorkerID](ctx, p, query{table: `worker`, order: `t.phone`, own: ownWorker}, by, phone, limit)
}

func ownWorker(manager string) string { return `t.id IN ` + engine.OwnWorkers(manager) }

// DestinationsAt finds destinations whose street, in lower case, begins with a text.
func (p Part) DestinationsAt(ctx context.Context, org lastmile.OrganizationID, street string, limit int) ([]lastmile.DestinationID, error) {
	return starting[lastmile.DestinationID](ctx, p, query{table: `destination`, order: `t.street`, where: ` AND t.street <> ''`}, store.Viewer{Organization: org}, street, limit)
}

// TasksCalled finds tasks whose short id begins with a text.
func (p Part) TasksCalled(ctx context.Context, by store.Viewer, shortID string, limit int) ([]lastmile.TaskID, error) {
	return starting[lastmile.TaskID](ctx, p, query{table: `task`, order: `t.short_id`, own: engine.OwnTask}, by, shortID, limit)
}

// LatestFor lists the newest tasks for a recipient, up to limit.
func (p Part) LatestFor(ctx context.Context, by store.Viewer, recipient lastmile.RecipientID, limit int) ([]store.Created, error) {
	return p.latest(ctx, `t.recipient = $3 AND t.recipient IS NOT NULL`, by, string(recipient), limit)
}

// LatestAt lists the newest tasks at a destination, up to limit.
func (p Part) LatestAt(ctx context.Context, by store.Viewer, destination lastmile.DestinationID, limit int) ([]store.Created, error) {
	return p.latest(ctx, `t.destination = $3`, by, string(destination), limit)
}

func (p Part) latest(ctx context.Context, where string, by store.Viewer, id string, limit int) ([]store.Created, error) {
	scan := func(r engine.Rows) (t store.Created, err error) {
		var created int64
		err = r.Scan(&t.ID, &created)
		t.At = time.UnixMilli(created).UTC()
		return t, err
	}
	q := query{columns: `t.id, t.created`, table: `task`, where: where, order: `t.created DESC, t.id DESC`, own: engine.OwnTask}
	statement, args := q.limited(by, limit, id)
	found, err := engine.Collect(ctx, p.c, scan, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("read the latest tasks: %w", err)
	}
	return found, nil
}
