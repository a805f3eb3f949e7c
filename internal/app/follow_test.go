package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

// followedTask is a task of a signed-in worker, and the nodes that serve its
// organization.
type followedTask struct {
	nodes  []*app.App
	org    lastmile.OrganizationID
	key    string
	worker lastmile.Worker
	token  string // token of the worker's session
	task   lastmile.Task
}

// who returns the worker as a principal.
func (f *followedTask) who() lastmile.Principal {
	return lastmile.Principal{Organization: f.org, Worker: f.worker.ID}
}

// newFollowedTask builds nodes without starting them.
func newFollowedTask(t *testing.T, count int, c app.Config) *followedTask {
	t.Helper()
	f := &followedTask{}
	for range count {
		node, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), app.Clock, true)
		if err != nil {
			t.Fatal(err)
		}
		f.nodes = append(f.nodes, node)
	}
	made, err := f.nodes[0].Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Acme", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	f.org, f.key = made.Organization.ID, made.APIKey
	now, token := app.Clock(), access.RandomSecret(43)
	hash := sha256.Sum256([]byte(token))
	f.token = token
	f.worker = lastmile.Worker{
		ID: lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), Organization: f.org, Created: now, Modified: now, Name: "Wanda Worker",
		Phone: "+12125550100", Vehicle: &lastmile.Vehicle{Type: lastmile.Car}, AccountStatus: lastmile.AccountAccepted,
	}
	destination := lastmile.Destination{
		ID: lastmile.DestinationID(access.RandomSecret(lastmile.IDLength)), Organization: f.org, Created: now, Modified: now, Location: lastmile.Point{Lon: -74, Lat: 40.7},
	}
	f.task = lastmile.Task{
		ID: lastmile.TaskID(access.RandomSecret(lastmile.IDLength)), ShortID: "00000001", Organization: f.org, Merchant: f.org, Executor: f.org,
		Created: now, Modified: now, Destination: destination, TrackingToken: access.RandomSecret(lastmile.IDLength),
		State: lastmile.TaskAssigned, Worker: f.worker.ID, Container: lastmile.WorkerContainer(f.worker.ID),
	}
	ctx := t.Context()
	err = f.nodes[0].Store.Write(ctx, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveWorker(ctx, f.worker), w.SaveWhereabouts(ctx, f.org, f.worker.ID, lastmile.Whereabouts{OnDuty: true, LastSeen: now}),
			w.SaveSession(ctx, lastmile.Session{Hash: hex.EncodeToString(hash[:]), Organization: f.org, Worker: f.worker.ID, Created: now, Used: now}),
			w.SaveDestination(ctx, destination), w.SaveTask(ctx, f.task),
			w.MoveTasks(ctx, f.org, f.task.Container, store.Position{}, []lastmile.TaskID{f.task.ID}, nil, now),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stream opens an event stream at a node.
func stream(t *testing.T, node *app.App, path, authorization string) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+node.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s returned %d", path, response.StatusCode)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// awaitLine reads a stream up to a line that contains all the texts.
func awaitLine(t *testing.T, lines *bufio.Scanner, texts ...string) {
	t.Helper()
	for lines.Scan() {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(lines.Text(), text) }) {
			return
		}
	}
	t.Fatalf("the stream ended before %q: %v", texts, lines.Err())
}

