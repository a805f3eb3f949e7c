package sqlreport

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// The conditions that find unfilled records of each kind, by an index.
var unfilled = map[store.Kind]string{
	store.Destinations: ` FROM destination WHERE street IS NULL ORDER BY created LIMIT $1`,
	store.Workers:      ` FROM worker WHERE name IS NULL ORDER BY created LIMIT $1`,
	store.Tasks:        ` FROM task WHERE completed IS NOT NULL AND success IS NULL ORDER BY completed DESC LIMIT $1`,
}

// Unfilled lists at most limit unfilled records of a kind: those of older versions, which
// lack columns for searches and analytics.
func (p Part) Unfilled(ctx context.Context, kind store.Kind, limit int) ([]store.Unfilled, error) {
	scan := func(r engine.Rows) (u store.Unfilled, err error) {
		err = r.Scan(&u.Organization, &u.ID)
		return u, err
	}
	found, err := engine.Collect(ctx, p.c, scan, `SELECT org, id`+unfilled[kind], int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read unfilled records: %w", err)
	}
	return found, nil
}

// FillDestination saves the street of a destination for searches.
func (p Part) FillDestination(ctx context.Context, d lastmile.Destination) error {
	return p.fill(ctx, `UPDATE destination SET street = $3 WHERE org = $1 AND id = $2`, d.Organization, string(d.ID), lastmile.FoldName(d.Address.Street))
}

// FillWorker saves the name of a worker for searches.
func (p Part) FillWorker(ctx context.Context, w lastmile.Worker) error {
	return p.fill(ctx, `UPDATE worker SET name = $3 WHERE org = $1 AND id = $2`, w.Organization, string(w.ID), lastmile.FoldName(w.Name))
}

// FillTask saves the result of a completed task for analytics.
func (p Part) FillTask(ctx context.Context, t lastmile.Task) error {
	r := store.ResultOf(t)
	if r == nil {
		return nil
	}
	var rating *int64
	if r.Rating != 0 {
		rating = new(int64(r.Rating))
	}
	return p.fill(ctx, `UPDATE task SET success = $3, failure = $4, distance = $5, started = $6, arrived = $7, rating = $8 WHERE org = $1 AND id = $2`,
		t.Organization, string(t.ID), engine.Flag(r.Success), r.Failure, float64(r.Distance), millis(r.Started), millis(r.Arrived), rating)
}

func (p Part) fill(ctx context.Context, query string, args ...any) error {
	if _, err := p.c.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("fill a record: %w", err)
	}
	return nil
}

// millis returns a time as it is stored; null for the zero time.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}
