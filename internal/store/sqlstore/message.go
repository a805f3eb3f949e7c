package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// messageColumns are those that scanMessage reads.
const messageColumns = `t.org, t.id, t.kind, t.task, t.sender, t.recipient, t.body, t.created, t.expires,
	t.state, t.reason, t.gateway, t.gateway_id, t.attempts, t.unsure, t.claim, t.next_at, t.sent_at`

func scanMessage(r rows) (m textmessage.Message, err error) {
	var (
		task                *string
		created             int64
		expires, next, sent *int64
	)
	err = r.Scan(&m.Organization, &m.ID, &m.Kind, &task, &m.From, &m.To, &m.Body, &created, &expires,
		&m.State, &m.Reason, &m.Gateway, &m.GatewayID, &m.Attempts, &m.Unsure, &m.Claim, &next, &sent)
	if task != nil {
		m.Task = lastmile.TaskID(*task)
	}
	m.Created, m.Expires, m.Next, m.Sent = time.UnixMilli(created).UTC(), instant(expires), instant(next), instant(sent)
	return m, err
}

// Messages implements store.MessageReader.
func (t *tx) Messages(ctx context.Context, f store.MessageFilter) ([]textmessage.Message, error) {
	where := &condition{text: `1 = 1`}
	if f.Organization != "" {
		where.and(`t.org = ?`, f.Organization)
	}
	if f.To != "" {
		where.and(`t.recipient = ?`, f.To)
	}
	if f.State != "" {
		where.and(`t.state = ?`, f.State)
	}
	newest, err := collect(ctx, t, scanMessage,
		`SELECT `+messageColumns+` FROM message t WHERE `+where.text+` ORDER BY t.created DESC, t.id`+limit(f.Limit), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	slices.Reverse(newest)
	return newest, nil
}

// MessageByID implements store.MessageReader.
func (t *tx) MessageByID(ctx context.Context, id lastmile.MessageID) (textmessage.Message, error) {
	found, err := collect(ctx, t, scanMessage, `SELECT `+messageColumns+` FROM message t WHERE t.id = $1`, id)
	if err != nil {
		return textmessage.Message{}, fmt.Errorf("read message: %w", err)
	}
	if len(found) == 0 {
		return textmessage.Message{}, lastmile.NotFound("message", string(id))
	}
	return found[0], nil
}

// Texters implements store.MessageReader.
func (t *tx) Texters(ctx context.Context, to lastmile.Phone) ([]store.Texter, error) {
	scan := func(r rows) (who store.Texter, err error) {
		var last int64
		err = r.Scan(&who.Organization, &who.From, &last)
		return who, err
	}
	found, err := collect(ctx, t, scan, `
		SELECT org, sender, MAX(sent_at) AS latest FROM message
		WHERE recipient = $1 AND sent_at IS NOT NULL GROUP BY org, sender ORDER BY latest DESC, org, sender`, to)
	if err != nil {
		return nil, fmt.Errorf("read who sent messages: %w", err)
	}
	return found, nil
}

// DueMessages implements store.MessageReader. It jumps from each organization
// to the next, so that many messages of one do not make others wait.
func (t *tx) DueMessages(ctx context.Context, now time.Time, after lastmile.OrganizationID, each, most int) ([]textmessage.Message, error) {
	scan := func(r rows) (org lastmile.OrganizationID, err error) {
		err = r.Scan(&org)
		return org, err
	}
	all, err := collect(ctx, t, scan, `
		WITH RECURSIVE next (org) AS (
			SELECT MIN(m.org) FROM message m WHERE m.next_at IS NOT NULL
			UNION ALL
			SELECT (SELECT MIN(m.org) FROM message m WHERE m.next_at IS NOT NULL AND m.org > next.org) FROM next WHERE next.org IS NOT NULL
		)
		SELECT org FROM next WHERE org IS NOT NULL ORDER BY org`)
	if err != nil {
		return nil, fmt.Errorf("read who has messages to send: %w", err)
	}
	turn, _ := slices.BinarySearch(all, after+"\x00") // the first behind it
	var due []textmessage.Message
	for _, org := range append(slices.Clone(all[turn:]), all[:turn]...) {
		found, err := collect(ctx, t, scanMessage, `SELECT `+messageColumns+` FROM message t
			WHERE t.org = $1 AND t.next_at <= $2 ORDER BY t.next_at, t.id`+limit(min(each, most-len(due))), org, now.UnixMilli())
		if err != nil {
			return nil, fmt.Errorf("read messages to send: %w", err)
		}
		if due = append(due, found...); len(due) >= most {
			break
		}
	}
	return due, nil
}

// SentTo implements store.MessageReader.
func (t *tx) SentTo(ctx context.Context, to lastmile.Phone, since time.Time) (int, error) {
	return t.count(ctx, `SELECT count(*) FROM message WHERE recipient = $1 AND sent_at > $2`, to, since.UnixMilli())
}

// SentBy implements store.MessageReader.
func (t *tx) SentBy(ctx context.Context, org lastmile.OrganizationID, since time.Time) (int, error) {
	return t.count(ctx, `SELECT count(*) FROM message WHERE org = $1 AND sent_at > $2`, org, since.UnixMilli())
}

func (t *tx) count(ctx context.Context, query string, args ...any) (int, error) {
	var n int64
	if err := t.row(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return int(n), nil
}

// SaveMessage implements store.MessageWriter.
func (t *tx) SaveMessage(ctx context.Context, m textmessage.Message) error {
	const query = `
		INSERT INTO message (org, id, kind, task, sender, recipient, body, created, expires, state, reason, next_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`
	err := t.send(ctx, query, m.Organization, m.ID, m.Kind, orNull(string(m.Task)), m.From, m.To, m.Body,
		m.Created.UnixMilli(), millis(m.Expires), m.State, m.Reason, millis(m.Next))
	if err != nil {
		return fmt.Errorf("save message %s: %w", m.ID, err)
	}
	if w, ok := t.conn.(*watched); ok {
		w.texted = true
	}
	return nil
}

// ClaimMessage implements store.MessageWriter.
func (t *tx) ClaimMessage(ctx context.Context, m textmessage.Message, claim string, now, until time.Time) (textmessage.Message, bool, error) {
	claimed := m
	claimed.State, claimed.Claim, claimed.Next, claimed.Attempts = textmessage.StateSending, claim, until, m.Attempts+1
	if m.Sent.IsZero() {
		claimed.Sent = now
	}
	const query = `
		UPDATE message SET state = $4, claim = $5, next_at = $6, attempts = attempts + 1, unsure = $7, sent_at = $8
		WHERE org = $1 AND id = $2 AND attempts = $3 AND next_at <= $9`
	n, err := t.exec(ctx, query, m.Organization, m.ID, m.Attempts, claimed.State, claim, until.UnixMilli(), m.Unsure, millis(claimed.Sent), now.UnixMilli())
	if err != nil {
		return claimed, false, fmt.Errorf("claim message %s: %w", m.ID, err)
	}
	return claimed, n > 0, nil
}

// SaveSent implements store.MessageWriter.
func (t *tx) SaveSent(ctx context.Context, m textmessage.Message, claim string) (bool, error) {
	const query = `
		UPDATE message SET state = $4, reason = $5, gateway = $6, gateway_id = $7, unsure = $8, claim = '', next_at = $9, sent_at = $10, body = $11, sender = $12
		WHERE org = $1 AND id = $2 AND claim = $3`
	n, err := t.exec(ctx, query, m.Organization, m.ID, claim, m.State, m.Reason, m.Gateway, m.GatewayID, m.Unsure, millis(m.Next), millis(m.Sent), m.Body, m.From)
	if err != nil {
		return false, fmt.Errorf("record message %s: %w", m.ID, err)
	}
	return n > 0, nil
}

// SaveReported implements store.MessageWriter.
func (t *tx) SaveReported(ctx context.Context, m textmessage.Message) error {
	const query = `
		UPDATE message SET state = $3, reason = $4, gateway_id = $5, claim = $6, next_at = $7, body = $8 WHERE org = $1 AND id = $2`
	_, err := t.exec(ctx, query, m.Organization, m.ID, m.State, m.Reason, m.GatewayID, m.Claim, millis(m.Next), m.Body)
	if err != nil {
		return fmt.Errorf("record report on message %s: %w", m.ID, err)
	}
	return nil
}

// ReleaseMessages implements store.MessageWriter.
func (t *tx) ReleaseMessages(ctx context.Context, now time.Time) error {
	if _, err := t.exec(ctx, `UPDATE message SET next_at = $1 WHERE next_at > $1 AND claim <> ''`, now.UnixMilli()); err != nil {
		return fmt.Errorf("release messages: %w", err)
	}
	return nil
}

// DeleteMessages implements store.MessageWriter.
func (t *tx) DeleteMessages(ctx context.Context, before time.Time, most int) (int64, error) {
	messages, err := t.deleteOld(ctx, `message`, `created`, ` AND next_at IS NULL`, before.UnixMilli(), most)
	if err != nil {
		return 0, err
	}
	replies, err := t.deleteOld(ctx, `message_reply`, `received`, ``, before.UnixMilli(), most)
	return messages + replies, err
}

// OptOut implements store.MessageReader.
func (t *tx) OptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (o textmessage.OptOut, found bool, err error) {
	o = textmessage.OptOut{Organization: org, Phone: phone}
	var at, muted int64
	err = t.row(ctx, `SELECT at, muted FROM message_optout WHERE org = $1 AND phone = $2`, org, phone).Scan(&at, &muted)
	if errors.Is(err, sql.ErrNoRows) {
		return o, false, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("read who wants no messages: %w", err)
	}
	o.At, o.Muted = time.UnixMilli(at).UTC(), muted != 0
	return o, true, nil
}

// SaveOptOut implements store.MessageWriter.
func (t *tx) SaveOptOut(ctx context.Context, o textmessage.OptOut) error {
	const query = `
		INSERT INTO message_optout (org, phone, at, muted) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org, phone) DO UPDATE SET at = excluded.at, muted = excluded.muted`
	if _, err := t.exec(ctx, query, o.Organization, o.Phone, o.At.UnixMilli(), flag(o.Muted)); err != nil {
		return fmt.Errorf("save who wants no messages: %w", err)
	}
	return nil
}

// DeleteOptOut implements store.MessageWriter.
func (t *tx) DeleteOptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) error {
	return t.erase(ctx, org, string(phone), [2]string{"message_optout", "phone"})
}

// SaveReply implements store.MessageWriter.
func (t *tx) SaveReply(ctx context.Context, r lastmile.Reply, now time.Time) (bool, error) {
	const query = `INSERT INTO message_reply (gateway, id, received) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	n, err := t.exec(ctx, query, r.Gateway, r.ID, now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("save reply: %w", err)
	}
	return n > 0, nil
}
