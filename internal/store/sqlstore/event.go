package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

const selectWebhookTriggers = `SELECT id, trigger_id, enabled, connection_events FROM webhook WHERE org = $1 ORDER BY created, id`

// WebhookTriggers lists the webhooks of an organization, oldest first, with
// only their ids, triggers, whether they are enabled, and whether they are for tasks of
// connections.
func (t eventTx) WebhookTriggers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error) {
	scan := func(r rows) (lastmile.Webhook, error) {
		h := lastmile.Webhook{Organization: org}
		var trigger, enabled, connection int64
		err := r.Scan(&h.ID, &trigger, &enabled, &connection)
		h.Trigger, h.Enabled, h.CanReceiveConnectionEvents = lastmile.Trigger(trigger), enabled != 0, connection != 0
		return h, err
	}
	found, err := collect(ctx, t, scan, selectWebhookTriggers, org)
	if err != nil {
		return nil, fmt.Errorf("read triggers of webhooks: %w", err)
	}
	return found, nil
}

var eventInsertion = newInsertion(`event`, `org, id, trigger_id, task, task_sequence, worker, created, nth, seq, body`, ``)

// InsertEvents stores new events. Where writes are committed in the order in which they
// run, it also assigns their numbers in the log, and reports that it did.
func (t eventTx) InsertEvents(ctx context.Context, events []lastmile.EventRecord) (numbered bool, err error) {
	last := map[lastmile.OrganizationID]int64{}
	if numbered = t.inOrder(); numbered {
		if last, err = t.claimNumbers(ctx, events); err != nil {
			return false, err
		}
	}
	rows := make([][]any, len(events))
	for i, e := range events {
		var (
			task, worker  *string
			sequence, seq *int64
		)
		if e.Task != nil {
			task, worker, sequence = (*string)(&e.Task.ID), orNull(string(e.Task.Worker)), &events[i].Sequence
		}
		if e.Worker != nil {
			worker = (*string)(&e.Worker.ID)
		}
		if e.RoutePlan != nil {
			worker = orNull(string(e.RoutePlan.Worker))
		}
		if numbered {
			last[e.Organization]++
			seq = new(last[e.Organization])
		}
		rows[i] = []any{e.Organization, e.ID, int64(e.Trigger), task, sequence, worker, e.Stored.UnixMilli(), e.Order, seq, e.Body}
	}
	if err := t.insert(ctx, eventInsertion, rows); err != nil {
		return false, fmt.Errorf("insert events: %w", err)
	}
	return numbered, nil
}

// claimNumbers claims a number in the log for each event, and returns the last number before
// them of each organization.
func (t eventTx) claimNumbers(ctx context.Context, events []lastmile.EventRecord) (last map[lastmile.OrganizationID]int64, err error) {
	counts := map[lastmile.OrganizationID]int64{}
	for _, e := range events {
		counts[e.Organization]++
	}
	last = make(map[lastmile.OrganizationID]int64, len(counts))
	for org, count := range counts {
		seq, err := t.advance(ctx, string(org), count)
		if err != nil {
			return nil, err
		}
		last[org] = seq - count
	}
	return last, nil
}

// advance adds to the number of the last event of an organization and returns it. Until the
// end of the transaction, no other one numbers events of the organization.
func (t eventTx) advance(ctx context.Context, org string, by int64) (seq int64, err error) {
	const query = `INSERT INTO event_head (org, seq) VALUES ($1, $2) ON CONFLICT (org) DO UPDATE SET seq = event_head.seq + excluded.seq RETURNING seq`
	if err := t.row(ctx, query, org, by).Scan(&seq); err != nil {
		return 0, fmt.Errorf("advance the log of %s: %w", org, err)
	}
	return seq, nil
}

var notificationInsertion = newInsertion(`notification`, `org, id, webhook, event, trigger_id, task, sequence, due, next_at,
	attempts, state, attempted_at, took, status, reason`, ``)

// InsertNotifications stores new notifications, which have no attempts yet.
func (t eventTx) InsertNotifications(ctx context.Context, notifications []lastmile.Notification) error {
	rows := make([][]any, len(notifications))
	for i, n := range notifications {
		rows[i] = []any{
			n.Organization, n.ID, n.Webhook, n.Event, int64(n.Trigger), orNull(string(n.Task)), n.Sequence, n.Due.UnixMilli(), millis(n.Next),
			0, int64(n.State), 0, 0, 0, "",
		}
	}
	if err := t.insert(ctx, notificationInsertion, rows); err != nil {
		return fmt.Errorf("insert notifications: %w", err)
	}
	return nil
}

// unnumbered is an event that has no number in the log yet.
type unnumbered struct {
	org, id, task string
	created       int64
	sequence      int64
}

// NumberEvents assigns numbers in the log to at most most committed events, and returns
// the organization of each. It locks what it relies on; see lastmile.Locking.
func (t eventTx) NumberEvents(ctx context.Context, most int) ([]lastmile.OrganizationID, error) {
	orgs, err := collect(ctx, t, scanID[string], `SELECT DISTINCT org FROM (SELECT org`+newEvents+` ORDER BY created, nth`+limit(most)+`) AS t`)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read organizations with new events: %w", err)
	case len(orgs) == 0:
		return nil, nil
	}
	// Lock the logs of these organizations, so that no other transaction numbers their
	// events. All nodes lock in the same order, so that they do not deadlock.
	slices.Sort(orgs)
	heads := map[string]int64{}
	for _, org := range orgs {
		if heads[org], err = t.advance(ctx, org, 0); err != nil {
			return nil, err
		}
	}
	query, args := newEventsQuery(orgs, most)
	found, err := collect(ctx, t, scanUnnumbered, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read new events: %w", err)
	}
	putInOrder(found)
	numbered := make([]lastmile.OrganizationID, len(found))
	for i, e := range found {
		numbered[i] = lastmile.OrganizationID(e.org)
		heads[e.org]++
		if err := t.send(ctx, `UPDATE event SET seq = $3 WHERE org = $1 AND id = $2`, e.org, e.id, heads[e.org]); err != nil {
			return nil, fmt.Errorf("number event %s: %w", e.id, err)
		}
	}
	for _, org := range orgs {
		if err := t.send(ctx, `UPDATE event_head SET seq = $2 WHERE org = $1`, org, heads[org]); err != nil {
			return nil, fmt.Errorf("number events of %s: %w", org, err)
		}
	}
	return numbered, nil
}

