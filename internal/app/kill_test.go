package app_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // for tamper

	"dray/internal/lastmile"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

// TestKill is the short form of TestTortureKill.
func TestKill(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKill(t, 10, nodes, s) })
}

// onStorages runs a test with one node on SQLite and with three on PostgreSQL.
func onStorages(t *testing.T, run func(t *testing.T, nodes int, s nodeStorage)) {
	t.Run("sqlite", func(t *testing.T) { run(t, 1, nodeStorage{data: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) {
		run(t, 3, nodeStorage{data: t.TempDir(), database: enginetest.Postgres(t)})
	})
}

// testKill kills nodes repeatedly and compares all acknowledged writes with what
// is stored.
func testKill(t *testing.T, kills, nodes int, storage nodeStorage) {
	c := newCampaign(t, nodes, storage)
	testFaults(t, c, kills, c.kill)
}

// testFaults injects faults and checks what is stored after each of them.
func testFaults(t *testing.T, c *campaign, faults int, inject func(*testing.T)) {
	t.Helper()
	for round := range faults {
		inject(t)
		c.report(t, c.check(c.recent()))
		if round%25 == 24 {
			t.Logf("after %d faults: %d writes acknowledged", round+1, c.acked.Load())
		}
	}
	c.settle()
	c.report(t, c.check(c.records()))
	c.report(t, c.checkOnce(t))
	checked := fsck(t, c)
	for _, n := range c.nodes {
		n.stop(t)
	}
	if c.acked.Load() < int64(10*faults) || c.resent.Load() == 0 || c.replayed.Load() == 0 {
		t.Errorf("too few writes to prove anything: %d acknowledged, %d retried, %d replayed", c.acked.Load(), c.resent.Load(), c.replayed.Load())
	}
	slices.Sort(c.started)
	t.Logf("%d faults: %d writes acknowledged, %d retried, %d replayed; %d records, %s; starts: median %v, longest %v",
		faults, c.acked.Load(), c.resent.Load(), c.replayed.Load(), len(c.records()), checked,
		c.started[len(c.started)/2].Round(time.Millisecond), c.started[len(c.started)-1].Round(time.Millisecond))
}

// fsck runs `dray fsck` beside the nodes; it must find no problems.
func fsck(t *testing.T, c *campaign) string {
	t.Helper()
	out := command(t, c.program, c.storage, "fsck", "--json")
	var report struct {
		Records  int
		Problems []string
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Problems) > 0 {
		t.Fatalf("fsck: %v %s", err, out)
	}
	return fmt.Sprintf("fsck read %d and found no problems", report.Records)
}

// TestKillCheckNotices tampers with the database to show that the checks of
// TestKill can fail.
func TestKillCheckNotices(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) {
		c := newCampaign(t, nodes, s)
		c.kill(t)
		c.settle()
		c.report(t, c.check(c.records()))
		c.report(t, c.checkOnce(t))

		victims := map[string]*record{}
		for _, r := range c.records() {
			victims[r.kind] = r
		}
		deleted, rewritten := victims["destinations"], victims["recipients"]
		tamper(t, s, fmt.Sprintf(`DELETE FROM destination WHERE id = '%s'`, deleted.id))
		if got := c.check(c.records()); len(got) != 1 || !strings.HasPrefix(got[0], "lost: destinations "+deleted.id) {
			t.Errorf("a deleted row is reported as %q", got)
		}
		if got := c.checkOnce(t); len(got) != 2 || !strings.HasPrefix(got[0], "missing: destinations "+deleted.id) || !strings.HasPrefix(got[1], "miscounted: ") {
			t.Errorf("a deleted row is counted as %q", got)
		}

		rewrite(t, c, rewritten, func(r *lastmile.Recipient) { r.Notes = "as it was before" })
		if got := c.check([]*record{rewritten}); len(got) != 1 || !strings.HasPrefix(got[0], "changed: notes of recipients "+rewritten.id) {
			t.Errorf("an undone change is reported as %q", got)
		}
		rewrite(t, c, rewritten, func(r *lastmile.Recipient) { r.ID, r.Phone = "doubled0doubled0doubled0", "+12125550000" })
		doubled := slices.IndexFunc(c.checkOnce(t), func(problem string) bool {
			return strings.HasPrefix(problem, "duplicate: recipients with key "+rewritten.key)
		})
		if doubled < 0 {
			t.Error("a duplicate row is not reported")
		}
	})
}

