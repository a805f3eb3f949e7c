package storetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// testLists creates tasks of all kinds and compares many lists, page by page, with the
// expected ones.
func testLists(t *testing.T, s *sqlstore.Store) {
	const lists = 400
	crew(t, s)
	random := rand.New(rand.NewPCG(7, 8))
	all := manyTasks(random, 120)
	for org, tasks := range map[lastmile.OrganizationID][]lastmile.Task{acme: all, zenith: {task(zenith, "theirs", lastmile.OrganizationContainer(zenith), now)}} {
		write(t, s, func(w *sqlstore.Tx) error {
			return w.SaveDestination(t.Context(), destination(org, "place"+string(org[:1])))
		})
		write(t, s, func(w *sqlstore.Tx) error {
			for _, made := range tasks {
				if err := w.SaveTask(t.Context(), made); err != nil {
					return err
				}
			}
			return nil
		})
	}
	slices.SortFunc(all, func(a, b lastmile.Task) int { return cmpTasks(a, b) })
	found := 0
	for range lists {
		f := anyFilter(random, all)
		var want []lastmile.TaskID
		for _, made := range all {
			if chosen(made, f) {
				want = append(want, made.ID)
			}
		}
		found += len(want)
		var got []lastmile.TaskID
		for f.Limit = 1 + random.IntN(40); ; f.After = got[len(got)-1] {
			page, err := s.ShowTasks(t.Context(), acme, f)
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			for _, shown := range page {
				got = append(got, shown.ID)
			}
			if len(page) < f.Limit || len(got) > len(all) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v:\n got %v\nwant %v", f, names(got), names(want))
		}
	}
	if found < lists {
		t.Errorf("%d tasks in %d lists: they are nearly all empty", found, lists)
	}
}

func cmpTasks(a, b lastmile.Task) int {
	if order := a.Created.Compare(b.Created); order != 0 {
		return order
	}
	return slices.Compare([]byte(a.ID), []byte(b.ID))
}

// manyTasks returns tasks in all states and containers, at only a few different times. The
// completed ones were open for up to five years.
func manyTasks(random *rand.Rand, n int) []lastmile.Task {
	entry := lastmile.MetadataEntry{Name: "a", Type: "boolean", Visibility: []string{"api"}, Value: true}
	var all []lastmile.Task
	for i := range n {
		in := []lastmile.ContainerRef{home, home, redTeam, annsWork, annsWork, bobsWork}[random.IntN(6)]
		made := task(acme, fmt.Sprintf("t%dx", i), in, now.Add(time.Duration(random.IntN(12))*time.Hour))
		made.Pickup = random.IntN(2) == 0
		if made.State == lastmile.TaskAssigned {
			switch random.IntN(4) {
			case 0:
				made.State = lastmile.TaskActive
			case 1, 2:
				open := []time.Duration{0, time.Second, 59_999 * time.Millisecond, time.Minute, 5 * time.Minute, time.Hour, 3 * time.Hour, 26 * time.Hour, 5 * 365 * 24 * time.Hour}
				made.State, made.Container = lastmile.TaskCompleted, lastmile.ContainerRef{}
				made.Completion.At = made.Created.Add(open[random.IntN(len(open))])
				if random.IntN(4) == 0 {
					made.Created = made.Completion.At.Add(-open[random.IntN(len(open))])
				}
			}
		}
		if random.IntN(2) == 0 {
			made.CompleteAfter = now.Add(time.Duration(random.IntN(6)) * time.Hour)
			made.CompleteBefore = made.CompleteAfter.Add(time.Hour)
		}
		if i > 2 && random.IntN(3) == 0 {
			made.Dependencies = []lastmile.TaskID{all[0].ID}
			if random.IntN(2) == 0 {
				made.Dependencies = append(made.Dependencies, all[1].ID)
			}
		}
		if random.IntN(3) == 0 {
			made.Metadata = lastmile.Metadata{entry}
		}
		made.Modified = made.Created
		all = append(all, made)
	}
	return all
}

