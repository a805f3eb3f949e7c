package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// put moves tasks to a position in a container, like the use cases.
func put(ctx context.Context, w *sqlstore.Tx, in lastmile.ContainerRef, index int, ids ...lastmile.TaskID) error {
	if err := w.LockContainer(ctx, acme, in, now); err != nil {
		return err
	}
	tasks, err := w.TasksOf(ctx, acme, ids)
	if err != nil {
		return err
	}
	var moved []lastmile.Task
	for _, task := range tasks {
		if task.Container == in {
			continue
		}
		if _, err := task.Put(in, key, now); err != nil {
			return err
		}
		moved = append(moved, task)
	}
	list, err := w.Container(ctx, acme, in)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(list.Tasks, func(id lastmile.TaskID) bool { return slices.Contains(ids, id) })
	return w.MoveTasks(ctx, acme, in, store.PositionAt(index, others), ids, moved, now)
}

// testOrder moves tasks and compares the result with lists in memory.
func testOrder(t *testing.T, s *sqlstore.Store) {
	const tasks, moves = 12, 250
	ctx := t.Context()
	crew(t, s)
	random := rand.New(rand.NewPCG(5, 6))
	containers := []lastmile.ContainerRef{home, redTeam, annsWork, bobsWork}
	model := map[lastmile.ContainerRef][]lastmile.TaskID{}
	var all []lastmile.TaskID
	for i := range tasks {
		made := task(acme, fmt.Sprintf("t%dx", i), home, now)
		saveTasks(t, s, made)
		all, model[home] = append(all, made.ID), append(model[home], made.ID)
	}
	for move := range moves {
		in := containers[random.IntN(len(containers))]
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		moved := slices.Clone(all[:1+random.IntN(4)])
		for ref, list := range model {
			model[ref] = slices.DeleteFunc(list, func(id lastmile.TaskID) bool { return slices.Contains(moved, id) })
		}
		index := random.IntN(len(model[in])+3) - 1 // -1 and indexes after the end append
		at := min(index, len(model[in]))
		if index == lastmile.AtEnd {
			at = len(model[in])
		}
		model[in] = slices.Insert(model[in], at, moved...)
		write(t, s, func(w *sqlstore.Tx) error { return put(ctx, w, in, index, moved...) })
		for _, ref := range containers {
			if got := listOf(t, s, ref); !slices.Equal(got, model[ref]) {
				t.Fatalf("move %d of %v to %d of %v: %v has\n     %v\nwant %v", move, names(moved), index, in, ref, names(got), names(model[ref]))
			}
		}
	}
	for ref, list := range model {
		for _, id := range list {
			got := read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) { return r.Task(ctx, acme, id) })
			if got.Container != ref {
				t.Errorf("%s says that it is in %v, and is in %v", id, got.Container, ref)
			}
		}
	}
}

// testRoom inserts tasks at the same position repeatedly.
func testRoom(t *testing.T, s *sqlstore.Store) {
	const many = 200
	ctx := t.Context()
	crew(t, s)
	var ids []lastmile.TaskID
	write(t, s, func(w *sqlstore.Tx) error {
		ids = ids[:0]
		for i := range many {
			made := task(acme, fmt.Sprintf("t%dx", i), home, now)
			ids = append(ids, made.ID)
			if err := errors.Join(w.SaveDestination(ctx, made.Destination), w.SaveTask(ctx, made)); err != nil {
				return err
			}
		}
		return nil
	})
	for name, place := range map[string]func(i int) int{
		"behind the first": func(int) int { return 1 }, "before the last": func(i int) int { return i - 1 }, "in the middle": func(i int) int { return i / 2 },
	} {
		var model []lastmile.TaskID
		write(t, s, func(w *sqlstore.Tx) error {
			model = slices.Clone(ids[:2])
			if err := errors.Join(put(ctx, w, home, lastmile.AtEnd, ids...), put(ctx, w, annsWork, lastmile.AtEnd, ids[:2]...)); err != nil {
				return err
			}
			for i, id := range ids[2:] {
				model = slices.Insert(model, place(i+2), id)
				if err := put(ctx, w, annsWork, place(i+2), id); err != nil {
					return err
				}
			}
			return nil
		})
		if got := listOf(t, s, annsWork); !slices.Equal(got, model) {
			t.Errorf("%s: %s", name, difference(got, model))
		}
	}
	// Insert all of them at once between two neighbours with the closest ranks.
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(put(ctx, w, home, lastmile.AtEnd, ids...), put(ctx, w, bobsWork, lastmile.AtEnd, ids[:2]...), put(ctx, w, bobsWork, 1, ids[2:]...))
	})
	if got, want := listOf(t, s, bobsWork), slices.Concat(ids[:1], ids[2:], ids[1:2]); !slices.Equal(got, want) {
		t.Errorf("all at once: %s", difference(got, want))
	}
}

