package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Organization returns any organization, without its connections.
func (t organizationTx) Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error) {
	found, err := t.organizations(ctx, ` WHERE t.id = $1`, id)
	if err == nil && len(found) == 0 {
		err = lastmile.NotFound("organization", string(id))
	}
	if err != nil {
		return lastmile.Organization{}, err
	}
	return found[0], nil
}

// Organizations lists all organizations without their connections, oldest first.
func (t organizationTx) Organizations(ctx context.Context) ([]lastmile.Organization, error) {
	return t.organizations(ctx, ``)
}

func (t organizationTx) organizations(ctx context.Context, where string, args ...any) ([]lastmile.Organization, error) {
	scan := func(r rows) (lastmile.Organization, error) {
		var (
			doc  []byte
			form wire.OrganizationRecord
		)
		if err := r.Scan(&doc); err != nil {
			return lastmile.Organization{}, err
		}
		err := wire.Unmarshal(doc, &form)
		return form.Domain(), err
	}
	found, err := collect(ctx, t, scan, `SELECT t.doc FROM organization t`+where+` ORDER BY t.created, t.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read organizations: %w", err)
	}
	return found, nil
}

// SaveOrganization saves an organization.
func (t organizationTx) SaveOrganization(ctx context.Context, o lastmile.Organization) error {
	doc, err := wire.Marshal(wire.NewOrganizationRecord(o))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO organization (id, doc, v, created) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := t.exec(ctx, query, o.ID, doc, documentVersion, o.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save organization %s: %w", o.ID, err)
	}
	return nil
}

// PageSettings returns the settings of an organization for tracking pages.
func (t organizationTx) PageSettings(ctx context.Context, org lastmile.OrganizationID) (s lastmile.PageSettings, err error) {
	var newTimes int64
	err = t.row(ctx, `SELECT phone, color, new_times FROM page_setting WHERE org = $1`, org).Scan(&s.Phone, &s.Color, &newTimes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("read settings of tracking pages of %s: %w", org, err)
	}
	s.NewTimes = newTimes != 0
	return s, nil
}

// SavePageSettings saves the settings of an organization for tracking pages.
func (t organizationTx) SavePageSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.PageSettings) error {
	const query = `
		INSERT INTO page_setting (org, phone, color, new_times) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org) DO UPDATE SET phone = excluded.phone, color = excluded.color, new_times = excluded.new_times`
	if _, err := t.exec(ctx, query, org, s.Phone, s.Color, engine.Flag(s.NewTimes)); err != nil {
		return fmt.Errorf("save settings of tracking pages of %s: %w", org, err)
	}
	return nil
}

const keyColumns = `SELECT org, id, hash, name, hint, created, last_used, revoked FROM api_key`

func scanKey(r scanner) (lastmile.APIKey, error) {
	var (
		k                 lastmile.APIKey
		created           int64
		lastUsed, revoked *int64
	)
	err := r.Scan(&k.Organization, &k.ID, &k.Hash, &k.Name, &k.Hint, &created, &lastUsed, &revoked)
	k.Created, k.LastUsed, k.Revoked = time.UnixMilli(created).UTC(), instant(lastUsed), instant(revoked)
	return k, err
}

// KeyByHash finds an API key, active or revoked, by the hash of the key.
func (t organizationTx) KeyByHash(ctx context.Context, hash string) (lastmile.APIKey, error) {
	key, err := scanKey(t.row(ctx, keyColumns+` WHERE hash = $1`, hash))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return key, lastmile.Unauthenticated()
	case err != nil:
		return key, fmt.Errorf("read API key: %w", err)
	}
	return key, nil
}

// Key returns an API key, active or revoked.
func (t organizationTx) Key(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) (lastmile.APIKey, error) {
	key, err := scanKey(t.row(ctx, keyColumns+` WHERE org = $1 AND id = $2`, org, id))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return key, t.missing(ctx, store.APIKeys, string(id))
	case err != nil:
		return key, fmt.Errorf("read API key %s: %w", id, err)
	}
	return key, nil
}

// DeleteKey deletes an API key.
func (t organizationTx) DeleteKey(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) error {
	return t.erase(ctx, org, string(id), [2]string{"api_key", "id"})
}

// Keys lists an organization's API keys, oldest first.
func (t organizationTx) Keys(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.APIKey, error) {
	keys, err := collect(ctx, t, func(r rows) (lastmile.APIKey, error) { return scanKey(r) },
		keyColumns+` WHERE org = $1 ORDER BY created, id`, org)
	if err != nil {
		return nil, fmt.Errorf("read API keys: %w", err)
	}
	return keys, nil
}

// SaveKey saves an API key.
func (t organizationTx) SaveKey(ctx context.Context, k lastmile.APIKey) error {
	const query = `
		INSERT INTO api_key (org, id, hash, name, hint, created, last_used, revoked) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org, id) DO UPDATE SET name = excluded.name, revoked = excluded.revoked`
	_, err := t.exec(ctx, query, k.Organization, k.ID, k.Hash, k.Name, k.Hint, k.Created.UnixMilli(), millis(k.LastUsed), millis(k.Revoked))
	if err != nil {
		return fmt.Errorf("save API key %s: %w", k.ID, err)
	}
	return nil
}

// SaveKeyUse records when keys were last used.
func (t organizationTx) SaveKeyUse(ctx context.Context, used map[lastmile.KeyID]time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(used)) { // a fixed order avoids deadlocks
		const query = `UPDATE api_key SET last_used = $2 WHERE id = $1 AND (last_used IS NULL OR last_used < $2)`
		if _, err := t.exec(ctx, query, id, used[id].UnixMilli()); err != nil {
			return fmt.Errorf("save use of API key %s: %w", id, err)
		}
	}
	return nil
}

// KeyGeneration returns a number that grows with each revocation of a key or a
// session.
func (t organizationTx) KeyGeneration(ctx context.Context) (int64, error) {
	var n int64
	err := t.row(ctx, `SELECT n FROM generation WHERE name = 'keys'`).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read generation of keys: %w", err)
	}
	return n, nil
}

// RaiseKeyGeneration makes every node read the API keys again and authenticate the
// clients of its streams again.
func (t organizationTx) RaiseKeyGeneration(ctx context.Context) error {
	const query = `
		INSERT INTO generation (name, n) VALUES ('keys', 1)
		ON CONFLICT (name) DO UPDATE SET n = generation.n + 1`
	if _, err := t.exec(ctx, query); err != nil {
		return fmt.Errorf("raise generation of keys: %w", err)
	}
	return nil
}

// WebhookSecrets lists the sealed secrets of an organization, newest first.
func (t organizationTx) WebhookSecrets(ctx context.Context, org lastmile.OrganizationID) ([]store.SealedSecret, error) {
	scan := func(r rows) (s store.SealedSecret, err error) {
		var created int64
		err = r.Scan(&s.ID, &s.Organization, &s.Sealed, &created)
		s.Created = time.UnixMilli(created).UTC()
		return s, err
	}
	secrets, err := collect(ctx, t, scan,
		`SELECT id, org, sealed, created FROM webhook_secret WHERE org = $1 ORDER BY created DESC, id`, org)
	if err != nil {
		return nil, fmt.Errorf("read webhook secrets: %w", err)
	}
	return secrets, nil
}

// SaveWebhookSecret saves a sealed secret for signing webhooks.
func (t organizationTx) SaveWebhookSecret(ctx context.Context, s store.SealedSecret) error {
	const query = `INSERT INTO webhook_secret (org, id, sealed, created) VALUES ($1, $2, $3, $4)`
	if _, err := t.exec(ctx, query, s.Organization, s.ID, s.Sealed, s.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save webhook secret of %s: %w", s.Organization, err)
	}
	return nil
}

// DeleteWebhookSecrets deletes the secrets of an organization except the newest keep ones.
func (t organizationTx) DeleteWebhookSecrets(ctx context.Context, org lastmile.OrganizationID, keep int) error {
	const query = `
		DELETE FROM webhook_secret WHERE org = $1
		AND id NOT IN (SELECT id FROM webhook_secret WHERE org = $1 ORDER BY created DESC, id LIMIT $2)`
	if _, err := t.exec(ctx, query, org, int64(keep)); err != nil {
		return fmt.Errorf("delete webhook secrets of %s: %w", org, err)
	}
	return nil
}

// Setting returns a setting of the installation, or nil.
func (t organizationTx) Setting(ctx context.Context, name string) ([]byte, error) {
	var value []byte
	err := t.row(ctx, `SELECT value FROM setting WHERE name = $1`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read setting %s: %w", name, err)
	}
	return value, nil
}

// SaveSetting saves a setting of the installation unless it exists.
func (t organizationTx) SaveSetting(ctx context.Context, name string, value []byte) error {
	const query = `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	if _, err := t.exec(ctx, query, name, value); err != nil {
		return fmt.Errorf("save setting %s: %w", name, err)
	}
	return nil
}