// tamper changes the database without the program.
func tamper(t *testing.T, s nodeStorage, statement string) {
	t.Helper()
	ctx := t.Context()
	var err error
	if s.database != "" {
		var db *pgx.Conn
		if db, err = pgx.Connect(ctx, s.database); err == nil {
			_, err = db.Exec(ctx, statement)
			err = errors.Join(err, db.Close(ctx))
		}
	} else {
		var db *sql.DB
		if db, err = sql.Open("sqlite", s.data+"/dray.db?_pragma=busy_timeout(5000)"); err == nil {
			_, err = db.ExecContext(ctx, statement)
			err = errors.Join(err, db.Close())
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// rewrite changes a stored recipient without changing the history.
func rewrite(t *testing.T, c *campaign, r *record, change func(*lastmile.Recipient)) {
	t.Helper()
	withStore(t, c.storage, func(db *sqlstore.Store) error {
		return db.Write(t.Context(), func(w *sqlstore.Tx) error {
			found, err := w.Recipient(t.Context(), lastmile.OrganizationID(c.org), lastmile.RecipientID(r.id))
			if err != nil {
				return err
			}
			change(&found)
			return w.SaveRecipient(t.Context(), found)
		})
	})
}

// TestGracefulStop stops a node under load: it responds to every request that it
// accepted, and exits in time with code 0.
func TestGracefulStop(t *testing.T) {
	program := thisProgram(t)
	onStorages(t, func(t *testing.T, _ int, s nodeStorage) {
		_, key := newOrganization(t, program, s)
		n := startNode(t, program, s)
		var (
			group           sync.WaitGroup
			responded, late atomic.Int64
			stopping        atomic.Bool
		)
		for i := range clientCount {
			client := &persistentClient{address: n.address, key: key}
			group.Go(func() {
				defer client.close()
				for step := 0; ; step++ {
					status, err := client.create(i*100_000 + step)
					switch {
					case err == nil && status == http.StatusOK:
						responded.Add(1)
						if stopping.Load() {
							late.Add(1)
						}
					case errors.Is(err, errNotAccepted) && stopping.Load():
						return // the node no longer listens
					default:
						t.Errorf("client %d, request %d: %d %v", i, step, status, err)
						return
					}
				}
			})
		}
		waitForLoad(500*time.Millisecond, func() int { return int(responded.Load()) })
		stopping.Store(true)
		took := n.stop(t)
		group.Wait()
		if late.Load() == 0 {
			t.Error("no request was sent during the stop")
		}
		t.Logf("%d requests succeeded, %d of them after SIGTERM; exited after %v", responded.Load(), late.Load(), took.Round(time.Millisecond))
	})
}

// errNotAccepted means that a connection failed, or was closed before the server read
// anything: a request sent over it was never accepted.
var errNotAccepted = errors.New("the connection was not accepted")

// persistentClient keeps its connection for as long as the server does. It never
// retries.
type persistentClient struct {
	address, key string
	conn         net.Conn
	in           *bufio.Reader
	used         bool // a response has arrived over the connection
}

func (c *persistentClient) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

func (c *persistentClient) create(n int) (int, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errNotAccepted, err)
		}
		c.conn, c.in, c.used = conn, bufio.NewReader(conn), false
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+c.address+"/api/v2/destinations", strings.NewReader(destinationBody(n)))
	if err != nil {
		return 0, err
	}
	request.SetBasicAuth(c.key, "")
	var encoded bytes.Buffer
	request.Write(&encoded) //nolint:errcheck // a buffer takes everything
	_, err = c.conn.Write(encoded.Bytes())
	if err == nil {
		_, err = c.in.Peek(1)
	}
	if err != nil {
		if !c.used && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)) {
			err = fmt.Errorf("%w: %w", errNotAccepted, err)
		}
		return 0, err
	}
	c.used = true
	reply, err := http.ReadResponse(c.in, request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
	if reply.Close {
		c.close()
	}
	return reply.StatusCode, err
}
