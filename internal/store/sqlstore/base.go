package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// base is what the parts of a transaction share: the connection, the clock and
// the functions to run after the commit.
type base struct {
	conn
	now       func() time.Time
	committed []func()
}

// missing returns why a record was not found among those of the organization: it
// belongs to another one, or it does not exist.
func (t *base) missing(ctx context.Context, kind store.Kind, id string) error {
	noun := strings.ReplaceAll(string(kind), "_", " ")
	if !lastmile.ValidID(id) {
		return lastmile.NotFound(noun, id)
	}
	var one int64
	// The second test is that of a partial index; see migration 0025.
	err := t.row(ctx, `SELECT 1 FROM `+string(kind)+` WHERE id = $1 AND id <> ''`, id).Scan(&one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.NotFound(noun, id)
	case err != nil:
		return fmt.Errorf("look for %s %s: %w", noun, id, err)
	}
	return lastmile.OutsideScope(id)
}

// only returns the one record of a list, or the reason why there is none.
func only[T any](ctx context.Context, t *base, kind store.Kind, id string, found []T, err error) (T, error) {
	if err == nil && len(found) == 0 {
		err = t.missing(ctx, kind, id)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
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
		if _, err := t.exec(ctx, `DELETE FROM `+place[0]+` WHERE org = $1 AND `+place[1]+` = $2`, org, id); err != nil {
			return fmt.Errorf("delete %s from %s: %w", id, place[0], err)
		}
	}
	return nil
}

// exists reports whether a query returns a row.
func (t *base) exists(ctx context.Context, query string, args ...any) (bool, error) {
	var one int64
	err := t.row(ctx, query, args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// deleteOld deletes rows of a table, those with the least in a column first, as
// long as that is below a limit: so many, and those that have the same in the
// column as the last. The column has an index.
func (t *base) deleteOld(ctx context.Context, table, column, and string, below int64, most int) (int64, error) {
	where := ` FROM ` + table + ` WHERE ` + column + ` < $1` + and
	var last int64
	err := t.row(ctx, `SELECT `+column+where+` ORDER BY `+column+` LIMIT 1 OFFSET $2`, below, most-1).Scan(&last)
	switch {
	case err == nil:
		below = last + 1
	case !errors.Is(err, sql.ErrNoRows):
		return 0, fmt.Errorf("read what is old of %s: %w", table, err)
	}
	n, err := t.exec(ctx, `DELETE`+where, below)
	if err != nil {
		return 0, fmt.Errorf("delete what is old of %s: %w", table, err)
	}
	return n, nil
}

func (t *base) count(ctx context.Context, query string, args ...any) (int, error) {
	var n int64
	if err := t.row(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return int(n), nil
}

// Try runs fn as a part of the transaction that can fail alone: when fn returns
// an error, what it saved is undone and the transaction continues. A statement
// that fails still ends the transaction.
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

// Receipt returns the receipt with the organization, key, method and path of
// the one given, or lastmile.NotFound.
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

// DeleteReceipts deletes about limit receipts older than a time, and returns
// how many it deleted.
func (t receiptTx) DeleteReceipts(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `receipt`, `created`, ``, before.UnixMilli(), most)
}
