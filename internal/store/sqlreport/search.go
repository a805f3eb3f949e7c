package sqlreport

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Part is the part of a transaction that has the statements of this package.
type Part struct{ c engine.Conn }

// New returns the part of a transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

// after is greater than every character of a text.
const after = "\U0010FFFF"

// starting returns the ids of an organization's records that have a column that begins
// with a text, in the order of that column, up to limit. There is an index.
func starting[ID ~string](ctx context.Context, p Part, table, column, and string, org lastmile.OrganizationID, prefix string, limit int) ([]ID, error) {
	scan := func(r engine.Rows) (id ID, err error) {
		err = r.Scan(&id)
		return id, err
	}
	query := `SELECT id FROM ` + table + ` WHERE org = $1 AND ` + column + ` >= $2 AND ` + column + ` < $3` + and + ` ORDER BY ` + column + ` LIMIT $4`
	found, err := engine.Collect(ctx, p.c, scan, query, org, prefix, prefix+after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", table, err)
	}
	return found, nil
}

// RecipientsNamed finds recipients whose name, in lower case, begins with a text.
func (p Part) RecipientsNamed(ctx context.Context, org lastmile.OrganizationID, name string, limit int) ([]lastmile.RecipientID, error) {
	return starting[lastmile.RecipientID](ctx, p, `recipient`, `name`, ``, org, name, limit)
}

// RecipientsCalled finds recipients whose phone number begins with a text.
func (p Part) RecipientsCalled(ctx context.Context, org lastmile.OrganizationID, phone string, limit int) ([]lastmile.RecipientID, error) {
	return starting[lastmile.RecipientID](ctx, p, `recipient`, `phone`, ``, org, phone, limit)
}

// WorkersNamed finds workers whose name, in lower case, begins with a text.
func (p Part) WorkersNamed(ctx context.Context, org lastmile.OrganizationID, name string, limit int) ([]lastmile.WorkerID, error) {
	return starting[lastmile.WorkerID](ctx, p, `worker`, `name`, ``, org, name, limit)
}

// WorkersCalled finds workers whose phone number begins with a text.
func (p Part) WorkersCalled(ctx context.Context, org lastmile.OrganizationID, phone string, limit int) ([]lastmile.WorkerID, error) {
	return starting[lastmile.WorkerID](ctx, p, `worker`, `phone`, ``, org, phone, limit)
}

// DestinationsAt finds destinations whose street, in lower case, begins with a text.
func (p Part) DestinationsAt(ctx context.Context, org lastmile.OrganizationID, street string, limit int) ([]lastmile.DestinationID, error) {
	return starting[lastmile.DestinationID](ctx, p, `destination`, `street`, ` AND street <> ''`, org, street, limit)
}

// TasksCalled finds tasks whose short id begins with a text.
func (p Part) TasksCalled(ctx context.Context, org lastmile.OrganizationID, shortID string, limit int) ([]lastmile.TaskID, error) {
	return starting[lastmile.TaskID](ctx, p, `task`, `short_id`, ``, org, shortID, limit)
}

// LatestFor lists the newest tasks for a recipient, up to limit.
func (p Part) LatestFor(ctx context.Context, org lastmile.OrganizationID, recipient lastmile.RecipientID, limit int) ([]store.Created, error) {
	return p.latest(ctx, `recipient = $2 AND recipient IS NOT NULL`, org, string(recipient), limit)
}

// LatestAt lists the newest tasks at a destination, up to limit.
func (p Part) LatestAt(ctx context.Context, org lastmile.OrganizationID, destination lastmile.DestinationID, limit int) ([]store.Created, error) {
	return p.latest(ctx, `destination = $2`, org, string(destination), limit)
}

func (p Part) latest(ctx context.Context, where string, org lastmile.OrganizationID, id string, limit int) ([]store.Created, error) {
	scan := func(r engine.Rows) (t store.Created, err error) {
		var created int64
		err = r.Scan(&t.ID, &created)
		t.At = time.UnixMilli(created).UTC()
		return t, err
	}
	found, err := engine.Collect(ctx, p.c, scan, `SELECT id, created FROM task WHERE org = $1 AND `+where+` ORDER BY created DESC, id DESC LIMIT $3`, org, id, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read the latest tasks: %w", err)
	}
	return found, nil
}
