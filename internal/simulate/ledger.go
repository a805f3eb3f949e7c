package simulate

import (
	"fmt"
	"slices"
	"sync"
)

// ledger records what the server has acknowledged, and must still know in the
// end.
type ledger struct {
	mu       sync.Mutex
	discard  bool               // no final check: completed tasks are not recorded
	unended  map[string]bool    // open tasks of this run or earlier ones
	created  map[string]bool    // tasks
	ended    map[string]outcome // tasks
	tried    map[string]bool    // tasks that a phone tried to complete, whatever the response
	visited  map[string][]string
	seen     map[string]int // completions reported by the event stream
	broken   []string       // broken promises
	breaches int
	checked  int // number of tasks compared
	counts   counts
}

// outcome is a completion that the server acknowledged.
type outcome struct {
	worker  string
	success bool
	at      int64 // Unix ms
}

// counts are the totals of a run.
type counts struct {
	Created   int `json:"created"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Actions   int `json:"actions"`
	Resent    int `json:"resent"`
	CaughtUp  int `json:"caughtUp"`
	Abandoned int `json:"abandoned"`
	Positions int `json:"positions"`
	Accepted  int `json:"believed"`
}

// maxBroken is the maximum number of broken promises that are listed.
const maxBroken = 20

func newLedger(discard bool) *ledger {
	return &ledger{
		discard: discard, unended: map[string]bool{}, created: map[string]bool{}, ended: map[string]outcome{}, tried: map[string]bool{},
		visited: map[string][]string{}, seen: map[string]int{},
	}
}

// violation records a broken promise.
func (l *ledger) violation(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(format, args...)
}

func (l *ledger) note(format string, args ...any) {
	l.breaches++
	if len(l.broken) < maxBroken {
		l.broken = append(l.broken, fmt.Sprintf(format, args...))
	}
}

func (l *ledger) count(change func(*counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.counts)
}

// create records tasks that the server acknowledged.
func (l *ledger) create(tasks ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range tasks {
		if l.created[id] {
			l.note("task %s was created twice", id)
		}
		l.created[id], l.unended[id] = true, true
		l.counts.Created++
	}
}

// inherit records a task of an earlier run.
func (l *ledger) inherit(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unended[task] = true
}

// try records that a phone is about to report something about a task.
func (l *ledger) try(task, verb string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if verb == verbComplete {
		l.tried[task] = true
	}
}

// visit records a step that the server acknowledged.
func (l *ledger) visit(task, verb string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.visited[task] = append(l.visited[task], verb)
}

// end records how a task ended.
func (l *ledger) end(task string, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.ended[task]; ok {
		l.note("task %s was completed twice: by worker %s and by worker %s", task, before.worker, o.worker)
	}
	l.ended[task] = o
	delete(l.unended, task)
	if o.success {
		l.counts.Completed++
	} else {
		l.counts.Failed++
	}
	if l.discard {
		delete(l.created, task)
		delete(l.ended, task)
		delete(l.tried, task)
		delete(l.visited, task)
	}
}

// endedTasks returns the tasks that ended.
func (l *ledger) endedTasks() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]bool{}
	for id := range l.ended {
		all[id] = true
	}
	return all
}

// completionReported records a completion reported by the event stream.
func (l *ledger) completionReported(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[task]++
}

// open returns the number of open tasks.
func (l *ledger) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unended)
}

// unreported returns how many completions the event stream has not reported yet.
func (l *ledger) unreported() (missing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for task := range l.ended {
		if l.seen[task] == 0 {
			missing++
		}
	}
	return missing
}

// tasks returns the ids of all tasks that the server must know.
func (l *ledger) tasks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for id := range l.created {
		all = append(all, id)
	}
	for id := range l.ended {
		if !l.created[id] { // from an earlier run
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// eventNames maps actions to their names in completion details.
var eventNames = map[string]string{verbStart: "start", verbArrive: "arrival", verbDepart: "departure"}

// compare compares a task with the ledger.
func (l *ledger) compare(t shownTask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checked++
	o, ended := l.ended[t.ID]
	switch {
	case ended && t.State != stateCompleted:
		l.note("task %s was completed by worker %s, but is in state %d", t.ID, o.worker, t.State)
	case !ended && !l.tried[t.ID] && t.State == stateCompleted:
		l.note("task %s is completed, but no completion was acknowledged", t.ID)
	case ended && (t.Completion.Success != o.success || t.Completion.Time != o.at || t.Worker != o.worker):
		l.note("task %s was completed by worker %s at %d with success %v, but the server returns %s, %d and %v",
			t.ID, o.worker, o.at, o.success, t.Worker, t.Completion.Time, t.Completion.Success)
	}
	steps := map[string]int{}
	for _, e := range t.Completion.Events {
		steps[e.Name]++
	}
	for name, n := range steps {
		if n > 1 {
			l.note("task %s has %d events %s, which no phone sent twice", t.ID, n, name)
		}
	}
	for _, verb := range l.visited[t.ID] {
		if name := eventNames[verb]; name != "" && steps[name] == 0 {
			l.note("task %s lacks the event %s, which was acknowledged", t.ID, name)
		}
	}
}

// compareEvents compares the event stream with the ledger.
func (l *ledger) compareEvents() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for task := range l.ended {
		if n := l.seen[task]; n != 1 {
			l.note("the event stream reported %d times that task %s ended", n, task)
		}
	}
}
