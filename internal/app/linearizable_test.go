package app_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lists is the state of some containers: the tasks of each, in order.
type lists map[string][]string

// key returns a string that is the same for equal states.
func (l lists) key() string {
	names := make([]string, 0, len(l))
	for name, tasks := range l {
		names = append(names, name+"="+strings.Join(tasks, ","))
	}
	slices.Sort(names)
	return strings.Join(names, ";")
}

// step is a call and its response. It took effect atomically between begin and
// end. apply returns the states that may follow from a state; none if the call
// could not have got its response in that state.
type step struct {
	begin, end int64
	text       string
	creates    string // id of the task it creates, if any
	apply      func(before lists, late tasks) []lists
}

// tasks are tasks that were created while a step ran, which the step need not
// have seen. With concurrent transactions, tasks that it appends to the
// organization's list may come before them although it took effect later.
type tasks map[string]bool

// lateFor returns the tasks that were created while a step ran.
func lateFor(s step, steps []step) tasks {
	late := tasks{}
	for _, other := range steps {
		if other.creates != "" && other.end > s.begin {
			late[other.creates] = true
		}
	}
	return late
}

// linearize searches for an order of the steps that explains all responses and in
// which no step comes before one that had ended when it began. It returns how many
// steps the longest attempt explains. It accepts a history that has too many
// orders to try them all. If strict, every step sees all tasks.
func linearize(steps []step, start lists, strict bool) (fit int, ok bool) {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.begin, b.begin) })
	l := linearizer{steps: steps, late: make([]tasks, len(steps)), done: make([]bool, len(steps)), seen: map[string]bool{}}
	for i, s := range steps {
		if !strict {
			l.late[i] = lateFor(s, steps)
		}
	}
	ok = l.search(start, 0, 0)
	return l.longest, ok
}

type linearizer struct {
	steps   []step
	late    []tasks
	done    []bool
	seen    map[string]bool // dead ends
	longest int
}

// maxDeadEnds is the maximum number of dead ends explored before a search gives up.
const maxDeadEnds = 100_000

// search continues from a state after count steps, which include all steps before
// index first.
func (l *linearizer) search(state lists, count, first int) bool {
	l.longest = max(l.longest, count)
	for first < len(l.steps) && l.done[first] {
		first++
	}
	if first == len(l.steps) {
		return true
	}
	// The next step must have begun before any remaining step had ended.
	horizon := l.steps[first].end
	for i := first; i < len(l.steps) && l.steps[i].begin <= horizon; i++ {
		if !l.done[i] {
			horizon = min(horizon, l.steps[i].end)
		}
	}
	var window strings.Builder
	fmt.Fprint(&window, first, ":")
	var next []int
	for i := first; i < len(l.steps) && l.steps[i].begin <= horizon; i++ {
		if l.done[i] {
			fmt.Fprint(&window, i, ",")
		} else {
			next = append(next, i)
		}
	}
	at := window.String() + state.key()
	if l.seen[at] {
		return false
	}
	if len(l.seen) > maxDeadEnds {
		return true
	}
	// The step that ended first most likely came first.
	slices.SortFunc(next, func(a, b int) int { return cmp.Compare(l.steps[a].end, l.steps[b].end) })
	for _, i := range next {
		l.done[i] = true
		for _, after := range l.steps[i].apply(state, l.late[i]) {
			if l.search(after, count+1, first) {
				return true
			}
		}
		l.done[i] = false
	}
	l.seen[at] = true
	return false
}

// insert is a step that moves a task to an index of a container; the response was
// the container's list.
func insert(begin, end int64, in string, index int, task string, reply ...string) step {
	text := fmt.Sprintf("put %s at %d of %s: %v", task, index, in, reply)
	return step{begin: begin, end: end, text: text, apply: func(before lists, late tasks) []lists {
		return before.without(task).put(in, late, func(list []string) ([]string, bool) {
			at := min(index, len(list))
			if index < 0 {
				at = len(list)
			}
			list = slices.Insert(list, at, task)
			return list, slices.Equal(list, reply)
		})
	}}
}

