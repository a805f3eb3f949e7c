package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// AddJob implements store.JobWriter.
func (t *tx) AddJob(ctx context.Context, j store.Job) error {
	const query = `
		INSERT INTO job (org, id, kind, payload, run_at, held, attempt, failures, error, created)
		VALUES ($1, $2, $3, $4, $5, 0, 0, 0, '', $6)`
	payload := j.Payload
	if payload == nil {
		payload = []byte{}
	}
	if _, err := t.exec(ctx, query, j.Organization, j.ID, j.Kind, payload, j.RunAt.UnixMilli(), j.Created.UnixMilli()); err != nil {
		return fmt.Errorf("add job %s %s: %w", j.Kind, j.ID, err)
	}
	return nil
}

// DueJobs implements store.JobReader.
func (t *tx) DueJobs(ctx context.Context, kinds []store.JobKind, now time.Time, after lastmile.OrganizationID, limit int) ([]store.Job, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	turns, err := t.turns(ctx, kinds, now, after, limit)
	if err == nil && len(turns) < limit && after != "" {
		var around []dueJob
		around, err = t.turns(ctx, kinds, now, "", limit)
		for _, one := range around {
			if len(turns) < limit && !slices.Contains(turns, one) {
				turns = append(turns, one)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read whose turn it is: %w", err)
	}
	due := make([]store.Job, 0, len(turns))
	for _, one := range turns {
		j := store.Job{Organization: one.org, ID: one.job}
		var runAt, created int64
		err := t.row(ctx, `SELECT kind, payload, run_at, attempt, failures, created FROM job WHERE org = $1 AND id = $2`, one.org, one.job).
			Scan(&j.Kind, &j.Payload, &runAt, &j.Attempt, &j.Failures, &created)
		if err != nil {
			return nil, fmt.Errorf("read job %s: %w", one.job, err)
		}
		j.RunAt, j.Created = time.UnixMilli(runAt).UTC(), time.UnixMilli(created).UTC()
		due = append(due, j)
	}
	return due, nil
}

// dueJob is the job of an organization that has been due longest.
type dueJob struct {
	org lastmile.OrganizationID
	job string
}

// turns lists the organizations after one that have a due job. It jumps from
// each organization to the next, so that neither many jobs of one nor many
// that are not due yet make it slow.
func (t *tx) turns(ctx context.Context, kinds []store.JobKind, now time.Time, after lastmile.OrganizationID, limit int) ([]dueJob, error) {
	args := []any{after, now.UnixMilli(), limit}
	places := make([]string, len(kinds))
	for i, kind := range kinds {
		args = append(args, kind)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	query := `
		WITH RECURSIVE next (org) AS (
			SELECT MIN(j.org) FROM job j WHERE j.org > $1
			UNION ALL
			SELECT (SELECT MIN(j.org) FROM job j WHERE j.org > next.org) FROM next WHERE next.org IS NOT NULL
		)
		SELECT org, job FROM (
			SELECT next.org AS org, (
				SELECT d.id FROM job d
				WHERE d.org = next.org AND d.run_at <= $2 AND d.kind IN (` + strings.Join(places, ", ") + `)
				ORDER BY d.run_at, d.id LIMIT 1) AS job
			FROM next WHERE next.org IS NOT NULL
		) AS turn
		WHERE job IS NOT NULL ORDER BY org LIMIT $3`
	return collect(ctx, t, func(r rows) (one dueJob, err error) {
		err = r.Scan(&one.org, &one.job)
		return one, err
	}, query, args...)
}

// JobsLeft implements store.JobReader.
func (t *tx) JobsLeft(ctx context.Context) (int, error) {
	var n int64
	if err := t.row(ctx, `SELECT count(*) FROM job WHERE run_at IS NOT NULL`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count jobs: %w", err)
	}
	return int(n), nil
}

// Backlog implements store.JobReader.
func (t *tx) Backlog(ctx context.Context, now time.Time) (store.Backlog, error) {
	const notifications = `
		SELECT count(*), COALESCE(SUM(CASE WHEN next_at <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN next_at <= $1 THEN next_at END)
		FROM notification WHERE next_at IS NOT NULL`
	const jobs = `
		SELECT COALESCE(SUM(CASE WHEN run_at <= $1 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN run_at > $1 AND held = 1 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN run_at IS NULL THEN 1 ELSE 0 END), 0), MIN(CASE WHEN run_at <= $1 THEN run_at END)
		FROM job`
	var (
		owed, due, jobsDue, held, givenUp int64
		oldest, work                      *int64
	)
	err := t.row(ctx, notifications, now.UnixMilli()).Scan(&owed, &due, &oldest)
	if err == nil {
		err = t.row(ctx, jobs, now.UnixMilli()).Scan(&jobsDue, &held, &givenUp, &work)
	}
	if err != nil {
		return store.Backlog{}, fmt.Errorf("count what is to be done: %w", err)
	}
	return store.Backlog{
		Owed: int(owed), Due: int(due), OldestDue: instant(oldest),
		JobsDue: int(jobsDue), JobsHeld: int(held), GivenUp: int(givenUp), OldestWork: instant(work),
	}, nil
}

// ClaimJob implements store.JobWriter.
func (t *tx) ClaimJob(ctx context.Context, j store.Job, now time.Time) (store.Job, error) {
	claimed := j
	claimed.Attempt, claimed.RunAt = j.Attempt+1, now.Add(j.Lease)
	const query = `
		UPDATE job SET attempt = $4, run_at = $5, held = 1
		WHERE org = $1 AND id = $2 AND attempt = $3 AND run_at <= $6`
	return claimed, t.mine(ctx, j, query, claimed.Attempt, claimed.RunAt.UnixMilli(), now.UnixMilli())
}

// HoldJob implements store.JobWriter. It writes even if nothing changes: only
// that makes whoever claims the job wait for the end of this transaction.
func (t *tx) HoldJob(ctx context.Context, j store.Job, now time.Time) error {
	return t.mine(ctx, j, `UPDATE job SET run_at = $4`+claimedBy, now.Add(j.Lease).UnixMilli())
}

// FinishJob implements store.JobWriter.
func (t *tx) FinishJob(ctx context.Context, j store.Job) error {
	return t.mine(ctx, j, `DELETE FROM job`+claimedBy)
}

// ReturnJob implements store.JobWriter.
func (t *tx) ReturnJob(ctx context.Context, j store.Job, again time.Time, why string) error {
	return t.mine(ctx, j, `UPDATE job SET run_at = $4, held = 0, failures = $5, error = $6`+claimedBy, millis(again), j.Failures, why)
}

// claimedBy chooses a job by the claim that somebody made of it.
const claimedBy = ` WHERE org = $1 AND id = $2 AND attempt = $3 AND held = 1`

// mine runs a statement that writes a job if it is the caller's.
func (t *tx) mine(ctx context.Context, j store.Job, query string, args ...any) error {
	n, err := t.exec(ctx, query, append([]any{j.Organization, j.ID, j.Attempt}, args...)...)
	switch {
	case err != nil:
		return fmt.Errorf("write job %s %s: %w", j.Kind, j.ID, err)
	case n == 0:
		return fmt.Errorf("job %s %s, attempt %d: %w", j.Kind, j.ID, j.Attempt, store.ErrJobLost)
	}
	return nil
}

// ReclaimJobs implements store.JobWriter.
func (t *tx) ReclaimJobs(ctx context.Context, now time.Time) error {
	if _, err := t.exec(ctx, `UPDATE job SET run_at = $1, held = 0 WHERE held = 1`, now.UnixMilli()); err != nil {
		return fmt.Errorf("reclaim jobs: %w", err)
	}
	return nil
}