// anyFilter returns a random filter. Half of its times are exactly those of tasks.
func anyFilter(random *rand.Rand, all []lastmile.Task) (f store.TaskFilter) {
	at := func() time.Time {
		if made := all[random.IntN(len(all))]; random.IntN(2) == 0 {
			if !made.Completion.At.IsZero() {
				return made.Completion.At
			}
			return made.Created
		}
		return now.Add(time.Duration(random.IntN(14*60)) * time.Minute)
	}
	some := func() bool { return random.IntN(4) == 0 }
	if random.IntN(5) > 0 {
		f.From = at()
	}
	if random.IntN(3) == 0 {
		f.To = at()
	}
	if some() {
		f.From = time.UnixMilli(0)
	}
	if some() {
		for range 1 + random.IntN(3) {
			f.States = append(f.States, lastmile.TaskState(random.IntN(4)))
		}
	}
	if some() {
		f.Worker = []lastmile.WorkerID{lastmile.WorkerID(annsWork.Owner), lastmile.WorkerID(bobsWork.Owner), "missing"}[random.IntN(3)]
	}
	if some() {
		for range 1 + random.IntN(3) {
			f.Containers = append(f.Containers, []string{string(acme), redTeam.Owner, annsWork.Owner, string(zenith)}[random.IntN(4)])
		}
	}
	if some() {
		f.Dependencies = []lastmile.TaskID{all[0].ID, all[1].ID}[:1+random.IntN(2)]
	}
	if some() {
		f.CompleteBefore = now.Add(time.Duration(1+random.IntN(6)) * time.Hour)
	}
	if some() {
		f.CompleteAfter = now.Add(time.Duration(random.IntN(6)) * time.Hour)
	}
	if some() {
		f.Pickup = new(random.IntN(2) == 0)
	}
	if some() {
		f.Metadata = lastmile.Metadata{{Name: "a", Type: "boolean", Value: true}}
	}
	f.Unfinished = some()
	return f
}

// chosen reports whether a filter selects a task.
func chosen(made lastmile.Task, f store.TaskFilter) bool {
	at := made.Created
	if made.State == lastmile.TaskCompleted {
		at = made.Completion.At
	}
	switch {
	case !f.From.IsZero() && at.Before(f.From), !f.To.IsZero() && !at.Before(f.To):
	case len(f.States) > 0 && !slices.Contains(f.States, made.State):
	case f.Worker != "" && made.Worker != f.Worker:
	case len(f.Containers) > 0 && (made.Container.Owner == "" || !slices.Contains(f.Containers, made.Container.Owner)):
	case slices.ContainsFunc(f.Dependencies, func(id lastmile.TaskID) bool { return !slices.Contains(made.Dependencies, id) }):
	case !f.CompleteBefore.IsZero() && (made.CompleteBefore.IsZero() || made.CompleteBefore.After(f.CompleteBefore)):
	case !f.CompleteAfter.IsZero() && (made.CompleteAfter.IsZero() || made.CompleteAfter.Before(f.CompleteAfter)):
	case f.Pickup != nil && *f.Pickup != made.Pickup:
	case f.Unfinished && made.State == lastmile.TaskCompleted:
	case len(f.Metadata) > 0 && len(made.Metadata) == 0:
	default:
		return true
	}
	return false
}

// testPaging reads a list page by page while others write. Tasks that exist from the
// beginning to the end are in it exactly once.
func testPaging(t *testing.T, s *sqlstore.Store) {
	const there, size = 100, 7
	ctx := t.Context()
	var ids []lastmile.TaskID
	for i := range there {
		made := task(acme, fmt.Sprintf("t%dx", i), home, now.Add(time.Duration(i/3)*time.Millisecond))
		saveTasks(t, s, made)
		ids = append(ids, made.ID)
	}
	listing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		for i := 0; listing.Err() == nil; i++ {
			made := task(acme, fmt.Sprintf("new%dx", i), home, now.Add(time.Duration(i%40)*time.Millisecond))
			if err := s.Write(ctx, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, made) }); err != nil {
				failed = err
				return
			}
		}
	})
	seen := map[lastmile.TaskID]int{}
	gone := map[lastmile.TaskID]bool{}
	f := store.TaskFilter{From: now, Limit: size}
	for pages := 0; ; pages++ {
		page, err := s.ShowTasks(ctx, acme, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range page {
			seen[shown.ID]++
		}
		if len(page) < size || pages > 10_000 {
			break
		}
		f.After = page[size-1].ID
		if pages%2 == 0 { // the task after which the next page begins
			gone[f.After] = true
			write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTask(ctx, acme, f.After) })
		}
		if pages == 30 {
			stop() // or else the list would never end
		}
	}
	stop()
	wg.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	for _, id := range ids {
		if seen[id] != 1 && !gone[id] {
			t.Errorf("%s was listed %d times", id, seen[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if seen[id] > 1 {
			t.Errorf("%s was listed %d times", id, seen[id])
		}
	}
	for name, test := range map[string]struct {
		org   lastmile.OrganizationID
		after string
		want  lastmile.Code
	}{
		"a task that never was":       {acme, id[string]("never"), lastmile.CodeNotFound},
		"what is no id":               {acme, "short", lastmile.CodeNotFound},
		"another organization's task": {zenith, string(ids[there-1]), lastmile.CodeOutsideScope},
	} {
		_, err := s.ShowTasks(ctx, test.org, store.TaskFilter{From: now, After: lastmile.TaskID(test.after)})
		if code(err) != test.want && !gone[lastmile.TaskID(test.after)] {
			t.Errorf("after %s: %v, want code %v", name, err, test.want)
		}
	}
}
