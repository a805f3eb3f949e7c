package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// workTable describes where the leases of a kind of work are.
type workTable struct {
	name   string
	id     string // column of the item's id
	due    string // column of the time at which it is due; empty for webhooks, whose notifications have it
	counts bool   // has columns for attempts and failures
	jobs   bool   // holds items of many kinds, and only until they are done
}

var (
	jobTable      = workTable{name: "job", id: "id", due: "run_at", counts: true, jobs: true}
	ownWorkTables = map[work.Kind]workTable{
		work.Messages:  {name: "message", id: "id", due: "next_at"},
		work.Estimates: {name: "worker_watch", id: "worker", due: "next_at"},
		work.Webhooks:  {name: "webhook_tally", id: "id"},
	}
)

func workTableOf(kind work.Kind) workTable {
	if own, ok := ownWorkTables[kind]; ok {
		return own
	}
	return jobTable
}

// sql fills the names of the table into a statement: TABLE, ID and DUE.
func (w workTable) sql(statement string) string {
	return strings.NewReplacer("TABLE", w.name, "ID", w.id, "DUE", w.due).Replace(statement)
}

// ofKind is the condition that chooses a kind by parameter n, and its argument.
func (w workTable) ofKind(n int, kind work.Kind, args ...any) (string, []any) {
	if !w.jobs {
		return "", args
	}
	return " AND t.kind = $" + strconv.Itoa(n), append(args, kind)
}

// DueWork implements work.Reader.
func (t *tx) DueWork(ctx context.Context, q work.Query) ([]work.Item, error) {
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
			return cmp.Compare(b, a) // those following After come first
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

// leaseEnded is the condition that a lease has ended, or is not to be believed.
// $1 is when it is to have ended, $2 the longest that one may last.
const leaseEnded = `(t.claimed_until <= $1 AND t.DUE <= $1 OR t.claimed_until > $2)`

// dueTurns finds the organizations that have due work without a lease, and the
// items whose leases have ended. It jumps from each organization to the next,
// so that neither many items of one nor many that are not due make it slow.
func (t *tx) dueTurns(ctx context.Context, q work.Query) (map[lastmile.OrganizationID][]work.Item, error) {
	table := workTableOf(q.Kind)
	ofKind, args := table.ofKind(3, q.Kind, q.Until.UnixMilli(), q.Now.Add(work.MaxLease).UnixMilli())
	free := `t.claim = '' AND t.DUE IS NOT NULL` + ofKind
	query := table.sql(`
		WITH RECURSIVE turn (org) AS (
			SELECT MIN(t.org) FROM TABLE t WHERE ` + free + `
			UNION ALL
			SELECT (SELECT MIN(t.org) FROM TABLE t WHERE ` + free + ` AND t.org > turn.org) FROM turn WHERE turn.org IS NOT NULL
		)
		SELECT turn.org, '', 0, 0, 0, 0 FROM turn
		WHERE turn.org IS NOT NULL AND (SELECT MIN(t.DUE) FROM TABLE t WHERE ` + free + ` AND t.org = turn.org) <= $1
		UNION ALL
		SELECT t.org, t.ID, t.DUE, t.claimed_until, ` + table.counters() + ` FROM TABLE t
		WHERE t.claim <> '' AND t.DUE IS NOT NULL AND ` + leaseEnded + ofKind)
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
		if item.ID == "" { // the organization alone
			due[item.Organization] = due[item.Organization][:len(due[item.Organization])-1]
		}
		return none, err
	}, query, args...)
	return due, err
}

// counters are the columns that count leases and failures.
func (w workTable) counters() string {
	if w.counts {
		return "t.attempt, t.failures"
	}
	return "0, 0"
}