// newEvents are the events without a number.
const newEvents = ` FROM event t WHERE seq IS NULL`

// newEventsQuery returns the query for new events of organizations. The organization is
// compared as an expression, so that databases do not read all its events by index.
func newEventsQuery(orgs []string, most int) (string, []any) {
	of := &condition{}
	in(of, `t.org || ''`, orgs)
	return `SELECT org, id, task, task_sequence, created` + newEvents + of.text + ` ORDER BY created, nth` + limit(most), of.args
}

// scanUnnumbered reads an event that has no number.
func scanUnnumbered(r rows) (e unnumbered, err error) {
	var (
		task     *string
		sequence *int64
	)
	err = r.Scan(&e.org, &e.id, &task, &sequence, &e.created)
	if task != nil && sequence != nil {
		e.task, e.sequence = *task, *sequence
	}
	return e, err
}

// putInOrder sorts the events of each task by sequence, among the positions that they
// have in the list: nodes whose clocks differ may have stored a later event with an
// earlier time.
func putInOrder(events []unnumbered) {
	places := map[string][]int{}
	for i, e := range events {
		if e.task != "" {
			places[e.task] = append(places[e.task], i)
		}
	}
	for _, at := range places {
		of := make([]unnumbered, len(at))
		for i, place := range at {
			of[i] = events[place]
		}
		slices.SortFunc(of, func(a, b unnumbered) int { return cmp.Compare(a.sequence, b.sequence) })
		for i, place := range at {
			events[place] = of[i]
		}
	}
}

// EventsPending reports whether any event has no number in the log yet.
func (t eventTx) EventsPending(ctx context.Context) (bool, error) {
	return t.exists(ctx, `SELECT 1 FROM event WHERE seq IS NULL LIMIT 1`)
}

// LastEvent returns the number of the newest event of the log, or 0.
func (t eventTx) LastEvent(ctx context.Context, org lastmile.OrganizationID) (int64, error) {
	var seq int64
	err := t.row(ctx, `SELECT seq FROM event_head WHERE org = $1`, org).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read number of the last event: %w", err)
	}
	return seq, nil
}

// EventsAfter returns up to limit events of the log after seq, in order. It stops
// once they have the given number of bytes, unless that is 0.
func (t eventTx) EventsAfter(ctx context.Context, org lastmile.OrganizationID, seq int64, limit, bytes int) ([]store.LoggedEvent, error) {
	page := engine.Page{
		Columns: `seq, id, trigger_id, COALESCE(task, ''), COALESCE(worker, ''), created, body`,
		Table:   `event`, Where: `org = $1 AND seq IS NOT NULL AND seq > $2`, Key: `seq`, Size: `LENGTH(body)`, Limit: strconv.Itoa(limit), Bytes: bytes,
	}
	rows, err := t.query(ctx, page.Statement(t.whole().Dialect()), org, seq)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var found []store.LoggedEvent
	for size := 0; (bytes == 0 || size < bytes) && rows.Next(); {
		var (
			e               store.LoggedEvent
			trigger, stored int64
		)
		if err := rows.Scan(&e.Seq, &e.ID, &trigger, &e.Task, &e.Worker, &stored, &e.Body); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		e.Trigger, e.Stored = lastmile.Trigger(trigger), time.UnixMilli(stored).UTC()
		found, size = append(found, e), size+len(e.Body)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return found, nil
}

// DeleteEvents deletes at most most events older than a time with their notifications,
// and returns how many it deleted. Events with a notification that is pending or was
// redelivered since are kept, unless its webhook was deleted. Notifications and attempts
// are found by their event: they have no index by age, and scanning all of them would
// block every writer.
func (t eventTx) DeleteEvents(ctx context.Context, before time.Time, most int) (int64, error) {
	const query = `
		SELECT e.org, e.id FROM event e WHERE e.created < $1 AND e.seq IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM notification n JOIN webhook h ON h.org = n.org AND h.id = n.webhook
			WHERE n.org = e.org AND n.event = e.id AND (n.next_at IS NOT NULL OR n.due >= $1))
		ORDER BY e.created LIMIT $2`
	old, err := collect(ctx, t, func(r rows) (e [2]string, err error) {
		err = r.Scan(&e[0], &e[1])
		return e, err
	}, query, before.UnixMilli(), most)
	if err != nil {
		return 0, fmt.Errorf("read old events: %w", err)
	}
	for _, e := range old {
		for _, query := range []string{
			`DELETE FROM attempt WHERE org = $1 AND notification IN (SELECT n.id FROM notification n WHERE n.org = $1 AND n.event = $2)`,
			`DELETE FROM notification WHERE org = $1 AND event = $2`,
			`DELETE FROM event WHERE org = $1 AND id = $2`,
		} {
			if err := t.send(ctx, query, e[0], e[1]); err != nil {
				return 0, fmt.Errorf("delete event %s: %w", e[1], err)
			}
		}
	}
	return int64(len(old)), nil
}
