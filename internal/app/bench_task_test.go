package app_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// BenchmarkPostTask compares creating a task with its destination and its
// recipient over HTTP with saving the same four records (destination,
// recipient, task, event) through the same store, committed in the same groups,
// by as many goroutines. Both return when the records are on disk.
func BenchmarkPostTask(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		var n atomic.Int64
		raw := p.writes(b, func(w *sqlstore.Tx) error { return p.saveTask(b, w, int(n.Add(1))) })
		benchPost(b, p, raw, "/tasks", func() string { return taskBody(int(n.Add(1))) })
	})
}

// BenchmarkGetTask compares reading one task with a bare server that returns the
// same bytes, and on PostgreSQL reads the task's own row first.
func BenchmarkGetTask(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		paths := p.saveRecords(b, func(w *sqlstore.Tx, n int) (string, error) {
			task := p.newTask(n)
			return "/tasks/" + string(task.ID), p.save(b, w, task)
		})
		benchGet(b, p, paths, p.wireClients, `SELECT doc FROM task WHERE org = $1 AND id = $2`)
	})
}

// taskBody is the request that creates the task of newTask.
func taskBody(n int) string {
	return fmt.Sprintf(`{"destination":{"address":{"number":"%d","street":"Howard Street","apartment":"5th Floor","city":"San Francisco","state":"California","postalCode":"94105","country":"United States"},`+
		`"location":[-122.41289,37.78808],"notes":"Don't forget to check out the epic rooftop."},"recipients":[{"name":"Boris Foster","phone":%q,"notes":"Always orders our GSC special"}],`+
		`"completeAfter":1894021200000,"completeBefore":1894028400000,"notes":"Order 332: 24oz Stumptown Finca El Puente, 10 x Aji de Gallina Empanadas, 13-inch Lelenitas Tres Leches","quantity":2}`, n, benchPhone(n))
}

// newTask returns a task with its destination and recipient.
func (p *platform) newTask(n int) lastmile.Task {
	place, person := p.destination(n), p.recipient(n)
	place.Metadata, person.Metadata = nil, nil
	notes := "Order 332: 24oz Stumptown Finca El Puente, 10 x Aji de Gallina Empanadas, 13-inch Lelenitas Tres Leches"
	quantity := 2.0
	task, err := lastmile.NewTask(lastmile.Identity{
		ID: lastmile.TaskID(access.RandomSecret(lastmile.IDLength)), ShortID: "bench" + strconv.Itoa(n), TrackingToken: access.RandomSecret(lastmile.IDLength),
		Creator: lastmile.Actor{Type: lastmile.ActorAPI, ID: string(p.org)},
	}, p.org, lastmile.TaskChange{Destination: &place, Recipients: &[]lastmile.Recipient{person}, Notes: &notes, Quantity: &quantity}, p.created)
	if err != nil {
		panic(err)
	}
	return task
}

func (p *platform) saveTask(b *testing.B, w *sqlstore.Tx, n int) error {
	task := p.newTask(n)
	events := task.CreationEvents(lastmile.Actor{Type: lastmile.ActorAPI, ID: string(p.org)})
	if err := p.save(b, w, task); err != nil {
		return err
	}
	return p.Events.Append(b.Context(), w, events...)
}

// save saves a task, its destination and its recipient.
func (p *platform) save(b testing.TB, w *sqlstore.Tx, task lastmile.Task) error {
	if err := w.SaveDestination(b.Context(), task.Destination); err != nil {
		return err
	}
	if err := w.AddRecipient(b.Context(), *task.Recipient); err != nil {
		return err
	}
	return w.AddTask(b.Context(), task)
}
