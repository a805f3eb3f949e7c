package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// drain takes everything that waits, in order.
func drain(q *Queue[string]) (order []string) {
	for {
		operation, _, ok := q.Next(time.Hour, "")
		if !ok {
			return order
		}
		order = append(order, operation)
	}
}

func TestQueueServesTheCallerThatUsedLeast(t *testing.T) {
	var q Queue[string]
	now := time.Unix(1_000_000, 0)
	if got := drain(&q); got != nil {
		t.Errorf("an empty queue held %v", got)
	}
	for _, operation := range []string{"a1", "b1", "a2", "c1", "b2"} {
		q.Add(operation[:1], operation)
	}
	if q.Len() != 5 || q.LenOf("a") != 2 || q.LenOf("unknown") != 0 {
		t.Errorf("%d wait, %d of a", q.Len(), q.LenOf("a"))
	}
	if got, want := drain(&q), []string{"a1", "b1", "a2", "c1", "b2"}; !slices.Equal(got, want) {
		t.Errorf("callers that used nothing: %v, want them as they came", got)
	}
	q.Used("a", 50*time.Millisecond, now)
	q.Used("b", time.Millisecond, now)
	for _, operation := range []string{"a1", "a2", "b1", "c1"} {
		q.Add(operation[:1], operation)
	}
	if got, want := drain(&q), []string{"c1", "b1", "a1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if q.Len() != 0 || q.LenOf("a") != 0 {
		t.Errorf("%d are left, %d of a", q.Len(), q.LenOf("a"))
	}
}

// TestQueueSharesTime has one caller with long operations and one with short ones
// that wait all the time: each gets half of the time.
func TestQueueSharesTime(t *testing.T) {
	var q Queue[string]
	now := time.Unix(1_000_000, 0)
	took := map[string]time.Duration{"long": 80 * time.Millisecond, "short": time.Millisecond}
	used := map[string]time.Duration{}
	for name := range took {
		q.Add(name, name)
	}
	for now.Before(time.Unix(1_000_010, 0)) {
		name, caller, _ := q.Next(time.Hour, "")
		now = now.Add(took[name])
		used[name] += took[name]
		q.Used(caller, took[name], now)
		q.Add(name, name)
	}
	for name, d := range used {
		if d < 4500*time.Millisecond || d > 5500*time.Millisecond {
			t.Errorf("%s operations ran for %v of 10s", name, d)
		}
	}
}

// TestQueueExpectsLongOperations has a caller with long and short operations: that some
// are short does not mean that the next one is.
func TestQueueExpectsLongOperations(t *testing.T) {
	var q Queue[string]
	now := time.Unix(1_000_000, 0)
	q.Used("a", 80*time.Millisecond, now)
	for range 10 {
		q.Used("a", time.Millisecond, now)
	}
	q.Add("a", "a1")
	q.Add("a", "a2")
	if _, _, ok := q.Next(79*time.Millisecond, "b"); ok || q.Len() != 2 {
		t.Error("an operation that takes too long was returned")
	}
	if operation, _, ok := q.Next(79*time.Millisecond, "a"); !ok || operation != "a1" {
		t.Error("a caller cannot wait for its own operation")
	}
	q.Used("a", 0, now.Add(2*halfLife))
	if operation, caller, ok := q.Next(20*time.Millisecond, "b"); !ok || operation != "a2" || caller != "a" {
		t.Error("long after a long operation another was expected to be long")
	}
}

func TestQueueForgives(t *testing.T) {
	for name, later := range map[string]time.Duration{"after a while": time.Minute, "when the clock was set back": -time.Hour} {
		var q Queue[string]
		now := time.Unix(1_000_000, 0)
		for i := range 1000 {
			q.Used(fmt.Sprint(i), time.Second, now)
		}
		for range 40 {
			now = now.Add(later)
			q.Used("a", 0, now)
		}
		if len(q.callers) > 1 {
			t.Errorf("%s, %d callers are kept", name, len(q.callers))
		}
	}
}

// TestQueueDoesNotPreferNewCallers has twelve new callers with many operations begin next to
// one that has used the queue before: it waits for a few operations of each, not until they have
// used as much as it has.
func TestQueueDoesNotPreferNewCallers(t *testing.T) {
	var q Queue[string]
	now := time.Unix(1_000_000, 0)
	run := func() (caller string) {
		_, caller, _ = q.Next(time.Hour, "")
		now = now.Add(5 * time.Millisecond)
		q.Used(caller, 5*time.Millisecond, now)
		return caller
	}
	for range 100 {
		q.Add("known", "")
		run()
	}
	for i := range 12 {
		for range 50 {
			q.Add(fmt.Sprint("new ", i), "")
		}
	}
	for range 10 {
		q.Add("known", "")
		waited := 0
		for run() != "known" {
			waited++
		}
		if waited > 4*12 {
			t.Errorf("it waited for %d operations of 12 other callers", waited)
		}
	}
}

// TestQueueDoesNotPreferNewCallersOneAfterAnother has new callers begin while the ones before
// them go on, each with an operation at a time.
func TestQueueDoesNotPreferNewCallersOneAfterAnother(t *testing.T) {
	const callers = 30
	var q Queue[string]
	now := time.Unix(1_000_000, 0)
	run := func() (caller string) {
		_, caller, _ = q.Next(time.Hour, "")
		now = now.Add(5 * time.Millisecond)
		q.Used(caller, 5*time.Millisecond, now)
		q.Add(caller, "")
		return caller
	}
	q.Add("known", "")
	for range 600 {
		run()
	}
	waited := 0
	for i := range 10 * callers {
		if i < callers {
			q.Add(fmt.Sprint("new ", i), "")
		}
		if waited++; run() == "known" {
			waited = 0
		}
		if waited > 4*callers {
			t.Fatalf("it has waited for %d operations of %d other callers", waited, callers)
		}
	}
}
