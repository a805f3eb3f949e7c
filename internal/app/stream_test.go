package app_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// follower reads the event stream of an organization at one node.
type follower struct {
	lines *bufio.Scanner
	close func()
}

// followAt opens the stream after an event.
func followAt(t *testing.T, address, key string, after int) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v2/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(key, "")
	request.Header.Set("Last-Event-ID", strconv.Itoa(after))
	response, err := http.DefaultClient.Do(request) //nolint:bodyclose // close does
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("open the stream: %v %v", response, err)
	}
	f := &follower{lines: bufio.NewScanner(response.Body), close: func() {
		cancel()
		response.Body.Close()
	}}
	f.lines.Buffer(nil, 1<<20)
	return f
}

// next returns the number and the task of the next event, or false at the end of
// the stream.
func (f *follower) next(t *testing.T) (number int, task string, ok bool) {
	t.Helper()
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			number, _ = strconv.Atoi(value)
		case "data":
			var body struct{ TaskID string }
			if err := json.Unmarshal([]byte(value), &body); err != nil {
				t.Fatalf("%v: %s", err, value)
			}
			return number, body.TaskID, true
		}
	}
	return 0, "", false
}

const taskJSON = `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[]}`

// createTask creates a task at a node.
func createTask(t *testing.T, address, key string) string {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/api/v2/tasks", strings.NewReader(taskJSON))
	if err != nil {
		t.Error(err)
		return ""
	}
	request.SetBasicAuth(key, "")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close()
	var task struct{ ID string }
	if err := json.NewDecoder(response.Body).Decode(&task); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("create a task: %s %v", response.Status, err)
	}
	return task.ID
}

// TestStreamAcrossNodes creates tasks at all nodes at once, while a client follows
// their events and reconnects to random nodes. It sees each event once, numbered
// without gaps.
func TestStreamAcrossNodes(t *testing.T) {
	program := thisProgram(t)
	onStorages(t, func(t *testing.T, count int, s nodeStorage) {
		_, key := newOrganization(t, program, s)
		nodes := make([]*node, count)
		for i := range nodes {
			nodes[i] = startNode(t, program, s)
		}
		const creators, tasksEach = 6, 100
		var (
			group   sync.WaitGroup
			mu      sync.Mutex
			created = map[string]bool{}
		)
		for i := range creators {
			group.Go(func() {
				for range tasksEach {
					task := createTask(t, nodes[i%count].address, key)
					mu.Lock()
					created[task] = true
					mu.Unlock()
				}
			})
		}
		seen := map[string]int{}
		for last := 0; last < creators*tasksEach; {
			f := followAt(t, nodes[rand.IntN(count)].address, key, last)
			for range 1 + rand.IntN(40) {
				number, task, ok := f.next(t)
				if !ok {
					t.Fatalf("the stream ended after %d", last)
				}
				if number != last+1 || seen[task] > 0 {
					t.Fatalf("after %d came %d of task %s, which was seen as %d", last, number, task, seen[task])
				}
				last, seen[task] = number, number
				if last == creators*tasksEach {
					break
				}
			}
			f.close()
		}
		group.Wait()
		for task := range created {
			if seen[task] == 0 {
				t.Errorf("task %s has no event", task)
			}
		}
		if len(created) != creators*tasksEach {
			t.Errorf("%d tasks were created", len(created))
		}
	})
}

// TestStopEndsStreams stops a node with open streams: they end cleanly, and
// continue at the next node after the last event that was seen.
func TestStopEndsStreams(t *testing.T) {
	program := thisProgram(t)
	onStorages(t, func(t *testing.T, _ int, s nodeStorage) {
		_, key := newOrganization(t, program, s)
		first := startNode(t, program, s)
		var followers []*follower
		for range 20 {
			f := followAt(t, first.address, key, 0)
			defer f.close()
			followers = append(followers, f)
		}
		for range 5 {
			createTask(t, first.address, key)
		}
		for _, f := range followers {
			for want := 1; want <= 5; want++ {
				if number, _, ok := f.next(t); !ok || number != want {
					t.Fatalf("event %d came as %d, %v", want, number, ok)
				}
			}
		}
		t.Logf("stopped after %v", first.stop(t).Round(time.Millisecond))
		for _, f := range followers {
			if number, _, ok := f.next(t); ok || f.lines.Err() != nil {
				t.Errorf("after the stop came event %d and %v", number, f.lines.Err())
			}
		}
		second := startNode(t, program, s)
		task := createTask(t, second.address, key)
		f := followAt(t, second.address, key, 5)
		defer f.close()
		if number, got, ok := f.next(t); !ok || number != 6 || got != task {
			t.Errorf("after 5 came %d of %s, %v", number, got, ok)
		}
		second.stop(t)
	})
}

// TestSecretsAreSealed searches everything stored for secrets.
func TestSecretsAreSealed(t *testing.T) {
	program := thisProgram(t)
	onStorages(t, func(t *testing.T, _ int, s nodeStorage) {
		out := command(t, program, s, "org", "create", "--name", "Findable", "--country", "US", "--timezone", "UTC", "--json")
		var created struct {
			Organization          struct{ ID string }
			APIKey, WebhookSecret string
		}
		if err := json.Unmarshal(out, &created); err != nil {
			t.Fatal(err)
		}
		rotated := strings.TrimSpace(string(command(t, program, s, "webhook", "secret", "--org", created.Organization.ID, "--rotate")))
		stored := everythingStored(t, s)
		if !strings.Contains(stored, "Findable") {
			t.Fatal("the search does not even find the organization's name")
		}
		for what, secret := range map[string]string{"first": created.WebhookSecret, "second": rotated} {
			raw, err := hex.DecodeString(secret)
			if err != nil || len(raw) != 64 {
				t.Fatalf("%q is not a secret: %v", secret, err)
			}
			if strings.Contains(stored, secret) || strings.Contains(stored, string(raw)) || strings.Contains(stored, string(raw[:16])) {
				t.Errorf("the %s webhook secret can be read in the database", what)
			}
		}
		if strings.Contains(stored, created.APIKey) {
			t.Error("the API key can be read in the database")
		}
	})
}

// everythingStored returns all bytes of a database except the master key.
func everythingStored(t *testing.T, s nodeStorage) string {
	t.Helper()
	var all strings.Builder
	if s.database == "" {
		err := filepath.WalkDir(s.data, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "master.key" {
				return err
			}
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all.String()
	}
	ctx := t.Context()
	db, err := pgx.Connect(ctx, s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	rows, err := db.Query(ctx, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)
	tables, err2 := pgx.CollectRows(rows, pgx.RowTo[string])
	if err := errors.Join(err, err2); err != nil || len(tables) == 0 {
		t.Fatalf("%d tables: %v", len(tables), err)
	}
	for _, table := range tables {
		if err := dump(ctx, db, table, &all); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// dump writes all values of a table; binary values as raw bytes.
func dump(ctx context.Context, db *pgx.Conn, table string, out io.Writer) error {
	rows, err := db.Query(ctx, `SELECT * FROM `+pgx.Identifier{table}.Sanitize())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		for _, value := range values {
			if raw, ok := value.([]byte); ok {
				value = string(raw)
			}
			fmt.Fprintln(out, value)
		}
	}
	return rows.Err()
}
