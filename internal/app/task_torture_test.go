//go:build torture

package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

// TestTortureConcurrentDispatch is a longer TestConcurrentDispatch.
func TestTortureConcurrentDispatch(t *testing.T) {
	onDispatches(t, 50, func(t *testing.T, d *dispatch) { runClients(t, d, 64, 150) })
}

// TestTortureContainerHistories is a longer TestContainerHistories.
func TestTortureContainerHistories(t *testing.T) {
	onDispatches(t, 3, func(t *testing.T, d *dispatch) {
		for range 40 {
			checkHistory(t, d, 8, 15)
		}
	})
}

// TestTortureMillionTasks compares reads with a thousand and with a million tasks
// stored. With a million, reading one task or one page of a list may take at most
// 1.5 times as long.
func TestTortureMillionTasks(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		testMillion(t, startPlatform(t, app.Config{Data: t.TempDir()}), startPlatform(t, app.Config{Data: t.TempDir()}))
	})
	t.Run("postgres", func(t *testing.T) {
		few := startPlatform(t, app.Config{Data: t.TempDir(), Database: enginetest.Postgres(t)})
		testMillion(t, few, startPlatform(t, app.Config{Data: t.TempDir(), Database: enginetest.Postgres(t)}))
	})
}

// taskHistory is a platform with tasks created over the last year: one in a
// hundred is unassigned, fifty workers have completed the rest.
type taskHistory struct {
	*platform
	n            int
	tasks        []string // ids of a sample
	middle       string   // id of the task in the middle
	workers      []lastmile.WorkerID
	destinations []lastmile.Destination
	recipients   []lastmile.Recipient
}

const taskPeriod = 365 * 24 * time.Hour