// testComesLast creates tasks in the organization's container, without moving them to a
// position, after others were moved to its end.
func testComesLast(t *testing.T, s *sqlstore.Store) {
	const many = 100
	ctx := t.Context()
	crew(t, s)
	var ids []lastmile.TaskID
	for i := range many {
		made := task(acme, fmt.Sprintf("t%dx", i), annsWork, now)
		saveTasks(t, s, made)
		ids = append(ids, made.ID)
	}
	write(t, s, func(w *sqlstore.Tx) error { return put(ctx, w, home, lastmile.AtEnd, ids...) })
	for i := range 3 {
		saveTasks(t, s, task(acme, fmt.Sprintf("new%dx", i), home, now))
		ids = append(ids, id[lastmile.TaskID](fmt.Sprintf("new%dx", i)))
		// Repeated insertions at the same position make room by changing ranks.
		for range 12 {
			moved := ids[2]
			write(t, s, func(w *sqlstore.Tx) error { return put(ctx, w, home, 1, moved) })
			ids = slices.Insert(slices.Delete(ids, 2, 3), 1, moved)
		}
	}
	if got := listOf(t, s, home); !slices.Equal(got, ids) {
		t.Error(difference(got, ids))
	}
}

func testActiveTask(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	crew(t, s)
	saveTasks(t, s, task(acme, "a", annsWork, now), task(acme, "b", annsWork, now), task(acme, "c", annsWork, now))
	check := func(active string, list ...string) {
		t.Helper()
		c := read(t, s, func(r *sqlstore.Tx) (lastmile.Container, error) { return r.Container(ctx, acme, annsWork) })
		w := read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) {
			return r.Worker(ctx, acme, id[lastmile.WorkerID]("ann"))
		})
		if got := names(c.Tasks); fmt.Sprint(names([]lastmile.TaskID{c.ActiveTask})) != "["+active+"]" || !slices.Equal(got, list) {
			t.Errorf("the container's active task is %v, its tasks are %v; want %s and %v", c.ActiveTask, got, active, list)
		}
		if w.ActiveTask != c.ActiveTask || !slices.Equal(w.Tasks, c.Tasks) {
			t.Errorf("the worker's active task is %v, the tasks are %v; the container's %v and %v", w.ActiveTask, w.Tasks, c.ActiveTask, c.Tasks)
		}
	}
	check("", "a", "b", "c")
	started := readTask(t, s, "b")
	if _, err := started.Start(nil, lastmile.Estimates{}, key, now); err != nil {
		t.Fatal(err)
	}
	saveTasks(t, s, started)
	check("b", "a", "c")
	write(t, s, func(w *sqlstore.Tx) error { return put(ctx, w, annsWork, 1, id[lastmile.TaskID]("a")) })
	check("b", "c", "a")
	if _, err := started.Complete(lastmile.Outcome{Success: true, At: now}, key); err != nil {
		t.Fatal(err)
	}
	saveTasks(t, s, started)
	check("", "c", "a")
}

func testContainers(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	crew(t, s)
	containers := func(org lastmile.OrganizationID) []lastmile.ContainerRef {
		return read(t, s, func(r *sqlstore.Tx) ([]lastmile.ContainerRef, error) { return r.Containers(ctx, org) })
	}
	if got := containers(acme); len(got) > 0 {
		t.Errorf("no container was changed, and there are %v", got)
	}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.LockContainer(ctx, acme, annsWork, now), w.LockContainer(ctx, acme, home, now), w.LockContainer(ctx, acme, annsWork, now))
	})
	if got := containers(acme); len(got) != 2 || !slices.Contains(got, annsWork) || !slices.Contains(got, home) {
		t.Errorf("got %v", got)
	}
	if got := containers(zenith); len(got) > 0 {
		t.Errorf("another organization has %v", got)
	}
	for _, step := range []struct{ at, want time.Duration }{{time.Second, time.Second}, {time.Second, time.Second}, {0, time.Second + time.Millisecond}, {time.Minute, time.Minute}} {
		write(t, s, func(w *sqlstore.Tx) error { return w.LockContainer(ctx, acme, annsWork, now.Add(step.at)) })
		got := read(t, s, func(r *sqlstore.Tx) (lastmile.Container, error) { return r.Container(ctx, acme, annsWork) })
		if want := now.Add(step.want); !got.Modified.Equal(want) {
			t.Errorf("a container that is locked %v later was modified at %v, want %v", step.at, got.Modified, want)
		}
	}
}