// Connected reports whether org is connected with another organization.
func (t organizationTx) Connected(ctx context.Context, org, other lastmile.OrganizationID) (bool, error) {
	found, err := t.exists(ctx, `SELECT 1 FROM organization_link WHERE org = $1 AND delegatee = $2`, org, other)
	if err != nil {
		return false, fmt.Errorf("read connection of %s with %s: %w", org, other, err)
	}
	return found, nil
}

// Connection returns whether an organization is connected with another, and whether the
// other shows its own name to it. Only a courier hides its name, from active clients for
// which show_name is 0.
func (t organizationTx) Connection(ctx context.Context, org, other lastmile.OrganizationID) (c store.Connection, err error) {
	if c.Connected, err = t.Connected(ctx, org, other); err != nil || !c.Connected {
		return c, err
	}
	hidden, err := t.exists(ctx, `SELECT 1 FROM client WHERE org = $1 AND organization = $2 AND show_name = 0 AND status = 'active'`, other, org)
	if err != nil {
		return c, fmt.Errorf("read client %s of %s: %w", org, other, err)
	}
	c.ShowName = !hidden
	return c, nil
}

// Delegatees lists the organizations that org is connected with.
func (t organizationTx) Delegatees(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.OrganizationID, error) {
	scan := func(r rows) (id lastmile.OrganizationID, err error) { return id, r.Scan(&id) }
	found, err := collect(ctx, t, scan, `SELECT delegatee FROM organization_link WHERE org = $1 ORDER BY delegatee`, org)
	if err != nil {
		return nil, fmt.Errorf("read connections of %s: %w", org, err)
	}
	return found, nil
}
