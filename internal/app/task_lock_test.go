package app_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
)

// TestLockOrder changes the lists of the same workers in every way at once, while their
// estimates are refreshed. On PostgreSQL the test fails if transactions lock each other out.
func TestLockOrder(t *testing.T) {
	onDispatches(t, 4, func(t *testing.T, d *dispatch) {
		var tasks []string
		for i := range 12 {
			tasks = append(tasks, d.id(t, "/tasks", d.task(d.in(i))))
		}
		var group sync.WaitGroup
		repeat := func(n int, do func()) {
			group.Go(func() {
				for range n {
					do()
				}
			})
		}
		for range 2 {
			repeat(15, func() { // all lists, in any order
				var items []string
				for _, i := range rand.Perm(8) {
					items = append(items, d.task(d.in(i)))
				}
				if rand.IntN(2) == 0 { // then each is created by itself
					items = append(items, `{"quantity":-1}`)
				}
				d.must(t, http.MethodPost, "/tasks/batch", `{"tasks":[`+strings.Join(items, ",")+`]}`)
			})
			repeat(30, func() { // from several lists to one
				some := slices.Clone(tasks)
				rand.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
				d.must(t, http.MethodPut, "/containers/workers/"+d.workers[rand.IntN(4)],
					`{"considerDependencies":true,"tasks":[-1,"`+strings.Join(some[:4], `","`)+`"]}`)
			})
		}
		repeat(20, func() { // to workers that the server chooses
			some := []string{d.id(t, "/tasks", d.task("")), d.id(t, "/tasks", d.task("")), d.id(t, "/tasks", d.task("")), d.id(t, "/tasks", d.task(""))}
			d.call(t, http.MethodPost, "/tasks/autoAssign", `{"tasks":["`+strings.Join(some, `","`)+`"],"options":{"mode":"load"}}`)
		})
		repeat(15, func() {
			plan := d.id(t, "/routePlans", fmt.Sprintf(`{"name":"R","startTime":%d,"vehicleType":"CAR","worker":%q,"taskIds":["%s"]}`,
				time.Now().Add(time.Hour).UnixMilli(), d.workers[rand.IntN(4)], strings.Join(tasks[:6], `","`)))
			d.call(t, http.MethodDelete, "/routePlans/"+plan, "")
		})
		for _, id := range d.workers {
			node := d.nodes[rand.IntN(len(d.nodes))]
			who := lastmile.Principal{Organization: d.org, Worker: lastmile.WorkerID(id)}
			onDuty := true
			repeat(30, func() {
				onDuty = !onDuty
				if _, err := node.Fleet.SetDuty(t.Context(), who, onDuty, nil); err != nil {
					t.Error(err)
				}
				here := lastmile.Position{At: app.Clock(), Location: lastmile.Point{Lon: rand.Float64() / 100, Lat: rand.Float64() / 100}}
				if _, err := node.Tracking.Report(t.Context(), who, []lastmile.Position{here}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, id := range d.workers {
			d.must(t, http.MethodGet, "/containers/workers/"+id, "")
		}
	})
}

// in is the container of a task in a body: that of a worker, in turn.
func (d *dispatch) in(i int) string {
	return fmt.Sprintf(`,"container":{"type":"WORKER","worker":%q}`, d.workers[i%len(d.workers)])
}
