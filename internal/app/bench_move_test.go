package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// BenchmarkMove compares moving 50 tasks from one worker to another with saving
// the same tasks and appending the same events through the same store.
func BenchmarkMove(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		who := lastmile.Principal{Organization: p.org}
		workers := [2]lastmile.WorkerID{p.newWorker(b, 0), p.newWorker(b, 1)}
		tasks := make([]lastmile.Task, 50)
		ids := make([]lastmile.TaskID, len(tasks))
		write := func(fn func(*sqlstore.Tx) error) {
			b.Helper()
			if err := p.Store.Write(b.Context(), fn); err != nil {
				b.Fatal(err)
			}
		}
		write(func(w *sqlstore.Tx) error {
			for i := range tasks {
				tasks[i] = p.newTask(i)
				ids[i] = tasks[i].ID
				if err := p.save(b, w, tasks[i]); err != nil {
					return err
				}
			}
			return nil
		})
		to := func(n int) lastmile.ContainerRef { return lastmile.WorkerContainer(workers[n%2]) }
		var moved, saved []time.Duration
		for n := 0; b.Loop(); n++ {
			begin := time.Now()
			change := lastmile.ContainerChange{Tasks: ids, Index: lastmile.AtEnd}
			if _, err := p.Containers.Arrange(b.Context(), who, to(n), change); err != nil {
				b.Fatal(err)
			}
			moved = append(moved, time.Since(begin))
			begin = time.Now()
			write(func(w *sqlstore.Tx) error {
				var (
					moved  []lastmile.Task
					events []lastmile.Event
				)
				for _, task := range tasks {
					caused, err := task.Put(to(n), who.Actor(), p.created)
					if err != nil {
						return err
					}
					moved, events = append(moved, task), append(events, caused...)
				}
				if err := w.MoveTasks(b.Context(), p.org, to(n), store.Position{}, ids, moved, p.created); err != nil {
					return err
				}
				return p.Events.Append(b.Context(), w, events...)
			})
			saved = append(saved, time.Since(begin))
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(medianMillis(moved), "ms/50-tasks")
		b.ReportMetric(medianMillis(saved)/medianMillis(moved), "ratio")
	})
}

// BenchmarkLongList compares creating a task in a team that has 20,000 tasks with
// creating one in a team that has 20, over HTTP.
func BenchmarkLongList(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		team := func(name string, size int) string {
			var made struct{ ID lastmile.TeamID }
			if err := json.Unmarshal(p.call(b, http.MethodPost, "/teams", fmt.Sprintf(`{"name":%q,"workers":[],"managers":[]}`, name)), &made); err != nil {
				b.Fatal(err)
			}
			for from := 0; from < size; from += 400 {
				err := p.Store.Write(b.Context(), func(w *sqlstore.Tx) error {
					var ids []lastmile.TaskID
					for n := from; n < min(size, from+400); n++ {
						task := p.newTask(size + n)
						task.ShortID, task.Container = access.RandomSecret(12), lastmile.TeamContainer(made.ID)
						ids = append(ids, task.ID)
						if err := p.save(b, w, task); err != nil {
							return err
						}
					}
					return w.MoveTasks(b.Context(), p.org, lastmile.TeamContainer(made.ID), store.Position{}, ids, nil, p.created)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			return fmt.Sprintf(`{"destination":%s,"recipients":[],"container":{"type":"TEAM","team":%q}}`, destinationBody(1), made.ID)
		}
		short, long := team("short", 20), team("long", 20_000)
		var inShort, inLong []time.Duration
		timed := func(body string) time.Duration {
			begin := time.Now()
			p.call(b, http.MethodPost, "/tasks", body)
			return time.Since(begin)
		}
		for b.Loop() {
			inShort, inLong = append(inShort, timed(short)), append(inLong, timed(long))
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(medianMillis(inLong), "ms/20000-tasks")
		b.ReportMetric(medianMillis(inShort)/medianMillis(inLong), "ratio")
	})
}

// newWorker saves a worker.
func (p *platform) newWorker(b *testing.B, n int) lastmile.WorkerID {
	b.Helper()
	worker := lastmile.Worker{
		ID: lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), Organization: p.org, Created: p.created, Modified: p.created,
		Name: "W", Phone: lastmile.Phone(benchPhone(900_000 + n)),
	}
	if err := p.Store.Write(b.Context(), func(w *sqlstore.Tx) error { return w.SaveWorker(b.Context(), worker) }); err != nil {
		b.Fatal(err)
	}
	return worker.ID
}

// medianMillis is the median of durations in milliseconds.
func medianMillis(all []time.Duration) float64 {
	slices.Sort(all)
	return 1000 * all[len(all)/2].Seconds()
}
