package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

const webhookColumns = `t.org, t.id, t.name, t.url, t.trigger_id, t.threshold, t.connection_events, t.created, t.modified, t.enabled, c.succeeded, c.streak`

func scanWebhook(r rows) (lastmile.Webhook, error) {
	var (
		h                   lastmile.Webhook
		trigger             int64
		created, modified   int64
		enabled, connection int64
	)
	err := r.Scan(&h.Organization, &h.ID, &h.Name, &h.URL, &trigger, &h.Threshold, &connection, &created, &modified, &enabled, &h.Count, &h.FailureStreak)
	h.Trigger, h.Enabled, h.CanReceiveConnectionEvents = lastmile.Trigger(trigger), enabled != 0, connection != 0
	h.Created, h.Modified = time.UnixMilli(created).UTC(), time.UnixMilli(modified).UTC()
	return h, err
}

// Webhook returns a webhook.
func (t webhookTx) Webhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) (lastmile.Webhook, error) {
	found, err := t.webhooks(ctx, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Webhooks, string(id), found, err)
}

// Webhooks lists webhooks, oldest first.
func (t webhookTx) Webhooks(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error) {
	return t.webhooks(ctx, within(org))
}

func (t webhookTx) webhooks(ctx context.Context, where *condition) ([]lastmile.Webhook, error) {
	found, err := collect(ctx, t, scanWebhook, `SELECT `+webhookColumns+` FROM webhook t JOIN webhook_tally c ON c.org = t.org AND c.id = t.id WHERE `+where.text+` ORDER BY t.created, t.id`, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return found, nil
}

// SaveWebhook saves a webhook.
func (t webhookTx) SaveWebhook(ctx context.Context, h lastmile.Webhook) error {
	const query = `
		INSERT INTO webhook (org, id, name, url, trigger_id, threshold, connection_events, created, modified, enabled)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (org, id) DO UPDATE SET name = excluded.name, url = excluded.url, trigger_id = excluded.trigger_id,
			threshold = excluded.threshold, connection_events = excluded.connection_events, modified = excluded.modified,
			enabled = excluded.enabled`
	_, err := t.exec(ctx, query, h.Organization, h.ID, h.Name, h.URL, int64(h.Trigger), h.Threshold, engine.Flag(h.CanReceiveConnectionEvents),
		h.Created.UnixMilli(), h.Modified.UnixMilli(), engine.Flag(h.Enabled))
	if err != nil {
		return fmt.Errorf("save webhook %s: %w", h.ID, err)
	}
	return t.saveCounts(ctx, h)
}

// saveCounts inserts or replaces the counts of a webhook.
func (t webhookTx) saveCounts(ctx context.Context, h lastmile.Webhook) error {
	const query = `
		INSERT INTO webhook_tally (org, id, succeeded, streak, claim, claimed_until) VALUES ($1, $2, $3, $4, '', 0)
		ON CONFLICT (org, id) DO UPDATE SET succeeded = excluded.succeeded, streak = excluded.streak`
	if _, err := t.exec(ctx, query, h.Organization, h.ID, h.Count, h.FailureStreak); err != nil {
		return fmt.Errorf("save counts of webhook %s: %w", h.ID, err)
	}
	return nil
}

// SaveCounts saves the effect of attempts on a webhook: how many succeeded, how
// many failed in a row, and whether it is enabled.
func (t webhookTx) SaveCounts(ctx context.Context, h lastmile.Webhook) error {
	_, err := t.exec(ctx, `UPDATE webhook SET enabled = $3 WHERE org = $1 AND id = $2 AND enabled <> $3`, h.Organization, h.ID, engine.Flag(h.Enabled))
	if err != nil {
		return fmt.Errorf("save whether webhook %s is enabled: %w", h.ID, err)
	}
	return t.saveCounts(ctx, h)
}

// DeleteWebhook deletes a webhook, but not its notifications.
func (t webhookTx) DeleteWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error {
	return t.erase(ctx, org, string(id), [][2]string{{"webhook", "id"}, {"webhook_tally", "id"}}...)
}

// DeleteNotifications deletes notifications of a deleted webhook, their attempts, and the
// records of thresholds that were met for it: about most rows in all. It reports whether
// there may be more.
func (t webhookTx) DeleteNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, most int) (more bool, err error) {
	failed := func(err error) (bool, error) {
		return false, fmt.Errorf("delete notifications of webhook %s: %w", id, err)
	}
	const oldest = `FROM notification n WHERE n.org = $1 AND n.webhook = $2 ORDER BY n.due, n.id LIMIT $3`
	first := ""
	attempts, err := collect(ctx, t, func(r rows) (n int, err error) {
		var id string
		err = r.Scan(&id, &n)
		first = cmp.Or(first, id)
		return n, err
	}, `SELECT n.id, n.attempts `+oldest, org, id, most)
	if err != nil {
		return failed(err)
	}
	if len(attempts) > 0 && attempts[0] > most { // older versions kept more than KeptAttempts
		n, err := t.deleteAttempts(ctx, org, first, math.MaxInt64, most)
		if err != nil || n == int64(most) {
			return err == nil, err
		}
	}
	count, size := 0, 0 // the last attempt at a notification is in the same row
	for count < len(attempts) && (count == 0 || size+max(attempts[count], 1) <= most) {
		size += max(attempts[count], 1)
		count++
	}
	for _, query := range []string{
		`DELETE FROM attempt WHERE org = $1 AND notification IN (SELECT n.id ` + oldest + `)`,
		`DELETE FROM notification WHERE org = $1 AND id IN (SELECT n.id ` + oldest + `)`,
	} {
		if count == 0 {
			break
		}
		if _, err := t.exec(ctx, query, org, id, count); err != nil {
			return failed(err)
		}
	}
	if count < len(attempts) || size >= most {
		return true, nil
	}
	const firings = `DELETE FROM firing WHERE org = $1 AND webhook = $2 AND task IN
		(SELECT f.task FROM firing f WHERE f.org = $1 AND f.webhook = $2 ORDER BY f.task LIMIT $3)`
	n, err := t.exec(ctx, firings, org, id, most-size)
	if err != nil {
		return failed(err)
	}
	return int(n) == most-size, nil
}