// TestChangesReachOtherNodes makes changes at one node and follows them at
// another, which polls only once an hour.
func TestChangesReachOtherNodes(t *testing.T) {
	config := app.DefaultConfig()
	config.Listen, config.AdminListen, config.Data, config.Patience, config.Poll = "127.0.0.1:0", "", t.TempDir(), time.Minute, time.Hour
	config.Database = enginetest.Postgres(t)
	f := newFollowedTask(t, 2, config)
	for _, node := range f.nodes {
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := node.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	here, there := f.nodes[0], f.nodes[1]
	apptest.Until(t, "the nodes listen to each other", func() bool { return here.Hub.Live() && there.Hub.Live() })

	basic := func() string {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.SetBasicAuth(f.key, "")
		return r.Header.Get("Authorization")
	}()
	log, list, page := stream(t, there, "/api/v2/events", basic), stream(t, there, "/driver/v1/events", "Bearer "+f.token), stream(t, there, "/t/"+f.task.TrackingToken+"/events", "")
	moves := stream(t, there, "/api/v2/events?positions=1", basic)
	awaitLine(t, log, ": following")
	awaitLine(t, list, "data: ", string(f.task.ID))
	awaitLine(t, page, "data: ", `"assigned"`)
	took := map[string][]time.Duration{}
	measure := func(what string, change func() error, arrives func()) {
		t.Helper()
		begin := time.Now()
		if err := change(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		committed := time.Now()
		arrives()
		took[what] = append(took[what], time.Since(committed))
		if late := time.Since(begin); late > time.Minute {
			t.Errorf("%s took %v", what, late)
		}
		time.Sleep(60 * time.Millisecond) // longer than wake-ups are coalesced
	}
	who := f.who()
	admin := lastmile.Principal{Organization: f.org}
	measure("page, task started", func() error {
		_, err := here.Work.Start(t.Context(), who, f.task.ID, lastmile.Action{ID: "a1", At: app.Clock()})
		return err
	}, func() { awaitLine(t, page, "data: ", `"active"`) })
	awaitLine(t, log, "data: ", "taskStarted")
	for i := range 20 {
		at := lastmile.Point{Lon: -74, Lat: float64(4_050_000+i) / 1e5}
		measure("page, position", func() error {
			_, err := here.Tracking.Report(t.Context(), who, []lastmile.Position{{Location: at, At: app.Clock()}})
			return err
		}, func() { awaitLine(t, page, "data: ", fmt.Sprint(at.Lat)) })
		var task string
		measure("event log and list, task assigned", func() error {
			task = assign(t, here, f)
			return nil
		}, func() { awaitLine(t, log, "data: ", task) })
		awaitLine(t, list, "data: ", task)
		measure("list, task deleted", func() error { return here.Tasks.Delete(t.Context(), admin, lastmile.TaskID(task)) },
			func() {
				for {
					awaitLine(t, list, "data: ")
					if !strings.Contains(list.Text(), task) {
						return
					}
				}
			})
		awaitLine(t, log, "data: ", "taskDeleted")
	}
	awaitLine(t, moves, "data: ", string(f.worker.ID), "40.50019")
	// Changes made while the nodes do not listen are shown after the reconnect.
	db, err := pgx.Connect(t.Context(), config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	if _, err := db.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`); err != nil {
		t.Fatal(err)
	}
	apptest.Until(t, "the nodes notice the broken connections", func() bool { return !here.Hub.Live() && !there.Hub.Live() })
	task := assign(t, here, f)
	awaitLine(t, list, "data: ", task)
	awaitLine(t, log, "data: ", task)
	for what, all := range took {
		slices.Sort(all)
		t.Logf("%s: median %v, longest %v after the commit", what, all[len(all)/2].Round(time.Microsecond), all[len(all)-1].Round(time.Microsecond))
	}
}

// assign creates a task for the worker at a node.
func assign(t *testing.T, node *app.App, f *followedTask) string {
	t.Helper()
	in := lastmile.WorkerContainer(f.worker.ID)
	made, err := node.Tasks.Create(t.Context(), lastmile.Principal{Organization: f.org}, lastmile.TaskDraft{
		Destination: &lastmile.DestinationRef{ID: f.task.Destination.ID}, Recipients: &[]lastmile.RecipientRef{}, Container: &in,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(made.Task.ID)
}

// countingStore counts reads.
type countingStore struct {
	taskflow.PageStore
	reads atomic.Int64
}

func (c *countingStore) Read(ctx context.Context, fn func(taskflow.PageReader) error) error {
	c.reads.Add(1)
	return c.PageStore.Read(ctx, fn)
}

// streamRecorder records what a page receives.
type streamRecorder struct {
	mu     sync.Mutex
	header http.Header
	sent   bytes.Buffer
}

func (r *streamRecorder) Header() http.Header { return r.header }
func (r *streamRecorder) WriteHeader(int)     {}
func (r *streamRecorder) Flush()              {}

func (r *streamRecorder) SetReadDeadline(time.Time) error  { return nil }
func (r *streamRecorder) SetWriteDeadline(time.Time) error { return nil }

func (r *streamRecorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Write(p)
}

// take returns what was sent since the last call.
func (r *streamRecorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.sent.Reset()
	return r.sent.String()
}

// runHub runs the hub of a node until stop is called, which also stops the node. It waits for
// the goroutines of the group.
func runHub(t *testing.T, node *app.App) (ctx context.Context, group *sync.WaitGroup, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	group = &sync.WaitGroup{}
	group.Go(func() { node.Hub.Run(ctx) })
	return ctx, group, func() {
		cancel()
		group.Wait()
		if err := node.Stop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// TestIdlePageCostsNoQueries keeps a tracking page open for an hour. Updates that
// depend on the time alone need no query; each change of the task needs few.
func TestIdlePageCostsNoQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := app.DefaultConfig()
		config.Data, config.Patience = t.TempDir(), time.Minute
		f := newFollowedTask(t, 1, config)
		node := f.nodes[0]
		db := &countingStore{PageStore: node.Pages.Store}
		node.Pages.Store = db
		ctx, group, stop := runHub(t, node)
		defer stop()
		due := app.Clock().Add(30 * time.Minute)
		f.task.CompleteBefore = due
		if err := node.Store.Write(ctx, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, f.task) }); err != nil {
			t.Fatal(err)
		}
		page := &streamRecorder{header: http.Header{}}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/t/"+f.task.TrackingToken+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() { node.Handler().ServeHTTP(page, request) })

		time.Sleep(10 * time.Second)
		if got := page.take(); !strings.Contains(got, `"assigned"`) {
			t.Fatalf("the page begins with %q", got)
		}
		expect := func(what string, reads int64, texts ...string) {
			t.Helper()
			got := page.take()
			for _, text := range texts {
				if !strings.Contains(got, text) {
					t.Errorf("%s: %q was sent, want %q", what, got, text)
				}
			}
			if n := db.reads.Swap(0); n != reads {
				t.Errorf("%s: %d reads, want %d", what, n, reads)
			}
		}
		db.reads.Store(0)
		time.Sleep(20 * time.Minute)
		expect("idle", 0, ": still here")
		time.Sleep(40 * time.Minute)
		expect("late, as time passes", 0, "event: state", `"delayTime":1`)

		_, err = node.Work.Start(ctx, f.who(), f.task.ID, lastmile.Action{ID: "a1", At: app.Clock()})
		if err != nil {
			t.Fatal(err)
		}
		db.reads.Store(0) // ignore the reads of Start
		time.Sleep(time.Second)
		expect("started", 2, `"active"`) // the second read follows the worker as well
		report := func(lat float64) {
			t.Helper()
			_, err := node.Tracking.Report(ctx, f.who(), []lastmile.Position{{Location: lastmile.Point{Lon: -74, Lat: lat}, At: app.Clock()}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		report(40.5)
		expect("first position", 1, "40.5")
		report(40.5001)
		expect("moved", 1, "40.5001")
		if _, err := node.Tracking.RefreshDue(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("estimated", 1, "event: state")
		time.Sleep(9 * time.Minute)
		expect("the position is shown for ten minutes", 0)
		time.Sleep(2 * time.Minute)
		expect("then it is hidden", 0, "event: state")
	})
}

// TestIdleBoardHearsFromTheServer keeps the stream of a board open for an hour without
// news: a board that hears nothing for nine seconds says so.
func TestIdleBoardHearsFromTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := app.DefaultConfig()
		config.Data, config.Patience = t.TempDir(), time.Minute
		f := newFollowedTask(t, 1, config)
		node := f.nodes[0]
		ctx, group, stop := runHub(t, node)
		defer stop()
		board := &streamRecorder{header: http.Header{}}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/api/v2/events?lists=1&positions=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth(f.key, "")
		group.Go(func() { node.Handler().ServeHTTP(board, request) })
		for minute := range 60 {
			for range 8 { // a minute in steps of 7.5 seconds
				time.Sleep(7500 * time.Millisecond)
				if board.take() == "" {
					t.Fatalf("nothing was sent in minute %d", minute)
				}
			}
		}
	})
}