func testQueues(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	crew(t, s)
	ann, bob := lastmile.WorkerID(annsWork.Owner), lastmile.WorkerID(bobsWork.Owner)
	started := task(acme, "c", annsWork, now)
	started.State, started.Quantity, started.AdditionalQuantities = lastmile.TaskActive, 2.5, lastmile.Capacities{A: 1, B: 2, C: 3}
	saveTasks(t, s, task(acme, "a", annsWork, now), task(acme, "b", annsWork, now), started, task(acme, "d", bobsWork, now), task(acme, "e", home, now))
	place := started.Destination.Location
	on := func(ids ...lastmile.WorkerID) {
		write(t, s, func(w *sqlstore.Tx) error {
			for _, id := range []lastmile.WorkerID{ann, bob} {
				if err := w.SaveWhereabouts(ctx, acme, id, lastmile.Whereabouts{OnDuty: slices.Contains(ids, id), Location: &place}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	queues := func(org lastmile.OrganizationID) map[lastmile.WorkerID][]assignment.QueuedTask {
		return read(t, s, func(r *sqlstore.Tx) (map[lastmile.WorkerID][]assignment.QueuedTask, error) { return r.Queues(ctx, org) })
	}
	on(ann)
	want := []assignment.QueuedTask{
		{ID: started.ID, Location: place, Quantity: 2.5, AdditionalQuantities: started.AdditionalQuantities},
		{ID: id[lastmile.TaskID]("a"), Location: place},
		{ID: id[lastmile.TaskID]("b"), Location: place},
	}
	if got := queues(acme); len(got) != 1 || !slices.Equal(got[ann], want) {
		t.Errorf("got %+v", got)
	}
	on(ann, bob)
	if got := queues(acme); len(got) != 2 || len(got[bob]) != 1 {
		t.Errorf("got %+v", got)
	}
	on()
	if got := queues(acme); len(got)+len(queues(zenith)) != 0 {
		t.Errorf("got %+v", got)
	}
}

// testQueueOrder checks that a queue has the order of the list. Tasks with equal ranks are
// ordered by id.
func testQueueOrder(t *testing.T, s *sqlstore.Store) {
	const many = 250
	ctx := t.Context()
	crew(t, s)
	started := task(acme, "started", annsWork, now)
	started.State = lastmile.TaskActive
	tasks := []lastmile.Task{task(acme, "other", bobsWork, now)}
	for i := range many {
		tasks = append(tasks, task(acme, fmt.Sprintf("%c%dx", "aBcD"[i%4], i), annsWork, now))
	}
	saveTasks(t, s, append(tasks, started)...)
	write(t, s, func(w *sqlstore.Tx) error {
		for i, task := range tasks {
			// Several tasks have the same rank, in another order than they were saved in.
			if _, err := w.Conn().Exec(ctx, `UPDATE task SET rank = $3 WHERE org = $1 AND id = $2`, acme, task.ID, int64(1000-i%7)); err != nil {
				return err
			}
		}
		if _, err := w.Conn().Exec(ctx, `UPDATE task SET rank = NULL WHERE org = $1 AND id = $2`, acme, started.ID); err != nil {
			return err
		}
		for _, owner := range []string{annsWork.Owner, bobsWork.Owner} {
			if err := w.SaveWhereabouts(ctx, acme, lastmile.WorkerID(owner), lastmile.Whereabouts{OnDuty: true}); err != nil {
				return err
			}
		}
		return nil
	})
	queues := read(t, s, func(r *sqlstore.Tx) (map[lastmile.WorkerID][]assignment.QueuedTask, error) {
		return r.Queues(ctx, acme)
	})
	for _, of := range []lastmile.ContainerRef{annsWork, bobsWork} {
		var got []lastmile.TaskID
		for _, task := range queues[lastmile.WorkerID(of.Owner)] {
			got = append(got, task.ID)
		}
		want := listOf(t, s, of)
		if of == annsWork {
			want = append([]lastmile.TaskID{started.ID}, want...)
		}
		if !slices.Equal(got, want) {
			t.Error(difference(got, want))
		}
	}
	if n := len(queues[lastmile.WorkerID(annsWork.Owner)]); n != 1+many {
		t.Errorf("there are %d tasks", n)
	}
}

// testContainerWriters lets concurrent writers append tasks to one container. Each reads its
// task first.
func testContainerWriters(t *testing.T, s *sqlstore.Store) {
	const writers, each = 6, 12
	ctx := t.Context()
	crew(t, s)
	for i := range writers * each {
		saveTasks(t, s, task(acme, fmt.Sprintf("t%dx%dx", i%writers, i/writers), home, now))
	}
	var wg sync.WaitGroup
	failures := make(chan error, writers*each)
	for n := range writers {
		wg.Go(func() {
			for i := range each {
				failures <- s.Write(ctx, func(w *sqlstore.Tx) error {
					return put(ctx, w, annsWork, lastmile.AtEnd, id[lastmile.TaskID](fmt.Sprintf("t%dx%dx", n, i)))
				})
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := listOf(t, s, annsWork)
	if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(got) != writers*each || len(unique) != len(got) {
		t.Errorf("%d tasks, %d of them different; want %d", len(got), len(unique), writers*each)
	}
	for n := range writers {
		last := -1
		for i := range each {
			at := slices.Index(got, id[lastmile.TaskID](fmt.Sprintf("t%dx%dx", n, i)))
			if at < last {
				t.Errorf("what writer %d appended is in another order", n)
			}
			last = at
		}
	}
	if left := listOf(t, s, home); len(left) > 0 {
		t.Errorf("%v are in two containers", left)
	}
}
