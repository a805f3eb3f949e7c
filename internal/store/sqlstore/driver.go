package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// CountriesByPhone returns, for each phone number, the countries of the organizations
// that have a worker with it.
func (t driverTx) CountriesByPhone(ctx context.Context, phones []lastmile.Phone) (map[lastmile.Phone][]string, error) {
	type found struct {
		phone   lastmile.Phone
		country string
	}
	scan := func(r rows) (f found, err error) {
		var (
			doc []byte
			org wire.OrganizationRecord
		)
		if err = r.Scan(&f.phone, &doc); err != nil {
			return f, err
		}
		err = wire.Unmarshal(doc, &org)
		f.country = org.Country
		return f, err
	}
	where := &condition{}
	in(where, `w.phone`, phones)
	all, err := collect(ctx, t, scan, `SELECT w.phone, o.doc FROM worker w JOIN organization o ON o.id = w.org`+where.text+` ORDER BY w.org`, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read the countries of phone numbers: %w", err)
	}
	countries := map[lastmile.Phone][]string{}
	for _, f := range all {
		countries[f.phone] = append(countries[f.phone], f.country)
	}
	return countries, nil
}

// CredentialsByPhone returns the credentials of the workers with a phone
// number, in all organizations.
func (t driverTx) CredentialsByPhone(ctx context.Context, phone lastmile.Phone) ([]store.Credential, error) {
	scan := func(r rows) (c store.Credential, err error) {
		var (
			temporary int64
			expires   *int64
		)
		err = r.Scan(&c.Organization, &c.Worker, &c.Hash, &temporary, &expires)
		if c.Temporary = temporary != 0; c.Temporary {
			c.Expires = instant(expires)
		}
		return c, err
	}
	found, err := collect(ctx, t, scan, `
		SELECT c.org, c.worker, c.hash, c.temporary, c.expires
		FROM worker w JOIN worker_credential c ON c.org = w.org AND c.worker = w.id
		WHERE w.phone = $1 ORDER BY c.org`, phone)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	return found, nil
}

// SessionByHash finds a session by the hash of its token, or returns
// lastmile.Unauthenticated.
func (t driverTx) SessionByHash(ctx context.Context, hash string) (lastmile.Session, error) {
	s := lastmile.Session{Hash: hash}
	var created, used, temporary int64
	const query = `
		SELECT s.org, s.worker, s.created, s.used, COALESCE(c.temporary, 0)
		FROM worker_session s LEFT JOIN worker_credential c ON c.org = s.org AND c.worker = s.worker
		WHERE s.hash = $1`
	err := t.row(ctx, query, hash).Scan(&s.Organization, &s.Worker, &created, &used, &temporary)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, lastmile.UnknownToken()
	case err != nil:
		return s, fmt.Errorf("read session: %w", err)
	}
	s.Created, s.Used, s.Temporary = time.UnixMilli(created).UTC(), time.UnixMilli(used).UTC(), temporary != 0
	return s, nil
}

// FindSession is SessionByHash without a transaction, which would take two more round
// trips, because every request of the drivers' app needs it.
func (s *Store) FindSession(ctx context.Context, hash string) (session lastmile.Session, err error) {
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		session, err = newTx(newConn(c), s.now).SessionByHash(ctx, hash)
		return err
	})
	return session, err
}

// SaveSession saves a worker's session.
func (t driverTx) SaveSession(ctx context.Context, s lastmile.Session) error {
	const query = `
		INSERT INTO worker_session (hash, org, worker, created, used) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (hash) DO UPDATE SET used = excluded.used`
	if _, err := t.exec(ctx, query, s.Hash, s.Organization, s.Worker, s.Created.UnixMilli(), s.Used.UnixMilli()); err != nil {
		return fmt.Errorf("save session of worker %s: %w", s.Worker, err)
	}
	return nil
}

// DeleteSession ends the session whose token has the hash.
func (t driverTx) DeleteSession(ctx context.Context, hash string) error {
	return t.endSessionsWhere(ctx, `hash = $1`, hash)
}

// endSessionsWhere ends the sessions that meet a condition. Every node then authenticates
// the clients of its streams again.
func (t *base) endSessionsWhere(ctx context.Context, condition string, args ...any) error {
	ended, err := t.exec(ctx, `DELETE FROM worker_session WHERE `+condition, args...)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	if ended == 0 {
		return nil
	}
	return organizationTx{t}.RaiseKeyGeneration(ctx)
}

// DeleteSessions ends all sessions of a worker except the one whose token has
// the hash.
func (t driverTx) DeleteSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, except string) error {
	return t.endSessionsWhere(ctx, `org = $1 AND worker = $2 AND hash <> $3`, org, worker, except)
}

// DeleteOldSessions ends the sessions of a worker except the newest keep ones.
func (t driverTx) DeleteOldSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, keep int) error {
	return t.endSessionsWhere(ctx, `org = $1 AND worker = $2 AND hash NOT IN (
		SELECT hash FROM worker_session WHERE org = $1 AND worker = $2 ORDER BY created DESC, hash LIMIT $3)`, org, worker, keep)
}

