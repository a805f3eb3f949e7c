package sqlaccount

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// Part is a part of a transaction, with the records of this package.
type Part struct{ c engine.Conn }

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// HasOrganizations reports whether there is any organization.
func (p Part) HasOrganizations(ctx context.Context) (bool, error) {
	return engine.Exists(ctx, p.c, `SELECT 1 FROM organization LIMIT 1`)
}

// The settings with the fields of identity.Ownership.
const (
	ownerSetting        = "installation owner"
	invitedOwnerSetting = "invited installation owner"
)

// InstallationOwner returns who owns the installation, and who was invited to.
func (p Part) InstallationOwner(ctx context.Context) (o identity.Ownership, err error) {
	if o.Owner, err = p.owner(ctx, ownerSetting); err == nil {
		o.Invited, err = p.owner(ctx, invitedOwnerSetting)
	}
	return o, err
}

func (p Part) owner(ctx context.Context, setting string) (lastmile.AdminID, error) {
	var id []byte
	err := p.c.Row(ctx, `SELECT value FROM setting WHERE name = $1`, setting).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the %s: %w", setting, err)
	}
	return lastmile.AdminID(id), nil
}

// SaveInstallationOwner saves who owns the installation, and who was invited to.
func (p Part) SaveInstallationOwner(ctx context.Context, o identity.Ownership) error {
	const query = `INSERT INTO setting (name, value) VALUES ($1, $2), ($3, $4) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	if _, err := p.c.Exec(ctx, query, ownerSetting, []byte(o.Owner), invitedOwnerSetting, []byte(o.Invited)); err != nil {
		return fmt.Errorf("save the owner of the installation: %w", err)
	}
	return nil
}

// AdminAccount returns the account of an administrator. It has no password if the
// administrator has never set one.
func (p Part) AdminAccount(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) (identity.Account, error) {
	a := identity.Account{Organization: org, Admin: admin}
	err := p.c.Row(ctx, `SELECT hash, factor, pending, step, language FROM admin_account WHERE org = $1 AND admin = $2`, org, admin).
		Scan(&a.Hash, &a.Factor, &a.Pending, &a.Step, &a.Language)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return a, fmt.Errorf("read the account of administrator %s: %w", admin, err)
	}
	return a, nil
}

// SaveAdminAccount saves the account of an administrator.
func (p Part) SaveAdminAccount(ctx context.Context, a identity.Account) error {
	const query = `
		INSERT INTO admin_account (org, admin, hash, factor, pending, step, language) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, admin) DO UPDATE
		SET hash = excluded.hash, factor = excluded.factor, pending = excluded.pending, step = excluded.step, language = excluded.language`
	if _, err := p.c.Exec(ctx, query, a.Organization, a.Admin, a.Hash, a.Factor, a.Pending, a.Step, a.Language); err != nil {
		return fmt.Errorf("save the account of administrator %s: %w", a.Admin, err)
	}
	return nil
}

// ReplaceRecoveryCodes saves the hashes of recovery codes in place of the previous
// ones.
func (p Part) ReplaceRecoveryCodes(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, hashes []string) error {
	if _, err := p.c.Exec(ctx, `DELETE FROM admin_recovery WHERE org = $1 AND admin = $2`, org, admin); err != nil {
		return fmt.Errorf("delete recovery codes of administrator %s: %w", admin, err)
	}
	for _, hash := range hashes {
		if _, err := p.c.Exec(ctx, `INSERT INTO admin_recovery (org, admin, hash) VALUES ($1, $2, $3)`, org, admin, hash); err != nil {
			return fmt.Errorf("save recovery codes of administrator %s: %w", admin, err)
		}
	}
	return nil
}

// UseRecoveryCode deletes a recovery code and reports whether it existed.
func (p Part) UseRecoveryCode(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, hash string) (bool, error) {
	n, err := p.c.Exec(ctx, `DELETE FROM admin_recovery WHERE org = $1 AND admin = $2 AND hash = $3`, org, admin, hash)
	if err != nil {
		return false, fmt.Errorf("use a recovery code of administrator %s: %w", admin, err)
	}
	return n > 0, nil
}

const sessionColumns = `hash, org, admin, id, created, used, agent, address`

func scanSession(r interface{ Scan(dest ...any) error }) (s identity.Session, err error) {
	var created, used int64
	err = r.Scan(&s.Hash, &s.Organization, &s.Admin, &s.ID, &created, &used, &s.Agent, &s.Address)
	s.Created, s.Used = instant(created), instant(used)
	return s, err
}

// AdminSession finds a session by the hash of its token, or returns
// identity.SignedOut.
func (p Part) AdminSession(ctx context.Context, hash string) (identity.Session, error) {
	s, err := scanSession(p.c.Row(ctx, `SELECT `+sessionColumns+` FROM admin_session WHERE hash = $1`, hash))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, identity.SignedOut()
	case err != nil:
		return s, fmt.Errorf("read a session: %w", err)
	}
	return s, nil
}

// AdminSessions lists the sessions of an administrator, newest first.
func (p Part) AdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) ([]identity.Session, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (identity.Session, error) { return scanSession(r) },
		`SELECT `+sessionColumns+` FROM admin_session WHERE org = $1 AND admin = $2 ORDER BY created DESC, id DESC`, org, admin)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of administrator %s: %w", admin, err)
	}
	return found, nil
}

// SaveAdminSession saves a session.
func (p Part) SaveAdminSession(ctx context.Context, s identity.Session) error {
	const query = `
		INSERT INTO admin_session (` + sessionColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (hash) DO UPDATE SET used = excluded.used`
	_, err := p.c.Exec(ctx, query, s.Hash, s.Organization, s.Admin, s.ID, s.Created.UnixMilli(), s.Used.UnixMilli(), s.Agent, s.Address)
	if err != nil {
		return fmt.Errorf("save a session of administrator %s: %w", s.Admin, err)
	}
	return nil
}

