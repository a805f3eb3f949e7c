package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/textmessage"
)

// messageColumns are the columns that scanMessage reads.
const messageColumns = `t.org, t.id, t.kind, t.task, t.sender, t.recipient, t.body, t.created, t.expires,
	t.state, t.reason, t.gateway, t.gateway_id, t.attempts, t.unsure, t.claim, t.next_at, t.sent_at`

func scanMessage(r rows) (m textmessage.Message, err error) {
	var (
		task                *string
		created             int64
		expires, next, sent *int64
	)
	err = r.Scan(&m.Organization, &m.ID, &m.Kind, &task, &m.From, &m.To, &m.Body, &created, &expires,
		&m.State, &m.Reason, &m.Gateway, &m.GatewayID, &m.Attempts, &m.Uncertain, &m.Claim, &next, &sent)
	if task != nil {
		m.Task = lastmile.TaskID(*task)
	}
	m.Created, m.Expires, m.Next, m.Sent = time.UnixMilli(created).UTC(), instant(expires), instant(next), instant(sent)
	return m, err
}

// Messages lists text messages, oldest first.
func (t messageTx) Messages(ctx context.Context, f textmessage.Filter) ([]textmessage.Message, error) {
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

// ownMessage tests that a row t of table message is about a task that the manager may
// see, or that it was sent to one of the manager's workers and is about no task.
func ownMessage(manager string) string {
	return `(` + engine.OfOwnTask(manager) + ` OR t.task IS NULL AND t.recipient IN
		(SELECT k.phone FROM worker k WHERE k.org = $1 AND k.id IN ` + engine.OwnWorkers(manager) + `))`
}

// MessagesOf lists messages of an organization, newest first. Each order, and each filter
// that few messages match, has an index.
func (t messageTx) MessagesOf(ctx context.Context, org lastmile.OrganizationID, q textmessage.Query) ([]textmessage.Message, error) {
	where, order := within(org).own(ownMessage, q.Manager), `t.id` // ids begin with a time
	if q.Task != "" {
		where.and(`t.task = ?`, string(q.Task))
	}
	if q.To != "" {
		where.and(`t.recipient = ?`, q.To)
	}
	if q.State != "" {
		where.and(`t.state = ?`, q.State)
	}
	if q.Unsent {
		where.text += ` AND t.state IN ('failed', 'suppressed')` // the condition of an index
	}
	if !q.From.IsZero() || !q.Until.IsZero() {
		order = `t.created DESC, t.id`
	}
	if !q.From.IsZero() {
		where.and(`t.created >= ?`, q.From.UnixMilli())
	}
	if !q.Until.IsZero() {
		where.and(`t.created < ?`, q.Until.UnixMilli())
	}
	switch {
	case q.Before != "" && order == `t.id`:
		where.and(`t.id < ?`, q.Before)
	case q.Before != "":
		before, err := t.MessageByID(ctx, q.Before)
		if lastmile.IsNotFound(err) || err == nil && before.Organization != org {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		where.and(`t.created <= ?`, before.Created.UnixMilli())
		where.args = append(where.args, before.Created.UnixMilli(), q.Before)
		where.text += fmt.Sprintf(` AND (t.created < $%d OR t.id < $%d)`, len(where.args)-1, len(where.args))
	}
	found, err := collect(ctx, t, scanMessage,
		`SELECT `+messageColumns+` FROM message t WHERE `+where.text+` ORDER BY `+order+` DESC`+limit(q.Limit), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return found, nil
}

// MessageAbout returns the message of a kind about a task to a phone number, and reports
// whether there is one.
func (t messageTx) MessageAbout(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, kind textmessage.Kind, to lastmile.Phone) (m textmessage.Message, found bool, err error) {
	all, err := collect(ctx, t, scanMessage,
		`SELECT `+messageColumns+` FROM message t WHERE t.org = $1 AND t.task = $2 AND t.kind = $3 AND t.recipient = $4`, org, string(task), kind, to)
	if err != nil {
		return m, false, fmt.Errorf("read a message about task %s: %w", task, err)
	}
	if len(all) == 0 {
		return m, false, nil
	}
	return all[0], true, nil
}

// EqualMessages lists other messages of any organization with the same text to the same
// number that were first sent at most a day before m.
func (t messageTx) EqualMessages(ctx context.Context, m textmessage.Message) ([]textmessage.Message, error) {
	found, err := collect(ctx, t, scanMessage, `SELECT `+messageColumns+` FROM message t
		WHERE t.recipient = $1 AND t.sent_at >= $2 AND t.body = $3 AND t.id <> $4`, m.To, m.Sent.Add(-24*time.Hour).UnixMilli(), m.Body, m.ID)
	if err != nil {
		return nil, fmt.Errorf("read messages equal to %s: %w", m.ID, err)
	}
	return found, nil
}

// Promised returns the arrival that was estimated when the worker started a task; zero if
// there is none.
func (t messageTx) Promised(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID) (time.Time, error) {
	var promised *int64
	err := t.row(ctx, `SELECT promised FROM task WHERE org = $1 AND id = $2`, org, task).Scan(&promised)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("read the promised arrival at task %s: %w", task, err)
	}
	return instant(promised), nil
}

// MessageByID finds a text message of any organization: gateways do not know
// the organization.
func (t messageTx) MessageByID(ctx context.Context, id lastmile.MessageID) (textmessage.Message, error) {
	found, err := collect(ctx, t, scanMessage, `SELECT `+messageColumns+` FROM message t WHERE t.id = $1`, id)
	if err != nil {
		return textmessage.Message{}, fmt.Errorf("read message: %w", err)
	}
	if len(found) == 0 {
		return textmessage.Message{}, lastmile.NotFound("message", string(id))
	}
	return found[0], nil
}

// Texters lists the organizations that have sent text messages to a number, the
// latest first.
func (t messageTx) Texters(ctx context.Context, to lastmile.Phone) ([]store.Texter, error) {
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

// RecipientOf lists the organizations that have a recipient with a number, oldest first.
func (t messageTx) RecipientOf(ctx context.Context, phone lastmile.Phone) ([]lastmile.OrganizationID, error) {
	scan := func(r rows) (org lastmile.OrganizationID, err error) { return org, r.Scan(&org) }
	found, err := collect(ctx, t, scan, `
		SELECT o.id FROM recipient r JOIN organization o ON o.id = r.org
		WHERE r.phone = $1 AND r.keeper = '' ORDER BY o.created, o.id`, phone)
	if err != nil {
		return nil, fmt.Errorf("read organizations of a recipient: %w", err)
	}
	return found, nil
}

// SentTo counts the text messages sent to a number since a time: those of an
// organization and those of all organizations.
func (t messageTx) SentTo(ctx context.Context, org lastmile.OrganizationID, to lastmile.Phone, since time.Time) (own, all int, err error) {
	const query = `SELECT count(*), count(CASE WHEN org = $1 THEN 1 END) FROM message WHERE recipient = $2 AND sent_at > $3`
	if err := t.row(ctx, query, org, to, since.UnixMilli()).Scan(&all, &own); err != nil {
		return 0, 0, fmt.Errorf("count messages to a number: %w", err)
	}
	return own, all, nil
}

// SentBy counts the text messages that an organization sent since a time.
func (t messageTx) SentBy(ctx context.Context, org lastmile.OrganizationID, since time.Time) (int, error) {
	return t.count(ctx, `SELECT count(*) FROM message WHERE org = $1 AND sent_at > $2`, org, since.UnixMilli())
}

// SaveMessage saves a new text message, unless there is one of the same kind about the
// same task to the same recipient.
func (t messageTx) SaveMessage(ctx context.Context, m textmessage.Message) error {
	const query = `
		INSERT INTO message (org, id, kind, task, sender, recipient, body, created, expires, state, reason, next_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`
	err := t.send(ctx, query, m.Organization, m.ID, m.Kind, orNull(string(m.Task)), m.From, m.To, m.Body,
		m.Created.UnixMilli(), millis(m.Expires), m.State, m.Reason, millis(m.Next))
	if err != nil {
		return fmt.Errorf("save message %s: %w", m.ID, err)
	}
	return nil
}

// BeginMessage saves that a message is being sent: its state, its attempts and
// when it was first sent. The caller has its lease.
func (t messageTx) BeginMessage(ctx context.Context, m textmessage.Message) error {
	const query = `UPDATE message SET state = $3, attempts = $4, unsure = $5, sent_at = $6 WHERE org = $1 AND id = $2`
	if _, err := t.exec(ctx, query, m.Organization, m.ID, m.State, m.Attempts, m.Uncertain, millis(m.Sent)); err != nil {
		return fmt.Errorf("begin to send message %s: %w", m.ID, err)
	}
	return nil
}

// SaveMessageResult saves the result of an attempt, and when to try again. It
// runs in the transaction that ends the lease.
func (t messageTx) SaveMessageResult(ctx context.Context, m textmessage.Message) error {
	const query = `
		UPDATE message SET state = $3, reason = $4, gateway = $5, gateway_id = $6, unsure = $7, next_at = $8, sent_at = $9, body = $10, sender = $11
		WHERE org = $1 AND id = $2`
	_, err := t.exec(ctx, query, m.Organization, m.ID, m.State, m.Reason, m.Gateway, m.GatewayID, m.Uncertain, millis(m.Next), millis(m.Sent), m.Body, m.From)
	if err != nil {
		return fmt.Errorf("record message %s: %w", m.ID, err)
	}
	return nil
}

// SaveReported saves what a gateway reported about a message. It ends the lease, if there
// is one, so that the sender's own result is not saved any more.
func (t messageTx) SaveReported(ctx context.Context, m textmessage.Message) error {
	const query = `
		UPDATE message SET state = $3, reason = $4, gateway_id = $5, claim = '', claimed_until = 0, next_at = $6, body = $7 WHERE org = $1 AND id = $2`
	_, err := t.exec(ctx, query, m.Organization, m.ID, m.State, m.Reason, m.GatewayID, millis(m.Next), m.Body)
	if err != nil {
		return fmt.Errorf("record report on message %s: %w", m.ID, err)
	}
	return nil
}

// DeleteMessages deletes text messages older than a time that need not be sent, and
// replies older than it, about most of each. It returns how many it deleted.
func (t messageTx) DeleteMessages(ctx context.Context, before time.Time, most int) (int64, error) {
	messages, err := t.deleteOld(ctx, `message`, `created`, ` AND next_at IS NULL`, before.UnixMilli(), most)
	if err != nil {
		return 0, err
	}
	received, err := t.deleteOld(ctx, `message_received`, `at`, ``, before.UnixMilli(), most)
	if err != nil {
		return 0, err
	}
	replies, err := t.deleteOld(ctx, `message_reply`, `received`, ``, before.UnixMilli(), most)
	return messages + received + replies, err
}

// SaveReceived saves a text message from a phone for an organization.
func (t messageTx) SaveReceived(ctx context.Context, r textmessage.Received) error {
	const query = `INSERT INTO message_received (org, id, at, phone, recipient, body) VALUES ($1, $2, $3, $4, $5, $6)`
	if _, err := t.exec(ctx, query, r.Organization, r.ID, r.At.UnixMilli(), r.From, r.To, r.Body); err != nil {
		return fmt.Errorf("save a reply to %s: %w", r.Organization, err)
	}
	return nil
}

// ReceivedBy lists the latest most text messages from phones to an organization, newest
// first: those before a message and from a phone, unless these are empty.
func (t messageTx) ReceivedBy(ctx context.Context, org lastmile.OrganizationID, before lastmile.MessageID, from lastmile.Phone, most int) ([]textmessage.Received, error) {
	where := within(org)
	if before != "" {
		where.and(`t.id < ?`, before)
	}
	if from != "" {
		where.and(`t.phone = ?`, from)
	}
	scan := func(r rows) (m textmessage.Received, err error) {
		var at int64
		m.Organization = org
		err = r.Scan(&m.ID, &at, &m.From, &m.To, &m.Body)
		m.At = time.UnixMilli(at).UTC()
		return m, err
	}
	found, err := collect(ctx, t, scan, `SELECT t.id, t.at, t.phone, t.recipient, t.body FROM message_received t WHERE `+where.text+` ORDER BY t.id DESC`+limit(most), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read replies: %w", err)
	}
	return found, nil
}

// OptOuts lists the first most opt-outs from an organization's messages after a phone
// number, ordered by number.
func (t messageTx) OptOuts(ctx context.Context, org lastmile.OrganizationID, after lastmile.Phone, most int) ([]textmessage.OptOut, error) {
	scan := func(r rows) (o textmessage.OptOut, err error) {
		var at, muted int64
		o.Organization = org
		err = r.Scan(&o.Phone, &at, &muted)
		o.At, o.Muted = time.UnixMilli(at).UTC(), muted != 0
		return o, err
	}
	found, err := collect(ctx, t, scan, `SELECT phone, at, muted FROM message_optout WHERE org = $1 AND phone > $2 ORDER BY phone`+limit(most), org, after)
	if err != nil {
		return nil, fmt.Errorf("read who wants no messages: %w", err)
	}
	return found, nil
}

// OptOut returns the opt-out of a number from an organization's messages, and
// reports whether there is one.
func (t messageTx) OptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (o textmessage.OptOut, found bool, err error) {
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

// SaveOptOut saves a number's opt-out from an organization's messages.
func (t messageTx) SaveOptOut(ctx context.Context, o textmessage.OptOut) error {
	const query = `
		INSERT INTO message_optout (org, phone, at, muted) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org, phone) DO UPDATE SET at = excluded.at, muted = excluded.muted`
	if _, err := t.exec(ctx, query, o.Organization, o.Phone, o.At.UnixMilli(), engine.Flag(o.Muted)); err != nil {
		return fmt.Errorf("save who wants no messages: %w", err)
	}
	return nil
}

// DeleteOptOut deletes a number's opt-out.
func (t messageTx) DeleteOptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) error {
	return t.erase(ctx, org, string(phone), [2]string{"message_optout", "phone"})
}

// SaveReply records a reply, and reports whether it is new.
func (t messageTx) SaveReply(ctx context.Context, r lastmile.Reply, now time.Time) (bool, error) {
	const query = `INSERT INTO message_reply (gateway, id, received) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	n, err := t.exec(ctx, query, r.Gateway, r.ID, now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("save reply: %w", err)
	}
	return n > 0, nil
}

// messageSettings is the stored form of an organization's settings of text messages.
type messageSettings struct {
	Language string         `json:"language,omitzero"`
	From     string         `json:"from,omitzero"`
	ETA      int64          `json:"eta"`   // milliseconds
	Delay    int64          `json:"delay"` // milliseconds
	Off      []occasion     `json:"off,omitzero"`
	Texts    []occasionText `json:"texts,omitzero"`
}

type occasion struct {
	Kind   textmessage.Kind `json:"kind"`
	Pickup bool             `json:"pickup,omitzero"`
}

type occasionText struct {
	occasion
	Language string `json:"language"`
	Text     string `json:"text"`
}

// MessageSettings returns the settings of an organization for its text
// messages.
func (t messageTx) MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error) {
	var doc []byte
	err := t.row(ctx, `SELECT doc FROM message_setting WHERE org = $1`, org).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return textmessage.DefaultSettings(org), nil
	}
	var stored messageSettings
	if err == nil {
		err = json.Unmarshal(doc, &stored)
	}
	if err != nil {
		return textmessage.Settings{}, fmt.Errorf("read settings of messages of %s: %w", org, err)
	}
	s := textmessage.Settings{
		Organization: org, Language: stored.Language, From: stored.From,
		Thresholds: textmessage.Thresholds{ETA: span(&stored.ETA), Delay: span(&stored.Delay)},
	}
	for _, o := range stored.Off {
		s.Disabled = append(s.Disabled, textmessage.Occasion(o))
	}
	for _, text := range stored.Texts {
		s.Texts = append(s.Texts, textmessage.Template{Occasion: textmessage.Occasion(text.occasion), Language: text.Language, Text: text.Text})
	}
	return s, nil
}

// SaveMessageSettings saves the settings of an organization for its text
// messages.
func (t messageTx) SaveMessageSettings(ctx context.Context, s textmessage.Settings) error {
	stored := messageSettings{
		Language: s.Language, From: s.From, ETA: s.Thresholds.ETA.Milliseconds(), Delay: s.Thresholds.Delay.Milliseconds(),
	}
	for _, o := range s.Disabled {
		stored.Off = append(stored.Off, occasion(o))
	}
	for _, text := range s.Texts {
		stored.Texts = append(stored.Texts, occasionText{occasion(text.Occasion), text.Language, text.Text})
	}
	doc, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("encode settings of messages of %s: %w", s.Organization, err)
	}
	const query = `
		INSERT INTO message_setting (org, doc, v, eta, delay) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org) DO UPDATE SET doc = excluded.doc, v = excluded.v, eta = excluded.eta, delay = excluded.delay`
	thresholds := s.EffectiveThresholds()
	_, err = t.exec(ctx, query, s.Organization, doc, int64(documentVersion), spanMillis(thresholds.ETA), spanMillis(thresholds.Delay))
	if err != nil {
		return fmt.Errorf("save settings of messages of %s: %w", s.Organization, err)
	}
	return nil
}

// NotificationThresholds returns at which estimated time of arrival and at which delay
// the recipients of an organization are notified.
func (t messageTx) NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error) {
	var eta, delay *int64
	err := t.row(ctx, `SELECT eta, delay FROM message_setting WHERE org = $1`, org).Scan(&eta, &delay)
	if errors.Is(err, sql.ErrNoRows) {
		return textmessage.DefaultThresholds, nil
	}
	if err != nil {
		return textmessage.Thresholds{}, fmt.Errorf("read notification thresholds of %s: %w", org, err)
	}
	return textmessage.Thresholds{ETA: span(eta), Delay: span(delay)}, nil
}

// span returns a stored duration; null is 0.
func span(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}

// spanMillis returns a duration as span reads it.
func spanMillis(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}
