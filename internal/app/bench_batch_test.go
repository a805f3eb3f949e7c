package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// BenchmarkBatch compares a batch of 500 tasks with 500 single creations, one
// after the other and by 32 clients at once. The time of the batch ends when a
// client that polls every five milliseconds sees that it succeeded.
func BenchmarkBatch(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		var n atomic.Int64
		next := func() string { return batchedTask(int(n.Add(1))) }
		var batch, one, many []time.Duration
		for b.Loop() {
			batch = append(batch, p.timeBatch(b, next))
			one = append(one, p.timeSingles(b, 1, next))
			many = append(many, p.timeSingles(b, benchClients, next))
		}
		median := func(all []time.Duration) float64 {
			slices.Sort(all)
			return all[len(all)/2].Seconds()
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(1000*median(batch), "ms/batch")
		b.ReportMetric(1000*median(one), "ms/one-by-one")
		b.ReportMetric(1000*median(many), "ms/32-clients")
		b.ReportMetric(median(one)/median(batch), "ratio")
		b.ReportMetric(median(many)/median(batch), "ratio-32-clients")
	})
}

// batchedTask returns a task with a new destination and a new recipient.
func batchedTask(n int) string {
	return fmt.Sprintf(`{"destination":%s,"recipients":[%s],"notes":"Ring twice.","quantity":2,"serviceTime":4,"completeBefore":4000000000000}`,
		destinationBody(n), recipientBody(n))
}

// timeBatch returns how long a batch takes.
func (p *platform) timeBatch(b *testing.B, next func() string) time.Duration {
	b.Helper()
	tasks := make([]string, lastmile.MaxBatch)
	for i := range tasks {
		tasks[i] = next()
	}
	body := `{"tasks":[` + strings.Join(tasks, ",") + `]}`
	begin := time.Now()
	var job struct{ JobID string }
	if err := json.Unmarshal(p.call(b, http.MethodPost, "/tasks/batch-async", body), &job); err != nil {
		b.Fatal(err)
	}
	for {
		reply := string(p.call(b, http.MethodGet, "/tasks/batch/"+job.JobID, "")[:40])
		switch {
		case strings.Contains(reply, `"succeeded"`):
			return time.Since(begin)
		case !strings.Contains(reply, `"pending"`) && !strings.Contains(reply, `"inProgress"`):
			b.Fatalf("the batch ended with %s", reply)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// timeSingles returns how long it takes to create as many tasks one by one.
func (p *platform) timeSingles(b *testing.B, clients int, next func() string) time.Duration {
	b.Helper()
	var (
		left  atomic.Int64
		group sync.WaitGroup
	)
	left.Store(lastmile.MaxBatch)
	begin := time.Now()
	for range clients {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				p.call(b, http.MethodPost, "/tasks", next())
			}
		})
	}
	group.Wait()
	return time.Since(begin)
}

// batchClient keeps a connection open for each client.
var batchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}

// call sends a request with a net/http client.
func (p *platform) call(b *testing.B, method, path, body string) []byte {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, "http://"+p.address+"/api/v2"+path, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return nil
	}
	request.SetBasicAuth(p.key, "")
	response, err := batchClient.Do(request)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Errorf("%s %s: %s %s %v", method, path, response.Status, reply, err)
	}
	return reply
}
