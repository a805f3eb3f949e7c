package sqlstore

import (
	"context"
	"fmt"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// AppendEvents implements store.TaskWriter.
func (t *tx) AppendEvents(ctx context.Context, events []lastmile.Event) error {
	for _, e := range events {
		body, err := wire.Encode(e)
		if err != nil {
			return err
		}
		var (
			task, worker *string
			sequence     *int64
		)
		if e.Task != nil {
			task, worker, sequence = (*string)(&e.Task.ID), orNull(string(e.Task.Worker)), &e.Sequence
		}
		if e.Worker != nil {
			worker = (*string)(&e.Worker.ID)
		}
		const query = `
			INSERT INTO event (org, id, trigger_id, task, task_sequence, worker, created, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
		_, err = t.exec(ctx, query, e.Organization, e.ID, int64(e.Trigger), task, sequence, worker, e.At.UnixMilli(), body)
		if err != nil {
			return fmt.Errorf("append event %s: %w", e.Trigger, err)
		}
	}
	return nil
}
