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

// OneTimeLink finds a link by the hash of its token, or returns identity.UnknownLink.
func (p Part) OneTimeLink(ctx context.Context, hash string) (identity.Link, error) {
	l := identity.Link{Hash: hash}
	var drop, created, expires int64
	err := p.c.Row(ctx, `SELECT org, admin, kind, email, drop_factor, created, expires FROM one_time_link WHERE hash = $1`, hash).
		Scan(&l.Organization, &l.Admin, &l.Kind, &l.Email, &drop, &created, &expires)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return l, identity.UnknownLink()
	case err != nil:
		return l, fmt.Errorf("read a link: %w", err)
	}
	l.DropFactor, l.Created, l.Expires = drop != 0, instant(created), instant(expires)
	return l, nil
}

// SaveOneTimeLink saves a new link, and deletes those of the same kind and administrator
// except the newest keep ones.
func (p Part) SaveOneTimeLink(ctx context.Context, l identity.Link, keep int) error {
	const query = `INSERT INTO one_time_link (hash, org, admin, kind, email, drop_factor, created, expires) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	_, err := p.c.Exec(ctx, query, l.Hash, l.Organization, l.Admin, l.Kind, l.Email, engine.Flag(l.DropFactor), l.Created.UnixMilli(), l.Expires.UnixMilli())
	if err != nil {
		return fmt.Errorf("save a link: %w", err)
	}
	_, err = p.c.Exec(ctx, `DELETE FROM one_time_link WHERE org = $1 AND admin = $2 AND kind = $3 AND hash NOT IN (
		SELECT hash FROM one_time_link WHERE org = $1 AND admin = $2 AND kind = $3 ORDER BY created DESC, hash LIMIT $4)`,
		l.Organization, l.Admin, l.Kind, keep)
	if err != nil {
		return fmt.Errorf("delete old links: %w", err)
	}
	return nil
}

// DeleteOneTimeLinks deletes all links of an administrator, or, if both ids are empty, all
// links that create the first organization.
func (p Part) DeleteOneTimeLinks(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) error {
	if _, err := p.c.Exec(ctx, `DELETE FROM one_time_link WHERE org = $1 AND admin = $2`, org, admin); err != nil {
		return fmt.Errorf("delete links: %w", err)
	}
	return nil
}

// DeleteExpiredLinks deletes about limit links that expired before a time, and returns
// how many it deleted.
func (p Part) DeleteExpiredLinks(ctx context.Context, before time.Time, limit int) (int64, error) {
	return engine.DeleteOld(ctx, p.c, `one_time_link`, `expires`, ``, before.UnixMilli(), limit)
}

// CountMails counts the mails of an organization that wait to be sent, up to limit.
func (p Part) CountMails(ctx context.Context, org lastmile.OrganizationID, limit int) (int, error) {
	return engine.Count(ctx, p.c, `SELECT COUNT(*) FROM (SELECT 1 FROM mail WHERE org = $1 LIMIT $2) AS waiting`, org, limit)
}

// SaveMail saves a mail to send.
func (p Part) SaveMail(ctx context.Context, m identity.Mail) error {
	const query = `INSERT INTO mail (org, id, kind, admin, email, drop_factor, created) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	if _, err := p.c.Exec(ctx, query, m.Organization, m.ID, m.Kind, m.Admin, m.Email, engine.Flag(m.DropFactor), m.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save mail %s: %w", m.ID, err)
	}
	return nil
}

// Mail returns a mail to send, or lastmile.NotFound.
func (p Part) Mail(ctx context.Context, org lastmile.OrganizationID, id string) (identity.Mail, error) {
	m := identity.Mail{Organization: org, ID: id}
	var drop, created int64
	err := p.c.Row(ctx, `SELECT kind, admin, email, drop_factor, created FROM mail WHERE org = $1 AND id = $2`, org, id).
		Scan(&m.Kind, &m.Admin, &m.Email, &drop, &created)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return m, lastmile.NotFound("mail", id)
	case err != nil:
		return m, fmt.Errorf("read mail %s: %w", id, err)
	}
	m.DropFactor, m.Created = drop != 0, instant(created)
	return m, nil
}

// DeleteMail deletes a mail.
func (p Part) DeleteMail(ctx context.Context, org lastmile.OrganizationID, id string) error {
	if _, err := p.c.Exec(ctx, `DELETE FROM mail WHERE org = $1 AND id = $2`, org, id); err != nil {
		return fmt.Errorf("delete mail %s: %w", id, err)
	}
	return nil
}
