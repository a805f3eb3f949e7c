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

// key is a text of the state, the same for the same state.
func (l lists) key() string {
	names := make([]string, 0, len(l))
	for name, tasks := range l {
		names = append(names, name+"="+strings.Join(tasks, ","))
	}
	slices.Sort(names)
	return strings.Join(names, ";")
}

// step is a call and what came of it: between the two times it took effect, all
// at once. apply does to a state what the call does; it says no when what was
// answered cannot be.
type step struct {
	begin, end int64
	text       string
	apply      func(lists) (lists, bool)
}

// linearize finds an order of steps in which each could have been answered as
// it was, and in which no step comes before one that had ended when it began.
// It returns how many steps of the longest attempt fit. It gives a history the
// benefit of the doubt that has too many orders to try them all.
func linearize(steps []step, start lists) (fit int, ok bool) {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.begin, b.begin) })
	l := linearizer{steps: steps, done: make([]bool, len(steps)), seen: map[string]bool{}}
	ok = l.search(start, 0, 0)
	return l.longest, ok
}

type linearizer struct {
	steps   []step
	done    []bool
	seen    map[string]bool // dead ends
	longest int
}

// maxDeadEnds is where a search ends without a result.
const maxDeadEnds = 100_000

// search goes on from a state, with so many steps done, all of the first so
// many among them.
func (l *linearizer) search(state lists, count, first int) bool {
	l.longest = max(l.longest, count)
	for first < len(l.steps) && l.done[first] {
		first++
	}
	if first == len(l.steps) {
		return true
	}
	// What may come next began before anything that is left had ended.
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
	// What ended first most likely came first.
	slices.SortFunc(next, func(a, b int) int { return cmp.Compare(l.steps[a].end, l.steps[b].end) })
	for _, i := range next {
		after, fits := l.steps[i].apply(state)
		if !fits {
			continue
		}
		l.done[i] = true
		if l.search(after, count+1, first) {
			return true
		}
		l.done[i] = false
	}
	l.seen[at] = true
	return false
}

// insert is a step that puts a task at an index of a container, from wherever
// it is, and was answered with a list.
func insert(begin, end int64, in string, index int, task string, answer ...string) step {
	return step{begin, end, fmt.Sprintf("put %s at %d of %s: %v", task, index, in, answer), func(before lists) (lists, bool) {
		after := before.without(task)
		at := min(index, len(after[in]))
		if index < 0 {
			at = len(after[in])
		}
		after[in] = slices.Insert(after[in], at, task)
		return after, slices.Equal(after[in], answer)
	}}
}

// look is a step that reads a container.
func look(begin, end int64, in string, answer ...string) step {
	return step{begin, end, fmt.Sprintf("read %s: %v", in, answer), func(before lists) (lists, bool) {
		return before, slices.Equal(before[in], answer)
	}}
}

// without is the state without some tasks.
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
		steps []step
		want  bool
	}{
		"one after the other":               {[]step{insert(1, 2, "a", -1, "3", "1", "2", "3"), look(3, 4, "a", "1", "2", "3"), look(3, 4, "b")}, true},
		"at the same time, in either order": {[]step{insert(1, 9, "a", 0, "3", "3", "2", "1"), insert(1, 9, "a", -1, "1", "2", "1")}, true},
		"both answers of one order":         {[]step{insert(1, 9, "a", 0, "3", "3", "1", "2"), insert(1, 9, "a", -1, "1", "3", "2", "1")}, true},
		"answers of two orders":             {[]step{insert(1, 9, "a", 0, "3", "3", "1", "2"), insert(1, 9, "a", -1, "1", "2", "1")}, false},
		"a read of what is no more":         {[]step{insert(1, 2, "a", -1, "1", "2", "1"), look(3, 4, "a", "1", "2")}, false},
		"a read of what is to come":         {[]step{look(1, 2, "a", "2", "1"), insert(3, 4, "a", -1, "1", "2", "1")}, false},
		"a lost update":                     {[]step{insert(1, 2, "a", -1, "1", "2", "1"), insert(3, 4, "b", 0, "2", "2", "3"), look(5, 6, "a", "2", "1")}, false},
		"a task in two containers":          {[]step{insert(1, 5, "b", -1, "1", "3", "1"), look(6, 7, "a", "1", "2")}, false},
		"halfway between two containers":    {[]step{insert(1, 9, "b", -1, "1", "3", "1"), look(2, 3, "a", "2"), look(4, 5, "b", "3")}, false},
		"nothing":                           {nil, true},
	} {
		if fit, ok := linearize(test.steps, start); ok != test.want {
			t.Errorf("%s: linearizable is %v, want %v; %d steps fit", name, ok, test.want, fit)
		}
	}
}
