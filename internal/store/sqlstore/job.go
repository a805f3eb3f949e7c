package sqlstore

import (
	"context"
	"fmt"

	"dray/internal/store"
)

// AddJob implements store.JobWriter.
func (t *tx) AddJob(ctx context.Context, j store.Job) error {
	const query = `
		INSERT INTO job (org, id, kind, payload, run_at, held, attempt, failures, error, created)
		VALUES ($1, $2, $3, $4, $5, 0, 0, 0, '', $6)`
	if _, err := t.exec(ctx, query, j.Organization, j.ID, j.Kind, []byte{}, j.Due.UnixMilli(), j.Created.UnixMilli()); err != nil {
		return fmt.Errorf("add job %s %s: %w", j.Kind, j.ID, err)
	}
	return nil
}