const notificationColumns = `t.org, t.id, t.webhook, t.event, t.trigger_id, t.task, t.sequence, t.due, t.next_at, t.attempts, t.state`

func scanNotification(r rows, more ...any) (lastmile.Notification, error) {
	var (
		n              lastmile.Notification
		trigger, state int64
		task           *string
		due            int64
		next           *int64
	)
	err := r.Scan(append([]any{
		&n.Organization, &n.ID, &n.Webhook, &n.Event, &trigger, &task, &n.Sequence, &due, &next, &n.Attempts, &state,
	}, more...)...)
	n.Trigger, n.State = lastmile.Trigger(trigger), lastmile.NotificationState(state)
	n.Due, n.Next = time.UnixMilli(due).UTC(), instant(next)
	if task != nil {
		n.Task = lastmile.TaskID(*task)
	}
	return n, err
}

func scanWithBody(r rows) (lastmile.Notification, error) {
	var body []byte
	n, err := scanNotification(r, &body)
	n.Body = body
	return n, err
}

const notificationTables = `notification t JOIN event e ON e.org = t.org AND e.id = t.event`

// Notification reads a notification with its body.
func (t webhookTx) Notification(ctx context.Context, org lastmile.OrganizationID, id string) (lastmile.Notification, error) {
	found, err := collect(ctx, t, scanWithBody, `SELECT `+notificationColumns+`, e.body FROM `+notificationTables+` WHERE t.org = $1 AND t.id = $2`, org, id)
	return only(ctx, t.base, store.Notifications, id, found, err)
}

