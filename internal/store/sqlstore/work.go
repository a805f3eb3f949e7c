package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// workTable describes the table with the leases of a kind of work.
type workTable struct {
	name   string
	id     string // column of the item's id
	due    string // column of the due time; empty for webhooks, whose notifications have it
	counts bool   // has columns for attempts and failures
	jobs   bool   // has items of several kinds, and only until they are done
}

var (
	jobTable      = workTable{name: "job", id: "id", due: "run_at", counts: true, jobs: true}
	ownWorkTables = map[work.Kind]workTable{
		work.Messages:  {name: "message", id: "id", due: "next_at"},
		work.Estimates: {name: "worker_watch", id: "worker", due: "next_at"},
		work.Webhooks:  {name: "webhook_tally", id: "id"},
		work.Replans:   {name: "replan", id: "team", due: "next_at"},
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

// ofKind returns the condition that selects a kind by parameter n, and the arguments.
func (w workTable) ofKind(n int, kind work.Kind, args ...any) (string, []any) {
	if !w.jobs {
		return "", args
	}
	return " AND t.kind = $" + strconv.Itoa(n), append(args, kind)
}

// ClaimWork implements work.Writer.
func (t workTx) ClaimWork(ctx context.Context, item work.Item, now, until time.Time) (bool, error) {
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

// leased is the condition that the caller has the lease of an item.
const leased = ` WHERE org = $1 AND ID = $2 AND claim = $3`

// HoldWork implements work.Writer. It writes even if nothing changes, so that a node that
// wants the lease waits for the end of this transaction.
func (t workTx) HoldWork(ctx context.Context, items []work.Item, until time.Time) (lost []work.Item, err error) {
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

// renewal returns the assignment that extends a lease until parameter n.
func (w workTable) renewal(n int) string {
	set := ` claimed_until = $` + strconv.Itoa(n)
	if w.due != "" {
		set += `, DUE = $` + strconv.Itoa(n)
	}
	return set
}

func (t workTx) holdOne(ctx context.Context, item work.Item, until time.Time) ([]work.Item, error) {
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

// holdSome renews leases with one statement. The number of its parameters is rounded up,
// so that there are few different statements.
func (t workTx) holdSome(ctx context.Context, items []work.Item, until time.Time) (lost []work.Item, err error) {
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
func (t workTx) ReleaseWork(ctx context.Context, item work.Item, r work.Release) error {
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
func (t workTx) FinishWork(ctx context.Context, item work.Item) error {
	if workTableOf(item.Kind).jobs {
		return t.endLease(ctx, item, `DELETE FROM TABLE`)
	}
	return t.ReleaseWork(ctx, item, work.Release{})
}

// endLease runs a statement on an item if the caller has its lease; otherwise it returns
// work.ErrLost.
func (t workTx) endLease(ctx context.Context, item work.Item, statement string, args ...any) error {
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
func (t workTx) ResetWork(ctx context.Context, kind work.Kind, now time.Time) error {
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

// AddJob adds a job.
func (t workTx) AddJob(ctx context.Context, j work.Job) error {
	const query = `
		INSERT INTO job (org, id, kind, payload, run_at, held, attempt, failures, error, created)
		VALUES ($1, $2, $3, $4, $5, 0, 0, 0, '', $6)`
	if _, err := t.exec(ctx, query, j.Organization, j.ID, j.Kind, []byte{}, j.Due.UnixMilli(), j.Created.UnixMilli()); err != nil {
		return fmt.Errorf("add job %s %s: %w", j.Kind, j.ID, err)
	}
	return nil
}

// HasJob reports whether there is a job of any kind with an id.
func (t workTx) HasJob(ctx context.Context, org lastmile.OrganizationID, id string) (bool, error) {
	return t.exists(ctx, `SELECT 1 FROM job WHERE org = $1 AND id = $2`, org, id)
}

// DeleteJob deletes a job. A process that has leased it loses the lease.
func (t workTx) DeleteJob(ctx context.Context, org lastmile.OrganizationID, id string) error {
	return t.erase(ctx, org, id, [2]string{"job", "id"})
}
