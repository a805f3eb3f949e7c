package sqlstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dray/internal/lastmile"
)

const (
	// mostTogether is the maximum number of records that one statement shows.
	mostTogether = 32
	// mostReading is the maximum number of such statements for the records of a kind of an
	// organization at a time.
	mostReading = 2
	// mostWaiting is the maximum number of reads of a kind that wait for their turn.
	mostWaiting = 4096
	// readPatience is the longest such wait. If the database hangs, each statement ends only
	// after its own time limit.
	readPatience = 10 * time.Second
)

// sharedReads combines reads of records of a kind that an organization has. On PostgreSQL, a
// statement for several records costs little more than one for a single record. A read does
// not wait for others to arrive, only while statements run that began before it.
type sharedReads struct {
	mu     sync.Mutex
	queues map[recordSet]*readQueue
}

// readQueue has the reads of a set of records.
type readQueue struct {
	waiting []*sharedRead // whose turn has not come
	running int           // number of reads whose turn has come
}

// sharedRead is a record to read.
type sharedRead struct {
	id   string
	doc  []byte // nil if the statement has not found the record
	err  error
	turn chan struct{} // closed when the read runs a statement, also for others that wait
	done chan struct{} // closed when doc and err are set
}

// readAll reads several records together. It leaves out those that it does not find.
type readAll func(ctx context.Context, of recordSet, ids []string) (docs map[string][]byte, err error)

// read returns the response for a record, or nil if run has not found it. run may be called with
// the ids of other reads too, and continues if ctx ends.
func (t *sharedReads) read(ctx context.Context, of recordSet, id string, run readAll) ([]byte, error) {
	own := &sharedRead{id: id, turn: make(chan struct{}), done: make(chan struct{})}
	now, err := t.enter(of, own)
	if err != nil {
		return nil, err
	}
	if !now {
		timer := time.NewTimer(readPatience)
		defer timer.Stop()
		select {
		case <-own.turn:
		case <-own.done:
			return own.doc, own.err
		case <-ctx.Done():
			t.leave(of, own)
			return nil, ctx.Err()
		case <-timer.C:
			t.leave(of, own)
			return nil, tooManyReads("reads wait longer than %v", readPatience)
		}
	}
	batch := append(t.take(of), own)
	docs := map[string][]byte(nil)
	err = errors.New("read records: the statement did not end") // in case run panics
	defer func() {
		for _, r := range batch {
			r.doc, r.err = docs[r.id], err
			close(r.done)
		}
		t.next(of)
	}()
	ids := make([]string, len(batch))
	for i, r := range batch {
		ids[i] = r.id
	}
	docs, err = run(context.WithoutCancel(ctx), of, ids)
	return docs[id], err
}

// tooManyReads is the error for a read that is rejected because others wait.
func tooManyReads(format string, args ...any) error {
	return lastmile.Overloaded("The server is busy: try again in a moment.").Because(format, args...)
}

// enter gives a read its turn, or makes it wait if enough statements run. now reports whether
// it has its turn already.
func (t *sharedReads) enter(of recordSet, r *sharedRead) (now bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[of]
	if q == nil {
		if t.queues == nil {
			t.queues = map[recordSet]*readQueue{}
		}
		q = &readQueue{}
		t.queues[of] = q
	}
	if q.running < mostReading {
		q.running++
		close(r.turn)
		return true, nil
	}
	if len(q.waiting) >= mostWaiting {
		return false, tooManyReads("%d reads are waiting", mostWaiting)
	}
	q.waiting = append(q.waiting, r)
	return false, nil
}

// take returns the reads that have waited longest, to be run with one whose turn it is.
func (t *sharedReads) take(of recordSet) []*sharedRead {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[of]
	n := min(len(q.waiting), mostTogether-1)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// next ends the turn of a read.
func (t *sharedReads) next(of recordSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[of]
	if len(q.waiting) > 0 {
		close(q.waiting[0].turn)
		q.waiting = slices.Delete(q.waiting, 0, 1)
		return
	}
	if q.running--; q.running == 0 {
		delete(t.queues, of)
	}
}

// leave removes a read that has been given up.
func (t *sharedReads) leave(of recordSet, r *sharedRead) {
	t.mu.Lock()
	if q := t.queues[of]; q != nil {
		if i := slices.Index(q.waiting, r); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			t.mu.Unlock()
			return
		}
	}
	t.mu.Unlock()
	select {
	case <-r.turn: // it came at the same time
		t.next(of)
	default: // another read runs it
	}
}

// showTogether is a readAll.
func (s *Store) showTogether(ctx context.Context, of recordSet, ids []string) (map[string][]byte, error) {
	docs := make(map[string][]byte, len(ids))
	err := s.showEach(ctx, of, ids, func(id string, doc []byte) { docs[id] = doc })
	return docs, err
}

// of returns the statement that reads the records with these ids, and its arguments. The
// number of ids is rounded up to a power of two by repeating the last one, so that there are
// few statements to prepare.
func (f form) of(org lastmile.OrganizationID, ids []string) (query string, args []any) {
	n := 1
	for n < len(ids) {
		n *= 2
	}
	args = make([]any, 1, 1+n)
	args[0] = string(org)
	for i := range n {
		args = append(args, ids[min(i, len(ids)-1)])
	}
	if n == 1 {
		return f.query + ` = $2`, args
	}
	return severalIDs[n] + f.query + ` = w.id LIMIT 1) AS s`, args
}

// severalIDs are the beginnings of statements that read several records by their primary key,
// by number. Without LATERAL and LIMIT, PostgreSQL may read all records of an organization
// instead, while it does not know how many there are.
var severalIDs = func() map[int]string {
	all := map[int]string{}
	for n := 2; n <= mostTogether; n *= 2 {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = "($" + strconv.Itoa(i+2) + ")"
		}
		all[n] = `SELECT s.* FROM (VALUES ` + strings.Join(ids, ", ") + `) AS w (id) CROSS JOIN LATERAL (`
	}
	return all
}()
