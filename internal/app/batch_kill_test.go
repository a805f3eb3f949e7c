package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// TestKilledBatches is the short form of TestTortureBatches.
func TestKilledBatches(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledBatches(t, 5, nodes, s) })
}

// batchRig submits batches to nodes that are killed while they process them.
type batchRig struct {
	program  program
	storage  nodeStorage
	org, key string
	nodes    []*node
}

// invalidItems are the indexes of items that cannot be created.
var invalidItems = []int{3, 250, 499}

// testKilledBatches kills nodes repeatedly in the middle of batches of 500 tasks.
// In the end each item must be one task or one error, and each batch must have
// ended once.
func testKilledBatches(t *testing.T, kills, nodes int, storage nodeStorage) {
	rig := &batchRig{program: thisProgram(t), storage: storage}
	rig.org, rig.key = newOrganization(t, rig.program, storage)
	for range nodes {
		rig.nodes = append(rig.nodes, startNode(t, rig.program, storage))
	}
	var (
		jobs   []string
		middle int // kills while a batch was in progress
	)
	for killed := 0; killed < kills; {
		name := fmt.Sprintf("batch %d", len(jobs))
		job := ""
		for done := false; !done; {
			victim := rand.IntN(len(rig.nodes))
			kill := time.AfterFunc(rand.N(200*time.Millisecond), func() { rig.nodes[victim].kill(t) })
			job = rig.submit(t, victim, name, name)
			<-rig.nodes[victim].ended
			kill.Stop()
			killed++
			rig.nodes[victim] = startNode(t, rig.program, storage)
			if job == "" {
				job = rig.submit(t, victim, name, name) // it may have been accepted; the idempotency key makes this safe
			}
			report := rig.report(t, victim, job)
			if report.Status == "inProgress" {
				middle++
			}
			done = killed >= kills || rand.IntN(3) > 0
		}
		rig.check(t, name, job)
		again := rig.submit(t, 0, name, name+" again") // its import keys are in use
		jobs = append(jobs, job, again)
		if report := rig.await(t, name+" again", again); report.TasksCreated != 0 {
			t.Errorf("%s created %d tasks when it was sent again", name, report.TasksCreated)
		}
	}
	for _, n := range rig.nodes {
		n.stop(t)
	}
	rig.checkEvents(t, jobs)
	t.Logf("%d kills, %d of them in the middle of one of %d batches", kills, middle, len(jobs))
}

// submit sends a batch and returns its job id, or "" if the node was killed before
// it responded. Sending the same name and idempotency key again is a retry.
func (rig *batchRig) submit(t *testing.T, node int, name, key string) string {
	t.Helper()
	items := make([]string, lastmile.MaxBatch)
	for i := range items {
		items[i] = fmt.Sprintf(`{"destination":{"address":{"number":"%d","street":"S","city":"X","country":"Y"},"location":[1,2]},"recipients":[{"name":"R","phone":%q}],`+
			`"notes":"%d","metadata":[{"name":"batch","type":"string","value":%q}],"importKey":"%s, %d"}`, i, benchPhone(i), i, name, name, i)
		if slices.Contains(invalidItems, i) {
			items[i] = `{"notes":"a task without a destination"}`
		}
	}
	status, response, err := rig.call(t, node, http.MethodPost, "/tasks/batch-async", `{"tasks":[`+strings.Join(items, ",")+`]}`, key)
	if err != nil {
		return ""
	}
	var job struct{ JobID string }
	if err := json.Unmarshal(response, &job); err != nil || status != http.StatusOK {
		t.Fatalf("submit a batch: %d %s", status, response)
	}
	return job.JobID
}

// batchReport is the part of a report that is checked.
type batchReport struct {
	Status                                    string
	TasksReceived, TasksCreated, TasksErrored int
	Errors                                    []struct{ ErrorCode int }
	NewTasks                                  []struct{ ID, Notes string }
}

