package simulate

import (
	"fmt"
	"slices"
	"sync"
)

// ledger is the book of what the server has acknowledged: what it must still
// know in the end.
type ledger struct {
	mu       sync.Mutex
	forget   bool               // nobody will compare: what ended is not kept
	unended  map[string]bool    // tasks that are to be done, made in this run or before
	created  map[string]bool    // tasks
	ended    map[string]outcome // tasks
	tried    map[string]bool    // tasks that a phone asked to end, answered or not
	visited  map[string][]string
	seen     map[string]int // ends of tasks that the event stream told of
	broken   []string       // promises
	breaches int
	checked  int // tasks compared in the end
	counts   counts
}

// outcome is how a phone ended a task and the server said yes.
type outcome struct {
	worker  string
	success bool
	at      int64 // Unix ms
}

// counts are what a run amounts to.
type counts struct {
	Created   int `json:"created"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Actions   int `json:"actions"`
	Resent    int `json:"resent"`
	CaughtUp  int `json:"caughtUp"`
	Abandoned int `json:"abandoned"`
	Positions int `json:"positions"`
	Believed  int `json:"believed"`
}

// maxBroken is how many broken promises are told one by one.
const maxBroken = 20

func newLedger(forget bool) *ledger {
	return &ledger{
		forget: forget, unended: map[string]bool{}, created: map[string]bool{}, ended: map[string]outcome{}, tried: map[string]bool{},
		visited: map[string][]string{}, seen: map[string]int{},
	}
}

// breach notes a broken promise.
func (l *ledger) breach(format string, args ...any) {
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

// create notes tasks that the server says it has made.
func (l *ledger) create(tasks ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range tasks {
		if l.created[id] {
			l.note("task %s was made twice", id)
		}
		l.created[id], l.unended[id] = true, true
		l.counts.Created++
	}
}

// inherit notes a task that was made before this run.
func (l *ledger) inherit(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unended[task] = true
}

// try notes that a phone is about to report something of a task.
func (l *ledger) try(task, verb string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if verb == verbComplete {
		l.tried[task] = true
	}
}

// visit notes a step that the server has acknowledged.
func (l *ledger) visit(task, verb string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.visited[task] = append(l.visited[task], verb)
}

// end notes how a task ended.
func (l *ledger) end(task string, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.ended[task]; ok {
		l.note("task %s was ended twice: by worker %s and by worker %s", task, before.worker, o.worker)
	}
	l.ended[task] = o
	delete(l.unended, task)
	if o.success {
		l.counts.Completed++
	} else {
		l.counts.Failed++
	}
	if l.forget {
		delete(l.created, task)
		delete(l.ended, task)
		delete(l.tried, task)
		delete(l.visited, task)
	}
}

// tell notes an end of a task that the event stream told of.
func (l *ledger) tell(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[task]++
}

// open is how many tasks are to be done.
func (l *ledger) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unended)
}

// untold is how many ends of tasks the event stream has not told of yet.
func (l *ledger) untold() (missing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for task := range l.ended {
		if l.seen[task] == 0 {
			missing++
		}
	}
	return missing
}

// tasks lists everything that the server must know.
func (l *ledger) tasks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for id := range l.created {
		all = append(all, id)
	}
	for id := range l.ended {
		if !l.created[id] { // made before this run
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// eventNames are what the steps of a worker are called in a task's completion
// details.
var eventNames = map[string]string{verbStart: "start", verbArrive: "arrival", verbDepart: "departure"}

// compare holds a task as the server shows it against the book.
func (l *ledger) compare(t shownTask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checked++
	o, ended := l.ended[t.ID]
	switch {
	case ended && t.State != stateCompleted:
		l.note("task %s was completed by worker %s, and is in state %d", t.ID, o.worker, t.State)
	case !ended && !l.tried[t.ID] && t.State == stateCompleted:
		l.note("task %s is completed, and no phone was told so", t.ID)
	case ended && (t.Completion.Success != o.success || t.Completion.Time != o.at || t.Worker != o.worker):
		l.note("task %s was ended by worker %s at %d with success %v, and the server says %s, %d and %v",
			t.ID, o.worker, o.at, o.success, t.Worker, t.Completion.Time, t.Completion.Success)
	}
	steps := map[string]int{}
	for _, e := range t.Completion.Events {
		steps[e.Name]++
	}
	for name, n := range steps {
		if n > 1 {
			l.note("task %s has %d times the event %s, which no phone did twice", t.ID, n, name)
		}
	}
	for _, verb := range l.visited[t.ID] {
		if name := eventNames[verb]; name != "" && steps[name] == 0 {
			l.note("task %s has no event %s, which was acknowledged", t.ID, name)
		}
	}
}

// compareEvents holds what the event stream told against the book.
func (l *ledger) compareEvents() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for task := range l.ended {
		if n := l.seen[task]; n != 1 {
			l.note("the event stream told %d times that task %s ended", n, task)
		}
	}
}