// freeWork lists the due items of one organization that have no lease.
func (t *tx) freeWork(ctx context.Context, q work.Query, org lastmile.OrganizationID) ([]work.Item, error) {
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

// dueWebhooks finds the webhooks that have notifications to send. Their failures
// are the attempts that have failed in a row.
func (t *tx) dueWebhooks(ctx context.Context, q work.Query) (map[lastmile.OrganizationID][]work.Item, error) {
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
		WHERE t.claim = '' OR t.claimed_until <= $1 OR t.claimed_until > $2`
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

// ClaimWork implements work.Writer.
func (t *tx) ClaimWork(ctx context.Context, item work.Item, now, until time.Time) (bool, error) {
	table := workTableOf(item.Kind)
	set, free := `claim = $3, claimed_until = $4`, `(claim = '' OR claimed_until <= $5 OR claimed_until > $6)`
	if table.due != "" {
		set += `, DUE = $4`
		free = `DUE IS NOT NULL AND (DUE <= $5 AND (claim = '' OR claimed_until <= $5) OR claim <> '' AND claimed_until > $6)`
	}
	if table.counts {
		set += `, attempt = attempt + 1`
	}
	n, err := t.exec(ctx, table.sql(`UPDATE TABLE SET `+set+` WHERE org = $1 AND ID = $2 AND `+free), item.Organization, item.ID,
		item.Lease, until.UnixMilli(), now.UnixMilli(), now.Add(work.MaxLease).UnixMilli())
	if err != nil {
		return false, fmt.Errorf("lease %s %s: %w", item.Kind, item.ID, err)
	}
	return n > 0, nil
}

// leased is the condition that the lease of an item is the caller's.
const leased = ` WHERE org = $1 AND ID = $2 AND claim = $3`

// HoldWork implements work.Writer. It writes even if nothing changes: only that
// makes a node that wants the lease wait for the end of this transaction.
func (t *tx) HoldWork(ctx context.Context, items []work.Item, until time.Time) (lost []work.Item, err error) {
	if len(items) == 1 {
		return t.holdOne(ctx, items[0], until)
	}
	for some := range slices.Chunk(items, 128) {
		missing, err := t.holdSome(ctx, some, until)
		if err != nil {
			return nil, fmt.Errorf("renew %d leases of kind %s: %w", len(some), some[0].Kind, err)
		}
		lost = append(lost, missing...)
	}
	return lost, nil
}

// renewal is the assignment that makes a lease last, until parameter n.
func (w workTable) renewal(n int) string {
	set := ` claimed_until = $` + strconv.Itoa(n)
	if w.due != "" {
		set += `, DUE = $` + strconv.Itoa(n)
	}
	return set
}

func (t *tx) holdOne(ctx context.Context, item work.Item, until time.Time) ([]work.Item, error) {
	table := workTableOf(item.Kind)
	n, err := t.exec(ctx, table.sql(`UPDATE TABLE SET`+table.renewal(4)+leased), item.Organization, item.ID, item.Lease, until.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("renew the lease of %s %s: %w", item.Kind, item.ID, err)
	}
	if n == 0 {
		return []work.Item{item}, nil
	}
	return nil, nil
}

// holdSome renews leases with one statement. Their number is rounded up, so that
// there are few different statements.
func (t *tx) holdSome(ctx context.Context, items []work.Item, until time.Time) (lost []work.Item, err error) {
	table := workTableOf(items[0].Kind)
	size := 2
	for size < len(items) {
		size *= 2
	}
	args, places := []any{until.UnixMilli()}, make([]string, size)
	for i := range size {
		args = append(args, items[min(i, len(items)-1)].Lease)
		places[i] = "$" + strconv.Itoa(i+2)
	}
	n, err := t.exec(ctx, table.sql(`UPDATE TABLE SET`+table.renewal(1)+` WHERE claim <> '' AND claim IN (`+strings.Join(places, ", ")+`)`), args...)
	if err != nil || int(n) == len(items) {
		return nil, err
	}
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	kept, err := collect(ctx, t, func(r rows) (lease string, err error) {
		err = r.Scan(&lease)
		return lease, err
	}, table.sql(`SELECT claim FROM TABLE WHERE claim <> '' AND claim IN (`+strings.Join(places, ", ")+`)`), args[1:]...)
	for _, item := range items {
		if !slices.Contains(kept, item.Lease) {
			lost = append(lost, item)
		}
	}
	return lost, err
}

// ReleaseWork implements work.Writer.
func (t *tx) ReleaseWork(ctx context.Context, item work.Item, r work.Release) error {
	table := workTableOf(item.Kind)
	set, args := ` claim = '', claimed_until = 0`, []any{}
	if table.due != "" {
		set, args = set+`, DUE = $4`, append(args, millis(r.Due))
	}
	if table.counts {
		set, args = set+`, failures = $5, error = $6`, append(args, r.Failures, r.Reason)
	}
	return t.endLease(ctx, item, `UPDATE TABLE SET`+set, args...)
}

// FinishWork implements work.Writer.
func (t *tx) FinishWork(ctx context.Context, item work.Item) error {
	if workTableOf(item.Kind).jobs {
		return t.endLease(ctx, item, `DELETE FROM TABLE`)
	}
	return t.ReleaseWork(ctx, item, work.Release{})
}

// endLease runs a statement on an item if its lease is the caller's.
func (t *tx) endLease(ctx context.Context, item work.Item, statement string, args ...any) error {
	n, err := t.exec(ctx, workTableOf(item.Kind).sql(statement+leased), append([]any{item.Organization, item.ID, item.Lease}, args...)...)
	switch {
	case err != nil:
		return fmt.Errorf("end the lease of %s %s: %w", item.Kind, item.ID, err)
	case n == 0:
		return fmt.Errorf("%s %s: %w", item.Kind, item.ID, work.ErrLost)
	}
	return nil
}

// ResetWork implements work.Writer.
func (t *tx) ResetWork(ctx context.Context, kind work.Kind, now time.Time) error {
	table := workTableOf(kind)
	set, where, args := ` claim = '', claimed_until = 0`, ` WHERE claim <> ''`, []any{}
	if table.due != "" {
		set, where, args = set+`, DUE = $1`, where+` AND DUE IS NOT NULL`, append(args, now.UnixMilli())
	}
	if table.jobs {
		where, args = where+` AND kind = $2`, append(args, kind)
	}
	if _, err := t.exec(ctx, table.sql(`UPDATE TABLE SET`+set+where), args...); err != nil {
		return fmt.Errorf("end all leases of kind %s: %w", kind, err)
	}
	return nil
}

// WorkBacklog implements work.Reader.
func (t *tx) WorkBacklog(ctx context.Context, kind work.Kind, now time.Time) (work.Backlog, error) {
	table := workTableOf(kind)
	ofKind, args := table.ofKind(2, kind, now.UnixMilli())
	free := `SELECT count(*), COALESCE(SUM(CASE WHEN t.DUE <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN t.DUE <= $1 THEN t.DUE END)
		FROM TABLE t WHERE t.claim = '' AND t.DUE IS NOT NULL` + ofKind
	held := `SELECT count(*), COALESCE(SUM(CASE WHEN t.DUE <= $1 THEN 1 ELSE 0 END), 0), MIN(CASE WHEN t.DUE <= $1 THEN t.DUE END)
		FROM TABLE t WHERE t.claim <> '' AND t.DUE IS NOT NULL` + ofKind
	if kind == work.Webhooks { // what is counted is notifications
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
