package sqlaudit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dray/internal/audit"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// Part is a part of a transaction, with the statements of the audit log.
type Part struct{ c engine.Conn }

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

// ActorName returns the name of an administrator, a key or a worker; empty if it no longer
// exists.
func (p Part) ActorName(ctx context.Context, org lastmile.OrganizationID, actor lastmile.Actor) (string, error) {
	scan, query := func(r engine.Rows) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, `SELECT name FROM api_key WHERE org = $1 AND id = $2`
	named := func(r engine.Rows) (string, error) {
		person, err := engine.ScanDocument[struct{ Name string }](r)
		return person.Name, err
	}
	switch actor.Type { //nolint:exhaustive // the other is a key
	case lastmile.ActorAdmin:
		scan, query = named, `SELECT doc FROM admin WHERE org = $1 AND id = $2`
	case lastmile.ActorWorker:
		scan, query = named, `SELECT doc FROM worker WHERE org = $1 AND id = $2`
	}
	found, err := engine.Collect(ctx, p.c, scan, query, org, actor.ID)
	if err != nil {
		return "", fmt.Errorf("read the name of %s: %w", actor.ID, err)
	}
	return strings.Join(found, ""), nil
}

// AddAuditEntries adds entries.
func (p Part) AddAuditEntries(ctx context.Context, entries []audit.Entry) error {
	const query = `INSERT INTO audit (org, id, at, actor_kind, actor, actor_name, method, route, record, status, request, address, attempt, requests)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (org, id) DO NOTHING` // it was unknown whether they were committed
	for _, e := range entries {
		err := p.c.Send(ctx, query, e.Organization, e.ID, e.Time.UnixMilli(), string(e.Actor.Type), e.Actor.ID, e.Name, e.Method, e.Route, e.Record, int64(e.Status), e.Request, e.Address, string(e.Attempt), int64(e.Count))
		if err != nil {
			return fmt.Errorf("add entries of the audit log: %w", err)
		}
	}
	return nil
}

// AuditEntries lists entries of an organization, newest first.
func (p Part) AuditEntries(ctx context.Context, org lastmile.OrganizationID, q audit.Query) ([]audit.Entry, error) {
	where, args := `t.org = $1`, []any{org}
	and := func(test string, value any) {
		args = append(args, value)
		where += ` AND ` + strings.ReplaceAll(test, `?`, `$`+strconv.Itoa(len(args)))
	}
	if !q.From.IsZero() {
		and(`t.at >= ?`, q.From.UnixMilli())
	}
	if !q.To.IsZero() {
		and(`t.at < ?`, q.To.UnixMilli())
	}
	if q.Actor != "" {
		and(`t.actor = ?`, q.Actor)
	}
	if q.Route != "" {
		method, route, both := strings.Cut(q.Route, " ")
		if !both {
			method, route = "", q.Route
		}
		and(`t.route = ?`, route)
		if both {
			and(`t.method = ?`, method)
		}
	}
	if q.Record != "" {
		where += ` AND t.record <> ''` // the test of the index
		and(`t.record = ?`, q.Record)
	}
	if q.After != "" {
		var at int64
		err := p.c.Row(ctx, `SELECT at FROM audit WHERE org = $1 AND id = $2`, org, q.After).Scan(&at)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, lastmile.NotFound("audit entry", lastmile.Truncate(q.After, 64))
		}
		if err != nil {
			return nil, fmt.Errorf("read the audit log: %w", err)
		}
		args = append(args, at, q.After)
		n := len(args)
		where += fmt.Sprintf(` AND (t.at < $%d OR (t.at = $%d AND t.id < $%d))`, n-1, n-1, n)
	}
	return p.entries(ctx, org, where, newestFirst, q.Limit, args)
}

// AuditAttempts lists at most limit attempts of a kind at the account of an administrator or
// a worker in the hour after a time, oldest first, but entries that stand for several
// attempts last.
func (p Part) AuditAttempts(ctx context.Context, org lastmile.OrganizationID, id string, attempt audit.AttemptKind, since time.Time, limit int) ([]audit.Entry, error) {
	const where = `t.org = $1 AND t.record <> '' AND t.record = $2 AND t.at >= $3 AND t.at < $4 AND t.attempt = $5`
	args := []any{org, id, since.UnixMilli(), since.Add(time.Hour).UnixMilli(), string(attempt)}
	return p.entries(ctx, org, where, `t.requests, t.at, t.id`, limit, args)
}

// SaveAuditAttempts saves the number of attempts for which an entry stands, and the time,
// request and address of the last one.
func (p Part) SaveAuditAttempts(ctx context.Context, e audit.Entry) error {
	const query = `UPDATE audit SET requests = $1, at = $2, request = $3, address = $4 WHERE org = $5 AND id = $6`
	if err := p.c.Send(ctx, query, int64(e.Count), e.Time.UnixMilli(), e.Request, e.Address, e.Organization, e.ID); err != nil {
		return fmt.Errorf("save attempts in the audit log: %w", err)
	}
	return nil
}

// newestFirst is the order of entries.
const newestFirst = `t.at DESC, t.id DESC`

// entries returns entries of the audit log in an order.
func (p Part) entries(ctx context.Context, org lastmile.OrganizationID, where, order string, limit int, args []any) ([]audit.Entry, error) {
	scan := func(r engine.Rows) (e audit.Entry, err error) {
		var at, status, requests int64
		err = r.Scan(&e.ID, &at, &e.Actor.Type, &e.Actor.ID, &e.Name, &e.Method, &e.Route, &e.Record, &status, &e.Request, &e.Address, &e.Attempt, &requests)
		e.Organization, e.Time, e.Status, e.Count = org, time.UnixMilli(at).UTC(), int(status), int(requests)
		return e, err
	}
	found, err := engine.Collect(ctx, p.c, scan, `SELECT t.id, t.at, t.actor_kind, t.actor, t.actor_name, t.method, t.route, t.record, t.status, t.request, t.address, t.attempt, t.requests
		FROM audit t WHERE `+where+` ORDER BY `+order+` LIMIT `+strconv.Itoa(limit), args...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return found, nil
}

// DeleteAuditEntries deletes at most limit entries of an organization that are older than a
// time or not among the newest, and returns how many it deleted.
func (p Part) DeleteAuditEntries(ctx context.Context, org lastmile.OrganizationID, before time.Time, newest, limit int) (int64, error) {
	oldest, last := before.UnixMilli(), int64(0)
	err := p.c.Row(ctx, `SELECT at FROM audit WHERE org = $1 ORDER BY at DESC, id DESC LIMIT 1 OFFSET $2`, org, newest).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count the audit log: %w", err)
	}
	if err == nil {
		oldest = max(oldest, last+1)
	}
	n, err := p.c.Exec(ctx, `DELETE FROM audit WHERE org = $1 AND id IN
		(SELECT id FROM audit WHERE org = $1 AND at < $2 ORDER BY at, id LIMIT $3)`, org, oldest, limit)
	if err != nil {
		return 0, fmt.Errorf("delete entries of the audit log: %w", err)
	}
	return n, nil
}
