package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// blocked starts an operation that holds the writer until the returned
// function is called, so that what is written meanwhile becomes one batch.
func blocked(t *testing.T, e engine.Engine) (release func()) {
	t.Helper()
	begun, hold := make(chan struct{}), make(chan struct{})
	var once, wait sync.Once
	done := make(chan error, 1)
	go func() {
		done <- e.Write(t.Context(), func(engine.Conn) error {
			once.Do(func() { close(begun) })
			<-hold
			return nil
		})
	}()
	<-begun
	return func() {
		wait.Do(func() {
			close(hold)
			if err := <-done; err != nil {
				t.Errorf("the operation that held the writer: %v", err)
			}
		})
	}
}

// together writes all operations in one batch and returns their responses.
func together(t *testing.T, e *Engine, ops ...func(engine.Conn) error) []error {
	t.Helper()
	e.writer.longest = time.Minute // however long it takes until all are queued
	release := blocked(t, e)
	replies := make([]error, len(ops))
	var wg sync.WaitGroup
	for i, op := range ops {
		wg.Go(func() { replies[i] = e.Write(t.Context(), op) })
		waitFor(t, func() bool { return e.writer.queue.length() == i+1 })
	}
	release()
	wg.Wait()
	return replies
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func TestAFailedOperationLeavesItsBatchMatesAlone(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	mine := errors.New("no")
	replies := together(t, e,
		put(ctx, "a", 1),
		func(c engine.Conn) error {
			must(t, put(ctx, "b", 1)(c))
			return mine
		},
		put(ctx, "c", 1),
		put(ctx, "a", 2), // a duplicate
		func(c engine.Conn) error {
			must(t, put(ctx, "d", 1)(c))
			panic("oh")
		},
		put(ctx, "e", 1),
	)
	for i, want := range []bool{true, false, true, false, false, true} {
		if ok := replies[i] == nil; ok != want {
			t.Errorf("operation %d: %v", i, replies[i])
		}
	}
	if got := ids(t, e, "SELECT id FROM note"); len(got) != 3 || !got["a"] || !got["c"] || !got["e"] {
		t.Errorf("kept %v", got)
	}
	if s := e.Stats(); s.Commits != 1 || s.Operations != 4 || s.Failed != 3 {
		t.Errorf("not one batch: %+v", s)
	}
}

func TestOperationsOfABatchSeeOneAnother(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	var seen int64
	replies := together(t, e, put(ctx, "a", 1), func(c engine.Conn) error {
		return c.Row(ctx, `SELECT count(*) FROM note`).Scan(&seen)
	})
	must(t, errors.Join(replies...))
	if seen != 1 {
		t.Errorf("saw %d rows", seen)
	}
}

// failCommits makes some of the next commits of a handle fail, counted from 0.
// The library turns a commit into a rollback when its hook asks for it.
func failCommits(t *testing.T, h *handle, which ...int64) {
	t.Helper()
	commits.Store(0)
	failing.Store(which)
	f := struct {
		f func(*libc.TLS, uintptr) int32
	}{commitHook}
	lib.Xsqlite3_commit_hook(h.tls, h.db, *(*uintptr)(unsafe.Pointer(&f)), 0)
}

var (
	commits atomic.Int64
	failing atomic.Value // []int64
)

func commitHook(*libc.TLS, uintptr) int32 {
	if slices.Contains(failing.Load().([]int64), commits.Add(1)-1) {
		return 1
	}
	return 0
}

func TestACommitThatFailsIsNoSuccess(t *testing.T) {
	ctx := context.Background()
	var runs atomic.Int32
	counted := func(id string) func(engine.Conn) error {
		return func(c engine.Conn) error {
			runs.Add(1)
			return put(ctx, id, 1)(c)
		}
	}
	t.Run("the operations run again one by one", func(t *testing.T) {
		e := opened(t)
		runs.Store(0)
		failCommits(t, e.writer.h, 0)
		must(t, errors.Join(together(t, e, counted("a"), counted("b"), counted("c"))...))
		if n := count(t, e); n != 3 || runs.Load() != 6 {
			t.Errorf("%d rows after %d runs", n, runs.Load())
		}
		if s := e.Stats(); s.Broken != 1 || s.Retries != 4 || s.Commits != 4 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("an operation that fails again gets the error", func(t *testing.T) {
		e := opened(t)
		failCommits(t, e.writer.h, 0, 2) // the batch and, after the blocker, the first operation
		replies := together(t, e, counted("a"), counted("b"))
		if replies[0] == nil || replies[1] != nil {
			t.Errorf("got %v", replies)
		}
		if got := ids(t, e, "SELECT id FROM note"); len(got) != 1 || !got["b"] {
			t.Errorf("kept %v", got)
		}
	})
	t.Run("an error that depended on the lost batch is not reported", func(t *testing.T) {
		e := opened(t)
		runs.Store(0)
		failCommits(t, e.writer.h, 0)
		// The first operation writes only the first time it runs; the second
		// rejects because it sees that row.
		first := func(c engine.Conn) error {
			if runs.Add(1) == 1 {
				return put(ctx, "a", 1)(c)
			}
			return errors.New("not again")
		}
		second := func(c engine.Conn) error {
			var n int64
			if err := c.Row(ctx, `SELECT count(*) FROM note`).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return lastmile.Conflict("there is a row")
			}
			return nil
		}
		replies := together(t, e, first, second)
		if replies[0] == nil || replies[1] != nil {
			t.Errorf("got %v", replies)
		}
	})
}

func TestAFullDiskIsOverload(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	must(t, e.Write(ctx, put(ctx, "before", 1)))
	// No more pages than there are: the same as a full disk to SQLite.
	waitFor(t, func() bool { return e.writer.queue.length() == 0 })
	setPages := func(n int) {
		must(t, e.Write(ctx, func(c engine.Conn) error {
			var got int64
			return c.Row(ctx, fmt.Sprintf("PRAGMA max_page_count=%d", n)).Scan(&got)
		}))
	}
	setPages(1)
	big := func(id string) func(engine.Conn) error {
		return func(c engine.Conn) error {
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc) VALUES ('acme', $1, $2)`, id, make([]byte, 100*pageSize))
			if err != nil {
				return fmt.Errorf("save note %s: %w", id, err)
			}
			return nil
		}
	}
	replies := together(t, e, put(ctx, "small", 1), big("large"), put(ctx, "small too", 1))
	if replies[0] != nil || replies[2] != nil {
		t.Errorf("the innocent: %v, %v", replies[0], replies[2])
	}
	if codeOf(replies[1]) != lastmile.CodeOverloaded {
		t.Errorf("the one too large: %v", replies[1])
	}
	if n := count(t, e); n != 3 {
		t.Errorf("%d rows", n)
	}
	setPages(1 << 20)
	must(t, e.Write(ctx, big("large")))
	must(t, e.Ping(ctx))
}

func TestNoMemoryIsOverload(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	for _, code := range []int32{lib.SQLITE_NOMEM, lib.SQLITE_IOERR_NOMEM} {
		fail := func(c engine.Conn) error { return fmt.Errorf("list tasks: %w", c.(*conn).h.fault(code)) }
		for name, run := range map[string]func(context.Context, func(engine.Conn) error) error{"Read": e.Read, "Direct": e.Direct, "Write": e.Write} {
			if err := run(ctx, fail); codeOf(err) != lastmile.CodeOverloaded || !strings.Contains(fmt.Sprint(err), "list tasks") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	must(t, e.Write(ctx, put(ctx, "after", 1)))
}

func TestAWriteThatWaitsTooLongIsRejected(t *testing.T) {
	e := opened(t)
	release := blocked(t, e)
	e.writer.patience = 50 * time.Millisecond
	if err := e.Write(t.Context(), put(t.Context(), "late", 1)); codeOf(err) != lastmile.CodeOverloaded {
		t.Errorf("got %v", err)
	}
	e.writer.patience = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := e.Write(ctx, put(ctx, "cancelled", 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	full := context.WithoutCancel(t.Context())
	fill := func(caller string) {
		for range callerLength {
			e.writer.queue.add(&operation{fn: func(engine.Conn) error { return nil }, caller: caller, cancelled: full.Err, result: make(chan error, 1)})
		}
	}
	fill("one")
	one := lastmile.WithCaller(t.Context(), "one")
	if err := e.Write(one, put(one, "too many", 1)); codeOf(err) != lastmile.CodeOverloaded {
		t.Errorf("of a caller with too many: %v", err)
	}
	fill("two")
	if err := e.Write(t.Context(), put(t.Context(), "too many", 1)); codeOf(err) != lastmile.CodeOverloaded {
		t.Errorf("with a full queue: %v", err)
	}
	release()
	waitFor(t, func() bool { return e.writer.queue.length() == 0 })
	must(t, e.Write(t.Context(), put(t.Context(), "in time", 1)))
	if got := ids(t, e, "SELECT id FROM note"); len(got) != 1 || !got["in time"] {
		t.Errorf("kept %v", got)
	}
	if s := e.Stats(); s.Shed != 3 {
		t.Errorf("%+v", s)
	}
}

func TestAReadThatWaitsTooLongIsRejected(t *testing.T) {
	o := options(t.TempDir())
	o.Readers = 1
	e, err := Open(t.Context(), o)
	must(t, err)
	defer e.Close()
	ctx := t.Context()
	read := func() error { return e.Direct(ctx, func(engine.Conn) error { return nil }) }
	must(t, e.Read(ctx, func(engine.Conn) error {
		e.readers.slots.Patience = 10 * time.Millisecond
		if err := read(); codeOf(err) != lastmile.CodeOverloaded {
			t.Errorf("got %v", err)
		}
		e.readers.slots.Patience, e.readers.slots.MaxWaiting = time.Hour, 0
		if err := read(); codeOf(err) != lastmile.CodeOverloaded {
			t.Errorf("with a full queue: %v", err)
		}
		e.readers.slots.MaxWaiting = queueLength
		return nil
	}))
	must(t, read())
	if s := e.Stats(); s.Shed != 2 {
		t.Errorf("%+v", s)
	}
}

func TestAWriteThatHasBegunIsWaitedFor(t *testing.T) {
	e := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Write(ctx, func(c engine.Conn) error {
		cancel()
		return put(ctx, "a", 1)(c)
	})
	must(t, err)
	if n := count(t, e); n != 1 {
		t.Errorf("%d rows", n)
	}
}

func TestClosingFinishesWhatIsQueued(t *testing.T) {
	folder := t.TempDir()
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	release := blocked(t, e)
	var wg sync.WaitGroup
	var kept atomic.Int64
	for i := range 10 {
		wg.Go(func() {
			if e.Write(t.Context(), put(t.Context(), fmt.Sprint(i), 1)) == nil {
				kept.Add(1)
			}
		})
	}
	waitFor(t, func() bool { return e.writer.queue.length() == 10 })
	go release()
	must(t, e.Close())
	wg.Wait()
	e, err = Open(t.Context(), options(folder))
	must(t, err)
	defer e.Close()
	if n := count(t, e); n != kept.Load() || n != 10 {
		t.Errorf("%d rows, %d acknowledged", n, kept.Load())
	}
}

func TestTheLogDoesNotGrowForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a few hundred megabytes")
	}
	e := opened(t)
	ctx := t.Context()
	doc := make([]byte, 64<<10)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					count(t, e)
				}
			}
		})
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 700 {
				err := e.Write(ctx, func(c engine.Conn) error {
					_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc) VALUES ('acme', $1, $2)
						ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc`, fmt.Sprintf("%d-%d", w, i%50), doc)
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	extra := 0
	waitFor(t, func() bool {
		extra++
		must(t, e.Write(ctx, put(ctx, fmt.Sprint(extra), 1)))
		return e.Stats().WALBytes <= walLimit
	})
	close(stop)
	readers.Wait()
}

// TestASmallCacheHasASmallLog: the log of a small container is restarted before it is as long
// as on a large machine.
func TestASmallCacheHasASmallLog(t *testing.T) {
	o := options(t.TempDir())
	o.Cache = 32 * pageSize
	e, err := Open(t.Context(), o)
	must(t, err)
	defer func() { must(t, e.Close()) }()
	ctx := t.Context()
	written, longest := 0, int64(0)
	waitFor(t, func() bool {
		written++
		must(t, e.Write(ctx, put(ctx, fmt.Sprint(written), 1)))
		size := e.points.bytes.Load()
		longest = max(longest, size)
		return size < longest // it was restarted
	})
	if longest >= walLimit {
		t.Errorf("the log had %d bytes", longest)
	}
}

// TestASmallLogIsReadBeforeItIsOverwritten: only once it is about to be restarted.
func TestASmallLogIsReadBeforeItIsOverwritten(t *testing.T) {
	c := &checkpointer{path: filepath.Join(t.TempDir(), "log"), limit: 1000}
	must(t, os.WriteFile(c.path, make([]byte, 1500), 0o600))
	for size, want := range map[int64]int64{0: 0, 749: 0, 750: 1000, 1500: 1000} {
		c.bytes.Store(size)
		if got := c.preload(); got != want {
			t.Errorf("of a log with %d bytes, %d were read, want %d", size, got, want)
		}
	}
	c.limit = walLimit
	c.bytes.Store(walLimit)
	if got := c.preload(); got != 0 {
		t.Errorf("%d bytes were read although there is much memory", got)
	}
}

// TestTheWriterDoesNotWaitForReaders: a read that takes long keeps the log from being
// restarted. The writer waits for it only when the log has become much longer.
func TestTheWriterDoesNotWaitForReaders(t *testing.T) {
	o := options(t.TempDir())
	o.logLimit = 10 * pageSize
	e, err := Open(t.Context(), o)
	must(t, err)
	defer func() { must(t, e.Close()) }()
	ctx := t.Context()
	written := 0
	write := func(times int) {
		for range times {
			written++
			must(t, e.Write(ctx, put(ctx, fmt.Sprint(written), 1)))
		}
	}
	must(t, e.Read(ctx, func(c engine.Conn) error {
		var n int
		must(t, c.Row(ctx, `SELECT count(*) FROM note`).Scan(&n)) // now it has a snapshot
		for size := int64(0); size <= o.logLimit; size = e.points.bytes.Load() {
			write(1)
			waitFor(t, func() bool { return e.points.bytes.Load() > size })
		}
		if size := e.points.bytes.Load(); size < longestLog*o.logLimit && e.points.long.Load() {
			t.Errorf("the writer waits for a reader when the log has %d bytes", size)
		}
		write(longestLog * 10)
		waitFor(t, func() bool { return e.points.bytes.Load() > longestLog*o.logLimit })
		return nil
	}))
	waitFor(t, func() bool {
		write(1)
		time.Sleep(checkpointGap) // at most a few pages are written between two checkpoints
		return e.points.bytes.Load() < o.logLimit
	})
}

func TestStatementsAreCachedWithinBounds(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	must(t, e.Read(ctx, func(c engine.Conn) error {
		for i := range 2 * maxStatements {
			var n int64
			if err := c.Row(ctx, fmt.Sprintf(`SELECT %d + $1`, i), 1).Scan(&n); err != nil {
				return err
			}
			if n != int64(i+1) {
				t.Errorf("got %d", n)
			}
		}
		if got := len(c.(*conn).h.cache); got > maxStatements {
			t.Errorf("%d statements are kept", got)
		}
		return nil
	}))
}

func TestOneStatementAtATime(t *testing.T) {
	e := opened(t)
	err := e.Direct(t.Context(), func(c engine.Conn) error {
		var n int64
		return c.Row(t.Context(), `SELECT 1; SELECT 2`).Scan(&n)
	})
	if err == nil || !strings.Contains(err.Error(), "one statement") {
		t.Errorf("got %v", err)
	}
}

func TestMemoryIsGivenBackWhenNothingHappens(t *testing.T) {
	e := opened(t)
	tidy := e.tidier()
	fill(t, e, 3000)
	must(t, e.Read(t.Context(), func(engine.Conn) error { count(t, e); return nil })) // two readers
	tidy()                                                                            // notes that something happened
	reader := e.readers.idle[len(e.readers.idle)-1]
	written, read := cached(e.writer.h), cached(reader)
	tidy()
	for h, before := range map[*handle]int32{e.writer.h: written, reader: read} {
		if after := cached(h); after >= before || before == 0 {
			t.Errorf("%d bytes of pages became %d", before, after)
		}
	}
	if n := e.readers.size(); n != 1 {
		t.Errorf("%d readers are open", n)
	}
	if n := count(t, e); n != 3000 {
		t.Errorf("%d rows", n)
	}
	must(t, e.Write(t.Context(), put(t.Context(), "after", 1)))
}

// cached returns the number of bytes of pages that a connection keeps.
func cached(h *handle) int32 {
	lib.Xsqlite3_db_status(h.tls, h.db, lib.SQLITE_DBSTATUS_CACHE_USED, h.out, h.out+4, 0)
	return *(*int32)(pointer(h.out))
}

func TestNothingIsWrittenAfterTheDiskFailed(t *testing.T) {
	o := options(t.TempDir())
	reported := 0
	o.Unsynced = func(error) { reported++ }
	e, err := Open(t.Context(), o)
	must(t, err)
	must(t, e.Write(t.Context(), put(t.Context(), "before", 1)))
	h := e.writer.h
	for range 2 {
		err = e.Write(t.Context(), func(engine.Conn) error { return h.fault(lib.SQLITE_IOERR_FSYNC) })
	}
	if err == nil || reported != 1 {
		t.Errorf("the disk failed: %v, reported %d times", err, reported)
	}
	if err := e.Write(t.Context(), put(t.Context(), "after", 1)); !errors.Is(err, engine.ErrUnsynced) {
		t.Errorf("a write after the disk failed: %v", err)
	}
	if kept := ids(t, e, "SELECT id FROM note"); !kept["before"] || kept["after"] {
		t.Errorf("kept: %v", kept)
	}
	must(t, e.Close())
}

// TestCallersShareTheWriter has a caller whose operations are long and queued first. An
// operation of another caller waits for the one that runs, but not for the queued ones, and
// none of these runs in its transaction.
func TestCallersShareTheWriter(t *testing.T) {
	var clock atomic.Int64
	o := options(t.TempDir())
	o.Now = func() time.Time { return time.Unix(1_000_000, clock.Load()) }
	e, err := Open(t.Context(), o)
	must(t, err)
	defer e.Close()
	e.writer.spent = func() time.Duration { return time.Duration(clock.Load()) }
	var mu sync.Mutex
	var order []string
	commits := map[string]uint64{} // before the operation
	write := func(caller, id string, took time.Duration) error {
		ctx := lastmile.WithCaller(t.Context(), caller)
		return e.Write(ctx, func(c engine.Conn) error {
			clock.Add(int64(took))
			mu.Lock()
			defer mu.Unlock()
			order = append(order, id)
			commits[id] = e.Stats().Commits
			return put(ctx, id, 1)(c)
		})
	}
	must(t, write("large", "large 0", 80*time.Millisecond))
	for i := range 5 { // such as requests that are rejected
		must(t, write("large", fmt.Sprint("short ", i), 0))
	}
	order = nil
	release := blocked(t, e)
	var wg sync.WaitGroup
	for i, id := range []string{"large 1", "large 2", "small 1", "large 3", "small 2"} {
		wg.Go(func() {
			caller, _, _ := strings.Cut(id, " ")
			took := map[string]time.Duration{"large": 80 * time.Millisecond, "small": time.Millisecond}[caller]
			must(t, write(caller, id, took))
		})
		waitFor(t, func() bool { return e.writer.queue.length() == i+1 })
	}
	release()
	wg.Wait()
	if want := []string{"small 1", "small 2", "large 1", "large 2", "large 3"}; !slices.Equal(order, want) {
		t.Errorf("they ran as %v, want %v", order, want)
	}
	if commits["small 1"] != commits["small 2"] {
		t.Error("two small operations were not committed together")
	}
	if commits["large 1"] == commits["small 2"] {
		t.Error("small operations were committed after a large one")
	}
}

// TestWaitingIsNotCharged has a caller whose operation waits, such as for the disk, and one whose
// operation computes. The next operation of the first comes first.
func TestWaitingIsNotCharged(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor time is measured on Linux only")
	}
	e := opened(t)
	ctxOf := func(caller string) context.Context { return lastmile.WithCaller(t.Context(), caller) }
	must(t, e.Write(ctxOf("waits"), func(engine.Conn) error {
		time.Sleep(100 * time.Millisecond)
		return nil
	}))
	must(t, e.Write(ctxOf("computes"), func(engine.Conn) error {
		for begun := threadTime(); threadTime()-begun < 20*time.Millisecond; {
			continue
		}
		return nil
	}))
	var order []string // only the writer appends
	release := blocked(t, e)
	var wg sync.WaitGroup
	for i, caller := range []string{"computes", "waits"} {
		wg.Go(func() {
			must(t, e.Write(ctxOf(caller), func(engine.Conn) error {
				order = append(order, caller)
				return nil
			}))
		})
		waitFor(t, func() bool { return e.writer.queue.length() == i+1 })
	}
	release()
	wg.Wait()
	if want := []string{"waits", "computes"}; !slices.Equal(order, want) {
		t.Errorf("they ran as %v, want %v", order, want)
	}
}

// TestReadingPagesIsCharged has an operation that reads many pages that are not in the cache.
func TestReadingPagesIsCharged(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	must(t, e.Write(ctx, func(c engine.Conn) error {
		for i := range 5_000 {
			if err := put(ctx, strings.Repeat("x", 500)+fmt.Sprint(i), 1)(c); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, e.Write(ctx, func(c engine.Conn) error {
		e.writer.h.pagesRead()
		_, err := c.Exec(ctx, `DELETE FROM note WHERE n = 0`)
		if n := e.writer.h.pagesRead(); n != 0 {
			t.Errorf("%d pages were read although all are in the cache", n)
		}
		return err
	}))
	released := make(chan struct{})
	e.writer.asides <- func() {
		lib.Xsqlite3_db_release_memory(e.writer.h.tls, e.writer.h.db)
		close(released)
	}
	<-released
	must(t, e.Write(ctx, func(c engine.Conn) error {
		e.writer.h.pagesRead()
		_, err := c.Exec(ctx, `DELETE FROM note WHERE n = 0`)
		if n := e.writer.h.pagesRead(); n < 100 {
			t.Errorf("%d pages were read", n)
		}
		return err
	}))
}