// DeleteUnusedSessions deletes about limit sessions that were last used before a
// time, and returns how many it deleted.
func (t driverTx) DeleteUnusedSessions(ctx context.Context, before time.Time, limit int) (int64, error) {
	return t.deleteOld(ctx, `worker_session`, `used`, ``, before.UnixMilli(), limit)
}

// SignInAllowance returns when an allowance of sign-in attempts will be full again; the
// zero time if it is full.
func (t driverTx) SignInAllowance(ctx context.Context, account, source string) (time.Time, error) {
	var full int64
	err := t.row(ctx, `SELECT full_at FROM sign_in_allowance WHERE account = $1 AND source = $2`, account, source).Scan(&full)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read allowance: %w", err)
	}
	return time.UnixMilli(full).UTC(), nil
}

// SaveSignInAllowance saves when an allowance of sign-in attempts will be full again.
func (t driverTx) SaveSignInAllowance(ctx context.Context, account, source string, full time.Time) error {
	const query = `
		INSERT INTO sign_in_allowance (account, source, full_at) VALUES ($1, $2, $3)
		ON CONFLICT (account, source) DO UPDATE SET full_at = excluded.full_at`
	if _, err := t.exec(ctx, query, account, source, full.UnixMilli()); err != nil {
		return fmt.Errorf("save allowance: %w", err)
	}
	return nil
}

// ResetSignInAllowances makes all allowances of an account full.
func (t driverTx) ResetSignInAllowances(ctx context.Context, account lastmile.Phone) error {
	if _, err := t.exec(ctx, `DELETE FROM sign_in_allowance WHERE account = $1`, account); err != nil {
		return fmt.Errorf("reset allowances: %w", err)
	}
	return nil
}

// DeleteSignInAllowances deletes about limit allowances that were full before a
// time, and returns how many it deleted.
func (t driverTx) DeleteSignInAllowances(ctx context.Context, before time.Time, limit int) (int64, error) {
	return t.deleteOld(ctx, `sign_in_allowance`, `full_at`, ``, before.UnixMilli(), limit)
}

// ActionDone returns the earlier action of the worker with the same id, and reports
// whether there is one.
func (t driverTx) ActionDone(ctx context.Context, a store.Action) (before store.Action, done bool, err error) {
	before = store.Action{Organization: a.Organization, Worker: a.Worker, ID: a.ID}
	var at, received int64
	err = t.row(ctx, `SELECT task, verb, at, received FROM worker_action WHERE org = $1 AND worker = $2 AND id = $3`, a.Organization, a.Worker, a.ID).
		Scan(&before.Task, &before.Verb, &at, &received)
	if errors.Is(err, sql.ErrNoRows) {
		return before, false, nil
	}
	if err != nil {
		return before, false, fmt.Errorf("read action %s of worker %s: %w", a.ID, a.Worker, err)
	}
	before.At, before.Received = time.UnixMilli(at).UTC(), time.UnixMilli(received).UTC()
	return before, true, nil
}

// SaveAction records an action of a worker, so that a repeated request for it
// is recognized.
func (t driverTx) SaveAction(ctx context.Context, a store.Action) error {
	const query = `INSERT INTO worker_action (org, worker, id, task, verb, at, received) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	_, err := t.exec(ctx, query, a.Organization, a.Worker, a.ID, a.Task, a.Verb, a.At.UnixMilli(), a.Received.UnixMilli())
	if err != nil {
		return fmt.Errorf("save action %s of worker %s: %w", a.ID, a.Worker, err)
	}
	return nil
}

// positionInsertion saves positions of workers. A position that is stored for the same
// time is kept.
var positionInsertion = newInsertion(`position`, `org, worker, at, lon, lat, accuracy, speed, heading, odometer`, `DO NOTHING`)

// SavePositions appends to the recorded positions of a worker.
func (t driverTx) SavePositions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, positions []lastmile.Position) error {
	rows := make([][]any, len(positions))
	for i, p := range positions {
		rows[i] = []any{org, worker, p.At.UnixMilli(), p.Location.Lon, p.Location.Lat, p.Accuracy, p.Speed, p.Heading, float64(p.Odometer)}
	}
	if err := t.insert(ctx, positionInsertion, rows); err != nil {
		return fmt.Errorf("save positions of worker %s: %w", worker, err)
	}
	return nil
}

// DeletePositions deletes about most positions older than a time, and returns how many it
// deleted.
func (t driverTx) DeletePositions(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `position`, `at`, ``, before.UnixMilli(), most)
}

// DeletePositionsOf deletes at most most positions of a worker, oldest first, and returns how
// many it deleted.
func (t driverTx) DeletePositionsOf(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, most int) (int64, error) {
	const query = `
		DELETE FROM position WHERE org = $1 AND worker = $2
		AND at IN (SELECT at FROM position WHERE org = $1 AND worker = $2 ORDER BY at LIMIT $3)`
	deleted, err := t.exec(ctx, query, org, worker, int64(most))
	if err != nil {
		return 0, fmt.Errorf("delete positions of worker %s: %w", worker, err)
	}
	return deleted, nil
}
