package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/wire"
)

// storedResult is the result of an item as it is stored.
type storedResult struct {
	Task   lastmile.TaskID   `json:"task,omitzero"`
	Warned bool              `json:"warned,omitzero"`
	Fault  *wire.FaultRecord `json:"fault,omitzero"`
	Sent   json.RawMessage   `json:"sent,omitzero"`
}

// AddBatch saves a new batch with its items.
func (t batchTx) AddBatch(ctx context.Context, b lastmile.Batch, items []lastmile.BatchItem) error {
	sent := []byte("[")
	for i, item := range items {
		if i > 0 {
			sent = append(sent, ',')
		}
		sent = append(sent, item.Sent...)
	}
	sent = append(sent, ']')
	const query = `
		INSERT INTO batch (org, id, key_id, sent, received, done, created) VALUES ($1, $2, $3, $4, $5, 0, $6)`
	if _, err := t.exec(ctx, query, b.Organization, b.ID, b.Key, sent, len(items), b.Created.UnixMilli()); err != nil {
		return fmt.Errorf("add batch %s: %w", b.ID, err)
	}
	return nil
}

// Batch returns a batch with its results so far, which have the ids of tasks
// but not the tasks.
func (t batchTx) Batch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID) (lastmile.Batch, error) {
	b := lastmile.Batch{ID: id, Organization: org}
	var (
		created   int64
		completed *int64
	)
	err := t.row(ctx, `SELECT key_id, received, created, completed FROM batch WHERE org = $1 AND id = $2`, org, id).
		Scan(&b.Key, &b.Received, &created, &completed)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.Batch{}, t.missing(ctx, store.Batches, string(id))
	case err != nil:
		return lastmile.Batch{}, fmt.Errorf("read batch %s: %w", id, err)
	}
	b.Created, b.Completed = time.UnixMilli(created).UTC(), instant(completed)
	chunks, err := collect(ctx, t, func(r rows) (chunk []storedResult, err error) {
		var doc []byte
		if err := r.Scan(&doc); err != nil {
			return nil, err
		}
		return chunk, json.Unmarshal(doc, &chunk)
	}, `SELECT results FROM batch_result WHERE org = $1 AND batch = $2 ORDER BY first`, org, id)
	if err != nil {
		return lastmile.Batch{}, fmt.Errorf("read results of batch %s: %w", id, err)
	}
	for _, stored := range slices.Concat(chunks...) {
		b.Results = append(b.Results, lastmile.BatchResult{
			TaskID: stored.Task, Warned: stored.Warned, Err: stored.Fault.Domain(), Sent: stored.Sent,
		})
	}
	return b, nil
}

// BatchItems returns at most limit items of a batch, beginning with number
// from. A completed batch has none.
func (t batchTx) BatchItems(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from, limit int) ([]lastmile.BatchItem, error) {
	var (
		sent []byte
		all  []json.RawMessage
	)
	err := t.row(ctx, `SELECT sent FROM batch WHERE org = $1 AND id = $2`, org, id).Scan(&sent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, t.missing(ctx, store.Batches, string(id))
	}
	if err == nil {
		err = json.Unmarshal(sent, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read items of batch %s: %w", id, err)
	}
	all = all[min(from, len(all)):]
	all = all[:min(limit, len(all))]
	items := make([]lastmile.BatchItem, len(all))
	for i, body := range all {
		if items[i], err = wire.DecodeBatchItem(org, body); err != nil {
			return nil, fmt.Errorf("decode item %d of batch %s: %w", from+i, id, err)
		}
	}
	return items, nil
}

// AddResults appends results to a batch. from is the number of the first item that has
// no result yet.
func (t batchTx) AddResults(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from int, results []lastmile.BatchResult) error {
	stored := make([]storedResult, 0, len(results))
	for _, r := range results {
		stored = append(stored, storedResult{Task: r.TaskID, Warned: r.Warned, Fault: wire.NewFaultRecord(r.Err), Sent: r.Sent})
	}
	doc, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("encode results of batch %s: %w", id, err)
	}
	n, err := t.exec(ctx, `UPDATE batch SET done = $4 WHERE org = $1 AND id = $2 AND done = $3 AND completed IS NULL`,
		org, id, from, from+len(results))
	if err == nil && n == 0 {
		err = fmt.Errorf("item %d is not the next", from)
	}
	if err == nil {
		err = t.send(ctx, `INSERT INTO batch_result (org, batch, first, results) VALUES ($1, $2, $3, $4)`, org, id, from, doc)
	}
	if err != nil {
		return fmt.Errorf("save results of batch %s: %w", id, err)
	}
	return nil
}

// CompleteBatch saves when a batch was completed, and deletes its items.
func (t batchTx) CompleteBatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, at time.Time) error {
	n, err := t.exec(ctx, `UPDATE batch SET completed = $3, sent = $4 WHERE org = $1 AND id = $2 AND done = received AND completed IS NULL`,
		org, id, at.UnixMilli(), []byte("[]"))
	if err == nil && n == 0 {
		err = errors.New("it has items without a result, or was completed before")
	}
	if err != nil {
		return fmt.Errorf("complete batch %s: %w", id, err)
	}
	return nil
}

// TasksLeft returns the tasks that still exist, in the form of the API, by id. Once the tasks
// have more than room bytes, the others are returned with only their id. Tasks can be large,
// so few are read at a time.
func (t batchTx) TasksLeft(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID, room int) (map[lastmile.TaskID][]byte, error) {
	left := make(map[lastmile.TaskID][]byte, len(ids))
	for chunk := range slices.Chunk(ids, 25) {
		texts := make([]string, len(chunk))
		for i, id := range chunk {
			texts[i] = string(id)
		}
		docs, err := taskTx(t).showTasks(ctx, org, texts)
		if err != nil {
			return nil, fmt.Errorf("read tasks of a batch: %w", err)
		}
		for _, id := range chunk {
			doc, exists := docs[string(id)]
			if !exists {
				continue
			}
			if room -= len(doc); room < 0 {
				if doc, err = wire.Marshal(wire.TaskReference{ID: id}); err != nil {
					return nil, err
				}
			}
			left[id] = doc
		}
	}
	return left, nil
}
