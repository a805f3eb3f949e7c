package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

const (
	// mostTogether is the maximum number of tasks that one statement shows.
	mostTogether = 32
	// mostReading is the maximum number of such statements of an organization at a time.
	mostReading = 2
)

// taskReads combines reads of the tasks of an organization. On PostgreSQL, a statement for
// several tasks costs little more than one for a single task. A read does not wait for others
// to arrive, only while statements run that began before it.
type taskReads struct {
	mu     sync.Mutex
	queues map[lastmile.OrganizationID]*readQueue
}

// readQueue has the reads of an organization.
type readQueue struct {
	waiting []*taskRead // whose turn has not come
	running int         // number of reads whose turn has come
}

// taskRead is a task to read.
type taskRead struct {
	id   string
	doc  []byte // nil if the statement has not found the task
	err  error
	turn chan struct{} // closed when the read runs a statement, also for others that wait
	done chan struct{} // closed when doc and err are set
}

// readAll reads tasks of an organization with one statement. It leaves out those that it does
// not find.
type readAll func(ctx context.Context, org lastmile.OrganizationID, ids []string) (docs map[string][]byte, err error)

// read returns the response for a task, or nil if run has not found it. run may be called with
// the ids of other reads too, and continues if ctx ends.
func (t *taskReads) read(ctx context.Context, org lastmile.OrganizationID, id string, run readAll) ([]byte, error) {
	own := &taskRead{id: id, turn: make(chan struct{}), done: make(chan struct{})}
	t.enter(org, own)
	select {
	case <-own.turn:
	case <-own.done:
		return own.doc, own.err
	case <-ctx.Done():
		t.leave(org, own)
		return nil, ctx.Err()
	}
	batch := append(t.take(org), own)
	docs, err := map[string][]byte(nil), fmt.Errorf("read tasks: %w", context.Canceled) // in case run panics
	defer func() {
		for _, r := range batch {
			r.doc, r.err = docs[r.id], err
			close(r.done)
		}
		t.next(org)
	}()
	ids := make([]string, len(batch))
	for i, r := range batch {
		ids[i] = r.id
	}
	docs, err = run(context.WithoutCancel(ctx), org, ids)
	return docs[id], err
}

// enter gives a read its turn, or makes it wait if enough statements run.
func (t *taskReads) enter(org lastmile.OrganizationID, r *taskRead) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[org]
	if q == nil {
		if t.queues == nil {
			t.queues = map[lastmile.OrganizationID]*readQueue{}
		}
		q = &readQueue{}
		t.queues[org] = q
	}
	if q.running < mostReading {
		q.running++
		close(r.turn)
		return
	}
	q.waiting = append(q.waiting, r)
}

// take returns the reads that have waited longest, to be run with one whose turn it is.
func (t *taskReads) take(org lastmile.OrganizationID) []*taskRead {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[org]
	n := min(len(q.waiting), mostTogether-1)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// next ends the turn of a read.
func (t *taskReads) next(org lastmile.OrganizationID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[org]
	if len(q.waiting) > 0 {
		close(q.waiting[0].turn)
		q.waiting = slices.Delete(q.waiting, 0, 1)
		return
	}
	if q.running--; q.running == 0 {
		delete(t.queues, org)
	}
}

// leave removes a read that has been given up.
func (t *taskReads) leave(org lastmile.OrganizationID, r *taskRead) {
	t.mu.Lock()
	if q := t.queues[org]; q != nil {
		if i := slices.Index(q.waiting, r); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			t.mu.Unlock()
			return
		}
	}
	t.mu.Unlock()
	select {
	case <-r.turn: // it came at the same time
		t.next(org)
	default: // another read runs it
	}
}

// showTogether is a readAll. It also leaves out tasks that have another destination than
// cached.
func (s *Store) showTogether(ctx context.Context, org lastmile.OrganizationID, ids []string) (docs map[string][]byte, err error) {
	whole := false
	known := make(map[string]cachedTask, len(ids))
	for _, id := range ids {
		known[id] = s.tasks.find(taskKey{org, id})
		whole = whole || known[id].destination == ""
	}
	docs = make(map[string][]byte, len(ids))
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		query, args := showSeveral(org, ids, whole)
		found, err := c.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		var row shownRow
		for now := s.now(); found.Next(); {
			if err := row.scan(found, whole); err != nil {
				return err
			}
			of := known[string(row.id)]
			if whole {
				of = cachedTask{}
			}
			if doc := s.keepShown(&row, org, of, engine.Revision{}, now); doc != nil {
				docs[string(row.id)] = doc
			}
		}
		return found.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read %d tasks: %w", len(ids), err)
	}
	return docs, nil
}

// showSeveral returns the statement that reads tasks, and its arguments. The number of tasks
// is rounded up to a power of two, because each statement is prepared; the last one is read
// once all the same.
func showSeveral(org lastmile.OrganizationID, ids []string, whole bool) (query string, args []any) {
	n := 1
	for n < len(ids) {
		n *= 2
	}
	args = make([]any, 1, 1+n)
	args[0] = string(org)
	for i := range n {
		args = append(args, ids[min(i, len(ids)-1)])
	}
	if whole {
		return showWholeTask + tests[n], args
	}
	return showTaskAtKnown + tests[n], args
}

// tests are tests for one of n tasks, by n.
var tests = func() map[int]string {
	all := map[int]string{1: oneTask}
	for n := 2; n <= mostTogether; n *= 2 {
		where := &condition{args: []any{nil}}
		in(where, "", make([]string, n))
		all[n] = strings.TrimPrefix(where.text, " AND ")
	}
	return all
}()