func (rig *batchRig) report(t *testing.T, node int, job string) (report batchReport) {
	t.Helper()
	status, response, err := rig.call(t, node, http.MethodGet, "/tasks/batch/"+job, "", "")
	if err == nil {
		err = json.Unmarshal(response, &report)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("report of the accepted batch %s: %d %v %s", job, status, err, response)
	}
	return report
}

// await waits for the end of a batch.
func (rig *batchRig) await(t *testing.T, name, job string) (report batchReport) {
	t.Helper()
	for deadline := time.Now().Add(longTimeout); ; time.Sleep(10 * time.Millisecond) {
		report = rig.report(t, 0, job)
		if report.Status != "pending" && report.Status != "inProgress" {
			return report
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %s after %v\n%s", name, report.Status, longTimeout, rig.nodes[0].logged)
		}
	}
}

// check waits for the end of a batch and fails the test unless each item has
// exactly one result.
func (rig *batchRig) check(t *testing.T, name, job string) {
	t.Helper()
	report := rig.await(t, name, job)
	good := lastmile.MaxBatch - len(invalidItems)
	if report.Status != "completedWithErrors" || report.TasksReceived != lastmile.MaxBatch || report.TasksCreated != good ||
		report.TasksErrored != len(invalidItems) || len(report.Errors) != len(invalidItems) || len(report.NewTasks) != good {
		t.Errorf("%s ended as %s with %d created and %d rejected of %d, and lists %d and %d", name, report.Status, report.TasksCreated,
			report.TasksErrored, report.TasksReceived, len(report.NewTasks), len(report.Errors))
	}
	status, response, err := rig.call(t, 0, http.MethodPost, "/tasks/metadata", fmt.Sprintf(`[{"name":"batch","type":"string","value":%q}]`, name), "")
	var found []struct{ ID, Notes string }
	if err == nil {
		err = json.Unmarshal(response, &found)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("find the tasks: %d %v %s", status, err, response)
	}
	items := map[string]int{}
	for _, task := range found {
		items[task.Notes]++
	}
	for i := range lastmile.MaxBatch {
		want := 1
		if slices.Contains(invalidItems, i) {
			want = 0
		}
		if got := items[fmt.Sprint(i)]; got != want {
			t.Errorf("item %d of %s exists %d times, want %d", i, name, got, want)
		}
	}
	if len(found) != good {
		t.Errorf("%s created %d tasks, want %d", name, len(found), good)
	}
}

// checkEvents fails the test unless there is one event for the end of each batch
// and no other.
func (rig *batchRig) checkEvents(t *testing.T, jobs []string) {
	t.Helper()
	counts := map[string]int{} // by trigger and job
	withStore(t, rig.storage, func(s *sqlstore.Store) error {
		return s.Write(t.Context(), func(w *sqlstore.Tx) error {
			clear(counts)
			const most = 10_000
			_, err := w.NumberEvents(t.Context(), most)
			events, readErr := w.EventsAfter(t.Context(), lastmile.OrganizationID(rig.org), 0, most, 0)
			for _, e := range events {
				var body struct{ TriggerName, JobID string }
				err = errors.Join(err, json.Unmarshal(e.Body, &body))
				counts[body.TriggerName+" "+body.JobID]++
			}
			return errors.Join(err, readErr)
		})
	})
	for _, job := range jobs {
		if n := counts["taskBatchCreateJobCompleted "+job]; n != 1 {
			t.Errorf("the end of batch %s has %d events, want 1", job, n)
		}
	}
	if len(counts) != len(jobs) {
		t.Errorf("%d different events of %d batches: %v", len(counts), len(jobs), counts)
	}
}

// call sends a request to a node and retries while the node is overloaded.
func (rig *batchRig) call(t *testing.T, node int, method, path, body, key string) (status int, response []byte, err error) {
	t.Helper()
	for deadline := time.Now().Add(longTimeout); ; time.Sleep(10 * time.Millisecond) {
		status, response, err = rig.nodes[node].call(t, rig.key, method, path, body, key)
		if err != nil || status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return status, response, err
		}
	}
}
