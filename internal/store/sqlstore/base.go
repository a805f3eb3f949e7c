package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// base is what the parts of a transaction share: the connection, the clock and
// the functions to run after the commit.
type base struct {
	conn
	now       func() time.Time
	committed []func()
}

// missing returns why the organization has no such record: it belongs to another
// organization, or it does not exist.
func (t *base) missing(ctx context.Context, kind store.Kind, id string) error {
	return engine.Missing(ctx, t.whole(), string(kind), id)
}

// only returns the one record of a list, or the reason why there is none.
func only[T any](ctx context.Context, t *base, kind store.Kind, id string, found []T, err error) (T, error) {
	return engine.Only(ctx, t.whole(), kind, id, found, err)
}

// saveMetadata replaces the searchable entries of a record.
func (t *base) saveMetadata(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string, metadata lastmile.Metadata) error {
	if err := t.send(ctx, `DELETE FROM metadata_entry WHERE org = $1 AND id = $2`, org, id); err != nil {
		return fmt.Errorf("clear metadata of %s %s: %w", kind, id, err)
	}
	return t.addMetadata(ctx, kind, org, id, metadata)
}

// addMetadata saves the searchable entries of a new record.
func (t *base) addMetadata(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string, metadata lastmile.Metadata) error {
	if err := t.insert(ctx, metadataInsertion, metadataRows(kind, org, id, metadata)); err != nil {
		return fmt.Errorf("save metadata of %s %s: %w", kind, id, err)
	}
	return nil
}

// erase deletes the rows of a record in several tables, each by the column
// that holds its id.
func (t *base) erase(ctx context.Context, org lastmile.OrganizationID, id string, places ...[2]string) error {
	for _, place := range places {
		if err := t.send(ctx, `DELETE FROM `+place[0]+` WHERE org = $1 AND `+place[1]+` = $2`, org, id); err != nil {
			return fmt.Errorf("delete %s from %s: %w", id, place[0], err)
		}
	}
	return nil
}

// exists reports whether a query returns a row.
func (t *base) exists(ctx context.Context, query string, args ...any) (bool, error) {
	return engine.Exists(ctx, t.whole(), query, args...)
}

// deleteOld deletes old rows of a table; see engine.DeleteOld.
func (t *base) deleteOld(ctx context.Context, table, column, and string, below int64, most int) (int64, error) {
	return engine.DeleteOld(ctx, t.whole(), table, column, and, below, most)
}

func (t *base) count(ctx context.Context, query string, args ...any) (int, error) {
	return engine.Count(ctx, t.whole(), query, args...)
}

// Try runs fn as a part of the transaction that can fail alone: if fn returns an error,
// its changes are undone and the transaction continues. A failed statement still ends
// the transaction.
func (t *base) Try(ctx context.Context, fn func() error) error {
	if _, err := t.exec(ctx, `SAVEPOINT part`); err != nil {
		return fmt.Errorf("begin a part: %w", err)
	}
	registered := len(t.committed)
	rejected := fn()
	if rejected != nil {
		t.committed = t.committed[:registered]
		if _, err := t.exec(ctx, `ROLLBACK TO SAVEPOINT part`); err != nil {
			return fmt.Errorf("undo a part: %w", errors.Join(err, rejected))
		}
	}
	if _, err := t.exec(ctx, `RELEASE SAVEPOINT part`); err != nil {
		return fmt.Errorf("end a part: %w", err)
	}
	return rejected
}

// OnCommit registers a function that runs once, after the transaction was
// committed and before Write returns. Functions run in the order in which they
// were registered. Those registered in a run that failed, or in a Try that
// failed, do not run.
func (t *base) OnCommit(fn func()) { t.committed = append(t.committed, fn) }

// Receipt returns the receipt that has the organization, key, method and path of sought,
// or lastmile.NotFound.
func (t receiptTx) Receipt(ctx context.Context, sought lastmile.Receipt) (lastmile.Receipt, error) {
	const query = `SELECT body_hash, reply, created FROM receipt WHERE org = $1 AND key = $2 AND method = $3 AND path = $4`
	found, created := sought, int64(0)
	err := t.row(ctx, query, sought.Organization, sought.Key, sought.Method, sought.Path).Scan(&found.BodyHash, &found.Reply, &created)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return found, lastmile.NotFound("receipt", sought.Key)
	case err != nil:
		return found, fmt.Errorf("read receipt: %w", err)
	}
	found.Created = time.UnixMilli(created).UTC()
	return found, nil
}

// SaveReceipt saves reply, the encoded response, under the receipt.
func (t receiptTx) SaveReceipt(ctx context.Context, r lastmile.Receipt, reply []byte) error {
	const query = `
		INSERT INTO receipt (org, key, method, path, body_hash, reply, created) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, key, method, path) DO UPDATE
		SET body_hash = excluded.body_hash, reply = excluded.reply, created = excluded.created`
	if err := t.send(ctx, query, r.Organization, r.Key, r.Method, r.Path, r.BodyHash, reply, r.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save receipt: %w", err)
	}
	return nil
}

// DeleteReceipts deletes about most receipts older than a time, and returns how many it
// deleted.
func (t receiptTx) DeleteReceipts(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `receipt`, `created`, ``, before.UnixMilli(), most)
}