func fillHistory(t *testing.T, p *platform, n int) *taskHistory {
	t.Helper()
	w := &taskHistory{platform: p, n: n}
	ctx := t.Context()
	for range 50 {
		w.workers = append(w.workers, lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)))
	}
	for i := range 1_000 {
		w.destinations, w.recipients = append(w.destinations, p.destination(i)), append(w.recipients, p.recipient(i))
		err := retryOverloaded(func() error {
			return p.Store.Write(ctx, func(tx *sqlstore.Tx) error {
				return errors.Join(tx.SaveDestination(ctx, w.destinations[i]), tx.SaveRecipient(ctx, w.recipients[i]))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	begin := time.Now()
	for from := 0; from < n; from += fillStep {
		err := retryOverloaded(func() error {
			return p.Store.Write(ctx, func(tx *sqlstore.Tx) error { return w.fill(ctx, tx, random, from) })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d tasks in %v", n, time.Since(begin).Round(time.Second))
	return w
}

// retryOverloaded retries while the platform is overloaded.
func retryOverloaded(do func() error) error {
	for try := 0; ; try++ {
		err := do()
		rejected, ok := errors.AsType[*lastmile.Error](err)
		if !ok || rejected.Code != lastmile.CodeOverloaded || try == 100 {
			return err
		}
	}
}

// fillStep is how many tasks are saved in one transaction.
const fillStep = 5_000

// fill saves the tasks of one transaction.
func (w *taskHistory) fill(ctx context.Context, tx *sqlstore.Tx, random *rand.Rand, from int) error {
	for i := from; i < min(w.n, from+fillStep); i++ {
		task := w.task(random, i)
		if err := tx.SaveTask(ctx, task); err != nil {
			return err
		}
		switch {
		case i == w.n/2:
			w.middle = string(task.ID)
		case i%max(1, w.n/1_000) == 0:
			w.tasks = append(w.tasks, string(task.ID))
		}
	}
	return nil
}

// task returns the nth task of the year.
func (w *taskHistory) task(random *rand.Rand, n int) lastmile.Task {
	created := w.created.Add(-taskPeriod + time.Duration(n)*(taskPeriod/time.Duration(w.n))).Truncate(time.Millisecond)
	destination, recipient := w.destinations[n%1_000], w.recipients[n%1_000]
	task, err := lastmile.NewTask(lastmile.Identity{
		// Ascending ids fill the indexes many times as fast as random ones.
		ID: lastmile.TaskID(fmt.Sprintf("%024d", n)), ShortID: fmt.Sprintf("%08x", n), TrackingToken: fmt.Sprintf("%024d", n),
		Creator: lastmile.Actor{Type: lastmile.ActorAPI, ID: "bench"}, NewID: func() string { return "id" },
	}, w.org, lastmile.TaskChange{Destination: &destination, Recipients: &[]lastmile.Recipient{recipient}, Notes: new("Leave with the concierge.")}, created)
	if err != nil {
		panic(err)
	}
	if n%100 == 0 || n > w.n-w.n/200 { // the newest are all unassigned
		return task
	}
	by := lastmile.Actor{Type: lastmile.ActorWorker}
	at := created.Add(time.Duration(float64(time.Minute) * (1 + 600*random.ExpFloat64()/5)))
	_, put := task.Put(lastmile.WorkerContainer(w.workers[n%len(w.workers)]), by, created)
	_, started := task.Start(nil, lastmile.Estimates{}, by, created)
	_, done := task.Complete(lastmile.Outcome{Success: true, At: at}, by)
	if err := errors.Join(put, started, done); err != nil {
		panic(err)
	}
	task.Modified = created // so that the store treats it as a new record
	return task
}

func testMillion(t *testing.T, few, many *platform) {
	small, large := fillHistory(t, few, 1_000), fillHistory(t, many, 1_000_000)
	yesterday, lastMonth := few.created.Add(-24*time.Hour).UnixMilli(), few.created.Add(-30*24*time.Hour).UnixMilli()
	paths := map[string]func(w *taskHistory, i int) string{
		"one task":                func(w *taskHistory, i int) string { return "/tasks/" + w.tasks[i%len(w.tasks)] },
		"all":                     func(*taskHistory, int) string { return "/tasks/all?from=0" },
		"from the middle":         func(w *taskHistory, _ int) string { return "/tasks/all?from=0&lastId=" + w.middle },
		"waiting":                 func(*taskHistory, int) string { return "/tasks/all?from=0&state=0" },
		"completed":               func(*taskHistory, int) string { return "/tasks/all?from=0&state=3" },
		"since yesterday":         func(*taskHistory, int) string { return fmt.Sprintf("/tasks/all?from=%d", yesterday) },
		"waiting since yesterday": func(*taskHistory, int) string { return fmt.Sprintf("/tasks/all?from=%d&state=0", yesterday) },
		"completed in a month":    func(*taskHistory, int) string { return fmt.Sprintf("/tasks/all?from=%d&state=3", lastMonth) },
		"of a worker in a month": func(w *taskHistory, i int) string {
			return fmt.Sprintf("/tasks/all?from=%d&worker=%s", lastMonth, w.workers[i%50])
		},
		"a day last year": func(*taskHistory, int) string {
			return fmt.Sprintf("/tasks/all?from=%d&to=%d", lastMonth-86_400_000, lastMonth)
		},
	}
	before := residentMemory(t)
	readers := [2]*reader{small.reader(t), large.reader(t)}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			const reads, warmUp = 400, 50
			var took [2][]time.Duration
			for i := range reads + warmUp {
				for side, r := range readers { // in turns, so that a busy machine slows both equally
					if cost := r.read(t, path(r.taskHistory, i)); i >= warmUp {
						took[side] = append(took[side], cost)
					}
				}
			}
			var cost [2]time.Duration
			for side := range took {
				slices.Sort(took[side])
				cost[side] = took[side][reads/2]
			}
			ratio := float64(cost[1]) / float64(cost[0])
			sizes := [2]int{readers[0].size, readers[1].size}
			if sizes[0] < sizes[1]*9/10 { // a page of the small one has fewer tasks: compare the time per byte
				ratio *= float64(sizes[0]) / float64(sizes[1])
			}
			t.Logf("%v with a thousand (%d bytes), %v with a million (%d bytes): %.2f", cost[0], sizes[0], cost[1], sizes[1], ratio)
			if ratio > 1.5 {
				t.Errorf("reading takes %.2f times as long with a million tasks", ratio)
			}
		})
	}
	runtime.GC()
	after := residentMemory(t)
	t.Logf("%d MB before reading, %d MB after", before>>20, after>>20)
	if after > before+256<<20 {
		t.Errorf("memory went from %d to %d MB", before>>20, after>>20)
	}
}

// reader reads over one connection.
type reader struct {
	*taskHistory
	conn net.Conn
	in   *bufio.Reader
	size int // size of the last response
}

func (w *taskHistory) reader(t *testing.T) *reader {
	t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &reader{taskHistory: w, conn: conn, in: bufio.NewReader(conn)}
}

// read sends a GET and returns how long it took.
func (r *reader) read(t *testing.T, path string) time.Duration {
	t.Helper()
	request := r.request(http.MethodGet, path, "")
	begin := time.Now()
	if _, err := r.conn.Write(request); err != nil {
		t.Fatal(err)
	}
	reply, err := http.ReadResponse(r.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s %s %v", reply.Status, body, err)
	}
	r.size = len(body)
	return time.Since(begin)
}

// residentMemory returns the anonymous resident memory of this process.
func residentMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc")
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("no RssAnon")
	return 0
}
