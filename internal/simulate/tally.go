package simulate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// tally counts requests by route. Latencies are kept in buckets that increase
// by five percent, so that its size does not depend on the length of the run.
type tally struct {
	mu     sync.Mutex
	routes map[string]*routeTally
}

type routeTally struct {
	classes   [latencyClasses]int
	slowest   time.Duration
	responded int
	statuses  map[int]int // other than 200; 0 for no response
	why       string      // message of the last rejection
}

const (
	latencyClasses = 360 // 20 µs to 14 minutes
	latencyStep    = 1.05
	latencyLeast   = 20 * time.Microsecond
)

func newTally() *tally { return &tally{routes: map[string]*routeTally{}} }

// rejected records the message of a rejection.
func (t *tally) rejected(route, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.route(route).why = why
}

func (t *tally) route(name string) *routeTally {
	r := t.routes[name]
	if r == nil {
		r = &routeTally{statuses: map[int]int{}}
		t.routes[name] = r
	}
	return r
}

func (t *tally) responded(route string, status int, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.route(route)
	if status != 200 {
		r.statuses[status]++
	}
	if status == 0 {
		return
	}
	r.responded++
	r.classes[latencyClass(took)]++
	r.slowest = max(r.slowest, took)
}

func latencyClass(took time.Duration) int {
	if took <= latencyLeast {
		return 0
	}
	class := math.Log(float64(took)/float64(latencyLeast)) / math.Log(latencyStep)
	return min(int(math.Ceil(class)), latencyClasses-1)
}

// percentile returns the latency that the given part of the responses did not
// exceed.
func (r *routeTally) percentile(part float64) time.Duration {
	rank := int(math.Ceil(part * float64(r.responded)))
	for class, n := range r.classes {
		if rank -= n; rank <= 0 {
			longest := time.Duration(float64(latencyLeast) * math.Pow(latencyStep, float64(class)))
			return min(longest, r.slowest)
		}
	}
	return r.slowest
}

// Route is the statistics of one route.
type Route struct {
	Name      string      `json:"name"`
	Responses int         `json:"answered"`
	Lost      int         `json:"unanswered"`
	Rejected  map[int]int `json:"refused"` // by status
	Why       string      `json:"why"`     // message of the last rejection
	P50       Millis      `json:"p50"`
	P95       Millis      `json:"p95"`
	P99       Millis      `json:"p99"`
	Max       Millis      `json:"max"`
}

// Millis is a duration in milliseconds.
type Millis float64

func millis(d time.Duration) Millis { return Millis(math.Round(float64(d)/1e4) / 100) }

// report returns the routes, the busiest first.
func (t *tally) report() []Route {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Route, 0, len(t.routes))
	for name, r := range t.routes {
		others := maps.Clone(r.statuses)
		delete(others, 0)
		list = append(list, Route{
			Name: name, Responses: r.responded, Lost: r.statuses[0], Rejected: others, Why: r.why,
			P50: millis(r.percentile(0.5)), P95: millis(r.percentile(0.95)), P99: millis(r.percentile(0.99)), Max: millis(r.slowest),
		})
	}
	slices.SortFunc(list, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.Responses, a.Responses), cmp.Compare(a.Name, b.Name))
	})
	return list
}
