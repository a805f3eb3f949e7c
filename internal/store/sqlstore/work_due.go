package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// DueWork implements work.Reader.
func (t workTx) DueWork(ctx context.Context, q work.Query) ([]work.Item, error) {
	var (
		due map[lastmile.OrganizationID][]work.Item
		err error
	)
	if q.Kind == work.Webhooks {
		due, err = t.dueWebhooks(ctx, q)
	} else {
		due, err = t.dueTurns(ctx, q)
	}
	if err != nil {
		return nil, fmt.Errorf("find due work of kind %s: %w", q.Kind, err)
	}
	turns := make([]lastmile.OrganizationID, 0, len(due))
	for org := range due {
		turns = append(turns, org)
	}
	slices.SortFunc(turns, func(a, b lastmile.OrganizationID) int {
		if (a > q.After) != (b > q.After) {
			return cmp.Compare(b, a) // organizations after q.After come first
		}
		return cmp.Compare(a, b)
	})
	var list []work.Item
	for _, org := range turns {
		items := due[org]
		if q.Kind != work.Webhooks {
			free, err := t.freeWork(ctx, q, org)
			if err != nil {
				return nil, fmt.Errorf("find due work of kind %s: %w", q.Kind, err)
			}
			items = append(items, free...)
		}
		slices.SortFunc(items, func(a, b work.Item) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
		list = append(list, items[:min(len(items), q.PerOrganization)]...)
		if len(list) >= q.Limit {
			return list[:q.Limit], nil
		}
	}
	return list, nil
}

// leaseEnded is the condition that a lease ended by $1, or that it ends after $2, which is
// later than any valid lease.
const leaseEnded = `(t.claimed_until <= $1 AND t.DUE <= $1 OR t.claimed_until > $2)`

// dueTurns finds the organizations that have due work without a lease, and the items whose
// leases have ended. It jumps from each organization to the next, so that it is fast even
// if an organization has many items or many are not due.
func (t workTx) dueTurns(ctx context.Context, q work.Query) (map[lastmile.OrganizationID][]work.Item, error) {
	query, args := turnsQuery(q)
	due := map[lastmile.OrganizationID][]work.Item{}
	_, err := collect(ctx, t, func(r rows) (none struct{}, err error) {
		item := work.Item{Kind: q.Kind}
		var at, until, failures int64
		err = r.Scan(&item.Organization, &item.ID, &at, &until, &item.Attempt, &failures)
		if until = max(at, until); until > q.Now.Add(work.MaxLease).UnixMilli() {
			until = q.Now.UnixMilli()
		}
		item.Due, item.Failures = time.UnixMilli(until).UTC(), int(failures)
		due[item.Organization] = append(due[item.Organization], item)
		if item.ID == "" { // only an organization
			due[item.Organization] = due[item.Organization][:len(due[item.Organization])-1]
		}
		return none, err
	}, query, args...)
	return due, err
}

// turnsQuery returns the query of dueTurns.
func turnsQuery(q work.Query) (string, []any) {
	table := workTableOf(q.Kind)
	ofKind, args := table.ofKind(3, q.Kind, q.Until.UnixMilli(), q.Now.Add(work.MaxLease).UnixMilli())
	free := `t.claim = '' AND t.DUE IS NOT NULL` + ofKind
	return table.sql(`
		WITH RECURSIVE turn (org) AS (
			SELECT MIN(t.org) FROM TABLE t WHERE ` + free + `
			UNION ALL
			SELECT (SELECT MIN(t.org) FROM TABLE t WHERE ` + free + ` AND t.org > turn.org) FROM turn WHERE turn.org IS NOT NULL
		)
		SELECT turn.org, '', 0, 0, 0, 0 FROM turn
		WHERE turn.org IS NOT NULL AND (SELECT MIN(t.DUE) FROM TABLE t WHERE ` + free + ` AND t.org = turn.org) <= $1
		UNION ALL
		SELECT t.org, t.ID, t.DUE, t.claimed_until, ` + table.counters() + ` FROM TABLE t
		WHERE t.claim <> '' AND t.DUE IS NOT NULL AND ` + leaseEnded + ofKind), args
}

// counters returns the columns that count leases and failures.
func (w workTable) counters() string {
	if w.counts {
		return "t.attempt, t.failures"
	}
	return "0, 0"
}

// freeWork lists the due items of one organization that have no lease.
func (t workTx) freeWork(ctx context.Context, q work.Query, org lastmile.OrganizationID) ([]work.Item, error) {
	table := workTableOf(q.Kind)
	ofKind, args := table.ofKind(3, q.Kind, q.Until.UnixMilli(), org)
	query := table.sql(`
		SELECT t.ID, t.DUE, ` + table.counters() + ` FROM TABLE t
		WHERE t.claim = '' AND t.DUE IS NOT NULL AND t.DUE <= $1 AND t.org = $2` + ofKind + `
		ORDER BY t.DUE, t.ID` + limit(q.PerOrganization))
	return collect(ctx, t, func(r rows) (work.Item, error) {
		item := work.Item{Kind: q.Kind, Organization: org}
		var at, failures int64
		err := r.Scan(&item.ID, &at, &item.Attempt, &failures)
		item.Due, item.Failures = time.UnixMilli(at).UTC(), int(failures)
		return item, err
	}, query, args...)
}

// dueWebhooks finds the webhooks that have notifications to send. The failures of an item
// are the webhook's attempts that failed in a row. Webhooks that have a job are skipped,
// because the job gives up their pending notifications.
func (t workTx) dueWebhooks(ctx context.Context, q work.Query) (map[lastmile.OrganizationID][]work.Item, error) {
	const query = `
		WITH RECURSIVE hook (id) AS (
			SELECT MIN(n.webhook) FROM notification n WHERE n.next_at IS NOT NULL
			UNION ALL
			SELECT (SELECT MIN(n.webhook) FROM notification n WHERE n.next_at IS NOT NULL AND n.webhook > hook.id)
			FROM hook WHERE hook.id IS NOT NULL
		)
		SELECT t.org, t.id, t.streak, t.claim, t.claimed_until,
			(SELECT MIN(n.next_at) FROM notification n WHERE n.webhook = hook.id AND n.next_at IS NOT NULL)
		FROM hook JOIN webhook w ON w.id = hook.id JOIN webhook_tally t ON t.org = w.org AND t.id = w.id
		WHERE (t.claim = '' OR t.claimed_until <= $1 OR t.claimed_until > $2)
			AND NOT EXISTS (SELECT 1 FROM job j WHERE j.org = t.org AND j.id = t.id)`
	due := map[lastmile.OrganizationID][]work.Item{}
	_, err := collect(ctx, t, func(r rows) (none struct{}, err error) {
		item := work.Item{Kind: q.Kind}
		var (
			claim               string
			streak, until, next int64
		)
		err = r.Scan(&item.Organization, &item.ID, &streak, &claim, &until, &next)
		if claim != "" && until <= q.Until.UnixMilli() {
			next = max(next, until)
		}
		item.Due, item.Failures = time.UnixMilli(next).UTC(), int(streak)
		if !item.Due.After(q.Until) {
			due[item.Organization] = append(due[item.Organization], item)
		}
		return none, err
	}, query, q.Until.UnixMilli(), q.Now.Add(work.MaxLease).UnixMilli())
	return due, err
}

// AdvanceWork makes work of a kind due now that is scheduled for after latest, because the
// clock was ahead when it was scheduled.
func (t workTx) AdvanceWork(ctx context.Context, kind work.Kind, now, latest time.Time) error {
	table := workTableOf(kind)
	ofKind, args := table.ofKind(3, kind, now.UnixMilli(), latest.UnixMilli())
	query := table.sql(`UPDATE TABLE AS t SET DUE = $1 WHERE t.DUE > $2 AND t.claim = ''` + ofKind)
	switch kind {
	case work.Webhooks:
		query = `UPDATE notification SET next_at = $1 WHERE next_at > $2`
	case work.Estimates:
		query = advanceEstimates
	default:
	}
	if _, err := t.exec(ctx, query, args...); err != nil {
		return fmt.Errorf("advance work of kind %s: %w", kind, err)
	}
	return nil
}

// advanceEstimates also advances workers who are checked before, because a check does not
// refresh all estimates.
const advanceEstimates = `UPDATE worker_watch SET next_at = $1, refresh_at = $1 WHERE (next_at > $2 OR refresh_at > $2) AND claim = ''`

// AdvanceOnDuty is AdvanceWork for the estimates of workers who are on duty.
func (t workTx) AdvanceOnDuty(ctx context.Context, now, latest time.Time) error {
	const onDuty = ` AND EXISTS (SELECT 1 FROM worker w WHERE w.org = worker_watch.org AND w.id = worker_watch.worker AND w.on_duty = 1)`
	if _, err := t.exec(ctx, advanceEstimates+onDuty, now.UnixMilli(), latest.UnixMilli()); err != nil {
		return fmt.Errorf("advance estimates of workers on duty: %w", err)
	}
	return nil
}

// WorkBacklog implements work.Reader.
func (t workTx) WorkBacklog(ctx context.Context, kind work.Kind, now time.Time) (work.Backlog, error) {
	table := workTableOf(kind)
	ofKind, args := table.ofKind(2, kind, now.UnixMilli())
	free := `SELECT count(*), COALESCE(SUM(CASE WHEN t.DUE <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN t.DUE <= $1 THEN t.DUE END)
		FROM TABLE t WHERE t.claim = '' AND t.DUE IS NOT NULL` + ofKind
	held := `SELECT count(*), COALESCE(SUM(CASE WHEN t.DUE <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN t.DUE <= $1 THEN t.DUE END)
		FROM TABLE t WHERE t.claim <> '' AND t.DUE IS NOT NULL` + ofKind
	if kind == work.Webhooks { // count notifications
		free = `SELECT count(*), COALESCE(SUM(CASE WHEN next_at <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN next_at <= $1 THEN next_at END)
			FROM notification WHERE next_at IS NOT NULL`
		held = `SELECT COALESCE(SUM(CASE WHEN claimed_until > $1 THEN 1 ELSE 0 END), 0), 0, NULL FROM webhook_tally WHERE claim <> ''`
	}
	var (
		waiting, due, leases, ended, givenUp int64
		oldest, oldestEnded                  *int64
	)
	err := t.row(ctx, table.sql(free), args...).Scan(&waiting, &due, &oldest)
	if err == nil {
		err = t.row(ctx, table.sql(held), args...).Scan(&leases, &ended, &oldestEnded)
	}
	if err == nil && table.jobs {
		err = t.row(ctx, `SELECT count(*) FROM job WHERE run_at IS NULL AND kind = $1`, kind).Scan(&givenUp)
	}
	if err != nil {
		return work.Backlog{}, fmt.Errorf("count work of kind %s: %w", kind, err)
	}
	b := work.Backlog{Waiting: int(waiting + leases), Due: int(due + ended), Leased: int(leases - ended), GivenUp: int(givenUp), Oldest: instant(oldest)}
	if kind == work.Webhooks {
		b.Waiting = int(waiting)
	}
	if first := instant(oldestEnded); b.Oldest.IsZero() || !first.IsZero() && first.Before(b.Oldest) {
		b.Oldest = first
	}
	return b, nil
}