// Notifications lists notifications without their bodies, newest first.
func (t webhookTx) Notifications(ctx context.Context, org lastmile.OrganizationID, f store.NotificationFilter) ([]lastmile.Notification, error) {
	where := within(org)
	if f.Webhook != "" {
		where.and(`t.webhook = ?`, f.Webhook)
	}
	if !f.Since.IsZero() {
		where.and(`t.due >= ?`, f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		where.and(`t.due < ?`, f.Until.UnixMilli())
	}
	if f.State != nil {
		where.and(`t.state = ?`, int64(*f.State))
	}
	if f.Before != "" {
		before, err := t.Notification(ctx, org, f.Before)
		if err != nil {
			return nil, err
		}
		where.and(`(t.due < ?`, before.Due.UnixMilli())
		where.text += fmt.Sprintf(` OR (t.due = $%d`, len(where.args))
		where.and(`t.id < ?))`, before.ID)
	}
	found, err := collect(ctx, t, func(r rows) (lastmile.Notification, error) { return scanNotification(r) },
		`SELECT `+notificationColumns+` FROM notification t WHERE `+where.text+` ORDER BY t.due DESC, t.id DESC`+limit(f.Limit), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read notifications: %w", err)
	}
	return found, nil
}

// TaskNotifications lists at most most notifications of the events of a task without
// their bodies, those of the newest events first. Only the newest 10*most events are
// read. SQLite keeps the order of a CROSS JOIN, so that it looks up the notifications of
// each event instead of reading all.
func (t webhookTx) TaskNotifications(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, most int) ([]store.TaskNotification, error) {
	scan := func(r rows) (n store.TaskNotification, err error) {
		var at, took, status int64
		n.Notification, err = scanNotification(r, &n.WebhookName, &at, &took, &status, &n.Last.Reason, &n.Last.Response)
		if n.Attempts > 0 {
			n.Last.Organization, n.Last.Notification, n.Last.Number = n.Organization, n.ID, n.Attempts
			n.Last.At, n.Last.Took, n.Last.Status = time.UnixMilli(at).UTC(), time.Duration(took)*time.Millisecond, int(status)
		}
		return n, err
	}
	found, err := collect(ctx, t, scan, `SELECT `+notificationColumns+`, h.name, t.attempted_at, t.took, t.status, t.reason, t.response
		FROM (SELECT id, created, task_sequence FROM event WHERE org = $1 AND task = $2 AND task IS NOT NULL ORDER BY created DESC, task_sequence DESC`+limit(10*most)+`) e
		CROSS JOIN notification t CROSS JOIN webhook h WHERE t.org = $1 AND t.event = e.id AND h.org = $1 AND h.id = t.webhook
		ORDER BY e.created DESC, e.task_sequence DESC, t.id`+limit(most), org, task)
	if err != nil {
		return nil, fmt.Errorf("read notifications of task %s: %w", task, err)
	}
	return found, nil
}

// Attempts lists the attempts at a notification, oldest first.
func (t webhookTx) Attempts(ctx context.Context, org lastmile.OrganizationID, notification string) ([]lastmile.Attempt, error) {
	scan := func(r rows) (a lastmile.Attempt, err error) {
		var at, took, status int64
		err = r.Scan(&a.Organization, &a.Notification, &a.Number, &at, &took, &status, &a.Reason, &a.Response)
		a.At, a.Took, a.Status = time.UnixMilli(at).UTC(), time.Duration(took)*time.Millisecond, int(status)
		return a, err
	}
	found, err := collect(ctx, t, scan, `
		SELECT org, notification, number, at, took, status, reason, response FROM attempt WHERE org = $1 AND notification = $2
		UNION ALL
		SELECT org, id, attempts, attempted_at, took, status, reason, response FROM notification WHERE org = $1 AND id = $2 AND attempts > 0
		ORDER BY 3`, org, notification)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return found, nil
}

// DueNotifications lists at most most notifications of a webhook that are due at now, with
// bodies, in order of due time, beginning after the cursor. It stops once the bodies have
// the given number of bytes.
func (t webhookTx) DueNotifications(ctx context.Context, hook lastmile.WebhookID, now time.Time, after store.NotificationCursor, most, bytes int) ([]lastmile.Notification, error) {
	page := engine.Page{
		Columns: notificationColumns + `, e.body`, Table: notificationTables,
		Where: `t.webhook = $1 AND t.next_at IS NOT NULL AND t.next_at <= $2 AND (t.next_at, t.id) > ($3, $4)`,
		Key:   `t.next_at, t.id`, Size: `LENGTH(e.body)`, Limit: `$5`, Bytes: bytes,
	}
	from := int64(-1)
	if !after.Next.IsZero() {
		from = after.Next.UnixMilli()
	}
	rows, err := t.query(ctx, page.Statement(t.whole().Dialect()), hook, now.UnixMilli(), from, after.ID, most)
	if err != nil {
		return nil, fmt.Errorf("read due notifications of webhook %s: %w", hook, err)
	}
	defer rows.Close()
	var found []lastmile.Notification
	for size := 0; size < bytes && rows.Next(); {
		n, err := scanWithBody(rows)
		if err != nil {
			return nil, fmt.Errorf("read due notifications of webhook %s: %w", hook, err)
		}
		found, size = append(found, n), size+len(n.Body)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read due notifications of webhook %s: %w", hook, err)
	}
	return found, nil
}

// SaveAttempt saves an attempt and the resulting state of its notification, unless the
// attempt of that number exists, and reports whether it did. A notification that was given
// up during the attempt is not tried again. One that was redelivered during it, so that
// its due time has changed, stays due if the attempt failed.
func (t webhookTx) SaveAttempt(ctx context.Context, n lastmile.Notification, a lastmile.Attempt) (bool, error) {
	if a.Number > 1 {
		const keep = `
			INSERT INTO attempt (org, notification, number, at, took, status, reason, response)
			SELECT org, id, attempts, attempted_at, took, status, reason, CASE WHEN attempts <= $4 THEN response ELSE '' END
			FROM notification WHERE org = $1 AND id = $2 AND attempts = $3`
		if _, err := t.exec(ctx, keep, n.Organization, n.ID, a.Number-1, store.KeptResponses); err != nil {
			return false, fmt.Errorf("keep the last attempt at notification %s: %w", n.ID, err)
		}
	}
	if old := a.Number - store.KeptAttempts; old > 0 {
		if _, err := t.deleteAttempts(ctx, n.Organization, n.ID, old, 100); err != nil {
			return false, err
		}
	}
	const query = `
		UPDATE notification SET
			state = CASE WHEN $4 <> 1 AND due <> $12 THEN state WHEN $4 = 0 AND next_at IS NULL THEN 2 ELSE $4 END,
			next_at = CASE WHEN $4 <> 1 AND due <> $12 OR next_at IS NULL THEN next_at ELSE $5 END,
			attempts = $6, attempted_at = $7, took = $8, status = $9, reason = $10, response = $11
		WHERE org = $1 AND id = $2 AND attempts = $3`
	changed, err := t.exec(ctx, query, n.Organization, n.ID, a.Number-1, int64(n.State), millis(n.Next), n.Attempts,
		a.At.UnixMilli(), a.Took.Milliseconds(), a.Status, a.Reason, a.Response, n.Due.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("save attempt at notification %s: %w", n.ID, err)
	}
	return changed > 0, nil
}

// deleteAttempts deletes the oldest attempts at a notification, with numbers up to last
// and at most limit of them, and returns how many.
func (t webhookTx) deleteAttempts(ctx context.Context, org lastmile.OrganizationID, notification string, last int64, limit int) (int64, error) {
	const query = `DELETE FROM attempt WHERE org = $1 AND notification = $2 AND number IN (
		SELECT a.number FROM attempt a WHERE a.org = $1 AND a.notification = $2 AND a.number <= $3 ORDER BY a.number LIMIT $4)`
	n, err := t.exec(ctx, query, org, notification, last, limit)
	if err != nil {
		return 0, fmt.Errorf("delete attempts at notification %s: %w", notification, err)
	}
	return n, nil
}

// Redeliver makes a notification due again.
func (t webhookTx) Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error {
	_, err := t.exec(ctx, `UPDATE notification SET state = 0, due = $3, next_at = $3 WHERE org = $1 AND id = $2`,
		n.Organization, n.ID, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("redeliver notification %s: %w", n.ID, err)
	}
	return nil
}

// GiveUpNotifications gives up at most most pending notifications of a webhook, and
// returns how many. A running attempt can still be saved. They are selected by webhook
// only: with the organization, databases would read all of its notifications.
func (t webhookTx) GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, most int) (int, error) {
	const query = `UPDATE notification SET state = 2, next_at = NULL WHERE org = $1 AND id IN (
		SELECT n.id FROM notification n WHERE n.webhook = $2 AND n.next_at IS NOT NULL ORDER BY n.next_at, n.id LIMIT $3)`
	n, err := t.exec(ctx, query, org, id, most)
	if err != nil {
		return 0, fmt.Errorf("give up notifications of webhook %s: %w", id, err)
	}
	return int(n), nil
}