// put returns the possible states after a step changes one list. Of the late tasks
// at its end the step may have seen all, the first few or none.
func (l lists) put(in string, late tasks, change func(list []string) (changed []string, ok bool)) (all []lists) {
	list := l[in]
	for seen := len(list); ; seen-- {
		if changed, ok := change(slices.Clone(list[:seen])); ok {
			after := l.without()
			after[in] = slices.Concat(changed, list[seen:])
			all = append(all, after)
		}
		if seen == 0 || !late[list[seen-1]] {
			return all
		}
	}
}

// create is a step that creates a task at the end of a list.
func create(begin, end int64, in, task string) step {
	return step{begin: begin, end: end, text: "create " + task, creates: task, apply: func(before lists, _ tasks) []lists {
		return before.put(in, nil, func(list []string) ([]string, bool) { return append(list, task), true })
	}}
}

// read is a step that reads a container.
func read(begin, end int64, in string, reply ...string) step {
	return step{begin: begin, end: end, text: fmt.Sprintf("read %s: %v", in, reply), apply: func(before lists, _ tasks) []lists {
		if !slices.Equal(before[in], reply) {
			return nil
		}
		return []lists{before}
	}}
}

// without returns the state without the tasks.
func (l lists) without(tasks ...string) lists {
	after := lists{}
	for name, list := range l {
		after[name] = slices.DeleteFunc(slices.Clone(list), func(task string) bool { return slices.Contains(tasks, task) })
	}
	return after
}

func TestLinearizer(t *testing.T) {
	start := lists{"a": {"1", "2"}, "b": {"3"}}
	for name, test := range map[string]struct {
		steps         []step
		want, relaxed bool
	}{
		"one after the other":               {[]step{insert(1, 2, "a", -1, "3", "1", "2", "3"), read(3, 4, "a", "1", "2", "3"), read(3, 4, "b")}, true, true},
		"at the same time, in either order": {[]step{insert(1, 9, "a", 0, "3", "3", "2", "1"), insert(1, 9, "a", -1, "1", "2", "1")}, true, true},
		"responses of one order":            {[]step{insert(1, 9, "a", 0, "3", "3", "1", "2"), insert(1, 9, "a", -1, "1", "3", "2", "1")}, true, true},
		"responses of two orders":           {[]step{insert(1, 9, "a", 0, "3", "3", "1", "2"), insert(1, 9, "a", -1, "1", "2", "1")}, false, false},
		"a stale read":                      {[]step{insert(1, 2, "a", -1, "1", "2", "1"), read(3, 4, "a", "1", "2")}, false, false},
		"a read of the future":              {[]step{read(1, 2, "a", "2", "1"), insert(3, 4, "a", -1, "1", "2", "1")}, false, false},
		"a lost update":                     {[]step{insert(1, 2, "a", -1, "1", "2", "1"), insert(3, 4, "b", 0, "2", "2", "3"), read(5, 6, "a", "2", "1")}, false, false},
		"a task in two containers":          {[]step{insert(1, 5, "b", -1, "1", "3", "1"), read(6, 7, "a", "1", "2")}, false, false},
		"a task in no container":            {[]step{insert(1, 9, "b", -1, "1", "3", "1"), read(2, 3, "a", "2"), read(4, 5, "b", "3")}, false, false},
		"no steps":                          {nil, true, true},
		"a task created during the step, listed after it": {[]step{
			create(1, 3, "a", "9"), read(4, 5, "b", "3"), insert(2, 9, "a", -1, "3", "1", "2", "3"), read(10, 11, "a", "1", "2", "3", "9"),
		}, false, true},
		"a task created before the step, listed after it": {[]step{
			create(1, 2, "a", "9"), read(4, 5, "b", "3"), insert(3, 9, "a", -1, "3", "1", "2", "3"), read(10, 11, "a", "1", "2", "3", "9"),
		}, false, false},
		"a task that was read first, listed after it": {[]step{
			create(1, 3, "a", "9"), read(4, 5, "a", "1", "2", "9"), insert(6, 9, "a", -1, "3", "1", "2", "3", "9"),
		}, false, false},
	} {
		for strict, want := range map[bool]bool{true: test.want, false: test.relaxed} {
			if fit, ok := linearize(test.steps, start, strict); ok != want {
				t.Errorf("%s: linearizable is %v, want %v; %d steps fit", name, ok, want, fit)
			}
		}
	}
}