// EndAdminSession ends the session whose token has the hash, and reports whether it
// existed.
func (p Part) EndAdminSession(ctx context.Context, hash string) (bool, error) {
	n, err := p.c.Exec(ctx, `DELETE FROM admin_session WHERE hash = $1`, hash)
	if err != nil {
		return false, fmt.Errorf("end a session: %w", err)
	}
	return n > 0, nil
}

// EndAdminSessions ends all sessions of an administrator except the one whose token
// has the hash, and reports whether there were any.
func (p Part) EndAdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, except string) (bool, error) {
	n, err := p.c.Exec(ctx, `DELETE FROM admin_session WHERE org = $1 AND admin = $2 AND hash <> $3`, org, admin, except)
	if err != nil {
		return false, fmt.Errorf("end the sessions of administrator %s: %w", admin, err)
	}
	return n > 0, nil
}

// EndOldAdminSessions ends the sessions of an administrator except the newest keep ones.
func (p Part) EndOldAdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, keep int) error {
	_, err := p.c.Exec(ctx, `DELETE FROM admin_session WHERE org = $1 AND admin = $2 AND hash NOT IN (
		SELECT hash FROM admin_session WHERE org = $1 AND admin = $2 ORDER BY created DESC, hash LIMIT $3)`, org, admin, keep)
	if err != nil {
		return fmt.Errorf("end old sessions of administrator %s: %w", admin, err)
	}
	return nil
}

// DeleteExpiredAdminSessions deletes about limit sessions that were last used before one
// time, and about limit that were created before another. It returns the larger of the two
// numbers.
func (p Part) DeleteExpiredAdminSessions(ctx context.Context, usedBefore, createdBefore time.Time, limit int) (int64, error) {
	unused, err := engine.DeleteOld(ctx, p.c, `admin_session`, `used`, ``, usedBefore.UnixMilli(), limit)
	if err != nil {
		return unused, err
	}
	old, err := engine.DeleteOld(ctx, p.c, `admin_session`, `created`, ``, createdBefore.UnixMilli(), limit)
	return max(unused, old), err
}
