package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Messages implements store.MessageReader.
func (t *tx) Messages(ctx context.Context, f store.MessageFilter) ([]lastmile.TextMessage, error) {
	where := &condition{text: `1 = 1`}
	if f.Organization != "" {
		where.and(`t.org = ?`, f.Organization)
	}
	if f.To != "" {
		where.and(`t.recipient = ?`, f.To)
	}
	scan := func(r rows) (m lastmile.TextMessage, err error) {
		var created int64
		err = r.Scan(&m.Organization, &m.ID, &m.To, &m.Body, &created)
		m.Created = time.UnixMilli(created).UTC()
		return m, err
	}
	newest, err := collect(ctx, t, scan,
		`SELECT t.org, t.id, t.recipient, t.body, t.created FROM message t WHERE `+where.text+` ORDER BY t.created DESC, t.id`+limit(f.Limit),
		where.args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	for i, j := 0, len(newest)-1; i < j; i, j = i+1, j-1 {
		newest[i], newest[j] = newest[j], newest[i]
	}
	return newest, nil
}

// SaveMessage implements store.MessageWriter.
func (t *tx) SaveMessage(ctx context.Context, m lastmile.TextMessage) error {
	const query = `INSERT INTO message (org, id, recipient, body, created) VALUES ($1, $2, $3, $4, $5)`
	if _, err := t.exec(ctx, query, m.Organization, m.ID, m.To, m.Body, m.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save message %s: %w", m.ID, err)
	}
	return nil
}

// NotificationThresholds implements store.MessageReader.
func (t *tx) NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (lastmile.NotificationThresholds, error) {
	var eta, delay *int64
	err := t.row(ctx, `SELECT eta, delay FROM message_setting WHERE org = $1`, org).Scan(&eta, &delay)
	if errors.Is(err, sql.ErrNoRows) {
		return lastmile.DefaultThresholds, nil
	}
	if err != nil {
		return lastmile.NotificationThresholds{}, fmt.Errorf("read notification thresholds of %s: %w", org, err)
	}
	return lastmile.NotificationThresholds{ETA: span(eta), Delay: span(delay)}, nil
}

// span is a stored time span; null is none.
func span(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}
