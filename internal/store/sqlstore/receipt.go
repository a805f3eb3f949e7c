package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
)

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
