package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// Options describe how to open a data folder.
type Options struct {
	Folder     string
	Serve      bool             // this process is the server of the folder
	Existing   bool             // fail if the folder has no database instead of creating one
	Now        func() time.Time // the clock
	Timer      func() time.Time // a monotonic clock that measures operations; nil means Now
	Logger     *slog.Logger     // nil discards
	Migrations fs.FS            // NNNN_name.sql files
	Readers    int              // maximum number of reading connections; 0 means two per processor, but at least leastReaders
	Patience   time.Duration    // longest wait of an operation; 0 means patience
	Cache      int64            // bytes of pages that the writer keeps; 0 means writerCache
	Unsynced   func(error)      // called once if changes can no longer be made durable; may be nil

	KeepSchema bool // do not migrate an older schema
	oldest     int  // oldest version of the library; 0 means oldestSQLite

	lockPatience time.Duration // longest wait of a server for the lock of the folder; 0 means lockPatience
	logLimit     int64         // size in bytes at which the write-ahead log is restarted; 0 means logSize
}

// Files of a data folder.
const (
	databaseFile = "dray.db"
	lockFile     = "dray.lock"
	turnFile     = "dray.turn"
)

// Settings of the connections. FULL makes a commit survive a power cut. The
// writer of a server never checkpoints; its checkpointer does.
const (
	pageSize      = 8192
	writerCache   = 64 << 20
	readerCache   = "cache_size=-2048"
	largestMap    = 256 << 20
	walLimit      = 64 << 20
	leastReaders  = 8
	checkpointGap = 200 * time.Millisecond
	tidyGap       = 15 * time.Second
)

// The reading connections that a caller may use, or half the number of processors if that
// is more. More concurrent reads would slow down each other and the writer.
const (
	ofCaller      = 1 // for every caller
	burstOfCaller = 2 // for a caller that has used hardly more than ofCaller lately, or while all callers together use fewer
)

// Engine is an engine.Engine over a data folder.
type Engine struct {
	path    string
	log     *slog.Logger
	head    int64
	lock    io.Closer // lock of a served folder
	running *running  // nil unless the folder is served
	turn    *writeTurn
	writer  *writer
	readers *readers
	points  *checkpointer // nil unless the folder is served

	closeOnce sync.Once
	closeErr  error
}

// Open opens the database of a data folder, creating both if there is
// neither, and migrates it to head.
func Open(ctx context.Context, o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Readers == 0 {
		o.Readers = max(leastReaders, 2*runtime.GOMAXPROCS(0))
	}
	if o.Timer == nil {
		o.Timer = o.Now
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	all, err := engine.ReadMigrations(o.Migrations)
	if err != nil {
		return nil, err
	}
	if err := checkLibrary(o.oldest); err != nil {
		return nil, err
	}
	if err := prepareFolder(ctx, o, all); err != nil {
		return nil, err
	}
	if !o.Serve {
		if err := recoverUnserved(o.Folder, o.Logger); err != nil {
			return nil, err
		}
		return startSQLite(ctx, o, all)
	}
	lock, err := lockServed(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := recoverLog(o.Folder, o.Logger); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	e, err := startSQLite(ctx, o, all)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	e.lock = lock
	return e, nil
}

// recoverUnserved recovers the log of a server that did not stop cleanly, unless a server
// is running.
func recoverUnserved(folder string, log *slog.Logger) error {
	lock, free, err := tryLockFolder(folder)
	if err != nil || !free {
		return nil //nolint:nilerr // a folder that cannot be locked is not recovered
	}
	return errors.Join(recoverLog(folder, log), lock.Close())
}

// startSQLite checks an existing database and starts the engine over it.
func startSQLite(ctx context.Context, o Options, all []engine.Migration) (*Engine, error) {
	path := filepath.Join(o.Folder, databaseFile)
	if err := checkDatabase(ctx, path, o.Serve); err != nil {
		return nil, err
	}
	h, err := openWriter(path, o.Serve, cmp.Or(o.Cache, writerCache))
	if err != nil {
		return nil, err
	}
	if o.KeepSchema {
		_, err = engine.CheckVersion(ctx, h.schema(), all)
	} else {
		schema := h.schema()
		schema.Logger = o.Logger
		err = engine.Migrate(ctx, schema, all, o.Now)
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	turn, err := openTurn(o.Folder)
	if err != nil {
		h.close()
		return nil, fmt.Errorf("open the data folder: %w", err)
	}
	e := &Engine{
		turn:    turn,
		path:    path,
		log:     o.Logger,
		head:    engine.Head(all),
		writer:  newWriter(h, o.Logger, o.Timer, o.Patience),
		readers: newReaders(o, func() (*handle, error) { return openReader(path, readerMap(cmp.Or(o.Cache, writerCache))) }),
	}
	doom := e.doom(o.Unsynced)
	h.unsynced = doom
	if o.Serve {
		if e.points, err = newCheckpointer(path, o.Logger, e.tidier()); err != nil {
			h.close()
			return nil, errors.Join(err, turn.close())
		}
		e.points.h.unsynced = doom
		e.points.limit = cmp.Or(o.logLimit, logSize(cmp.Or(o.Cache, writerCache)))
		e.points.most = longestLog * cmp.Or(o.logLimit, walLimit)
		if e.running, err = startRunning(o.Folder); err != nil {
			e.points.h.close()
			h.close()
			return nil, errors.Join(err, turn.close())
		}
		e.points.running = e.running
		go e.points.loop()
	}
	e.takeTurns()
	go e.writer.loop()
	return e, nil
}

// doom returns the function to call if the disk could not make a write durable. The
// operating system may have dropped the data and report it as written, so a second attempt
// would prove nothing. No further write is accepted until another process has read back
// the stored data.
func (e *Engine) doom(report func(error)) func(error) {
	return func(err error) {
		if e.writer.doomed.Swap(true) {
			return
		}
		e.log.Error("the disk failed: no further write is taken", "error", err)
		if report != nil {
			report(err)
		}
	}
}

// takeTurns sets what the writer does before and after its transactions, in a server or in
// a command beside one.
func (e *Engine) takeTurns() {
	h, before, after := e.writer.h, e.turn.take, e.turn.release
	if e.points != nil {
		before, after = e.turn.yield, func() { e.points.wrote(h) }
	}
	e.writer.between = after
	e.writer.begin = func() error {
		before()
		return h.run("BEGIN IMMEDIATE")
	}
}

// tidier returns a function that releases memory if nothing was read or written
// since its last call: caches that a busy hour has filled would otherwise never
// be released. One reader remains open, because to open one takes longer than most reads.
func (e *Engine) tidier() func() {
	var last uint64
	done := true
	return func() {
		now := e.readers.used.Load() + e.writer.count.Commits()
		switch {
		case now != last:
			last, done = now, false
		case !done:
			done = true
			e.readers.trim(1)
			releaseMemory()
		}
	}
}

// openWriter opens the one connection that writes. The size of its cache is in bytes.
func openWriter(path string, serve bool, cache int64) (*handle, error) {
	auto := "wal_autocheckpoint=1000"
	if serve {
		auto = "wal_autocheckpoint=0"
	}
	return openHandle(path, false,
		"journal_mode=WAL", "synchronous=FULL", "foreign_keys=OFF", "temp_store=MEMORY",
		fmt.Sprintf("journal_size_limit=%d", walLimit), fmt.Sprintf("cache_size=-%d", cache>>10), auto) // in KiB if negative
}

// readerMap returns how many bytes of the database a reader maps into memory, beside a
// writer that keeps some bytes of pages. A mapped page is read without a copy. But if it is
// not in memory, the kernel also reads what is around it, on some machines megabytes, which
// replace what a small container keeps in memory.
func readerMap(cache int64) int64 {
	if cache < writerCache {
		return 0
	}
	return largestMap
}

// openReader opens a connection that reads and maps some bytes of the database. Its
// statements end with the context of their caller.
func openReader(path string, mapped int64) (*handle, error) {
	h, err := openHandle(path, false,
		"synchronous=FULL", "temp_store=MEMORY", readerCache, fmt.Sprintf("mmap_size=%d", mapped), "query_only=ON", "schema_version")
	if err != nil {
		return nil, err
	}
	h.watch()
	h.index = h.mapIndex()
	return h, nil
}

// schema returns the schema of a handle that is not shared.
func (h *handle) schema() engine.Schema {
	return engine.Schema{Read: h.read, Change: h.transact}
}

// read runs fn without a transaction.
func (h *handle) read(_ context.Context, fn func(engine.Conn) error) error {
	c := &conn{h: h}
	defer c.end()
	return fn(c)
}

// transact runs fn in one transaction of a handle that is not shared.
func (h *handle) transact(_ context.Context, fn func(engine.Conn) error) error {
	if err := h.run("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	c := &conn{h: h}
	err := fn(c)
	c.end()
	if err == nil {
		err = c.failed
	}
	if err == nil {
		err = h.run("COMMIT")
	}
	if err != nil && !h.idle() {
		err = errors.Join(err, h.run("ROLLBACK"))
	}
	return err
}

// Direct implements engine.Engine.
func (e *Engine) Direct(ctx context.Context, fn func(engine.Conn) error) error {
	return e.readers.direct(ctx, fn)
}

// Read implements engine.Engine.
func (e *Engine) Read(ctx context.Context, fn func(engine.Conn) error) error {
	return e.readers.snapshot(ctx, fn)
}

// Write implements engine.Engine.
func (e *Engine) Write(ctx context.Context, fn func(engine.Conn) error) error {
	e.writer.count.Running.Add(1)
	defer e.writer.count.Running.Add(-1)
	return e.writer.do(ctx, fn)
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return "sqlite" }

// Ping implements engine.Engine.
func (e *Engine) Ping(ctx context.Context) error {
	return e.Direct(ctx, func(c engine.Conn) error { return engine.AtHead(ctx, c, e.head) })
}

// Stats implements engine.Engine.
func (e *Engine) Stats() engine.Stats {
	s := e.writer.count.Stats()
	s.Waiting = int(e.writer.waiting.Load())
	s.Shed += e.readers.count.Stats().Shed
	s.Connections = 1 + e.readers.size()
	if e.points != nil {
		s.WALBytes = e.points.bytes.Load()
		s.Connections++
	}
	return s
}

// Close implements engine.Engine. Operations that are queued are still written.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.writer.stop()
		if e.points != nil {
			e.points.stop()
		}
		e.closeErr = e.readers.close()
		h := e.writer.h
		if e.points != nil {
			// Readers of other processes may keep part of the log in use. The next start then
			// continues with it.
			h.busyTimeout(time.Second)
			err := truncateLog(h, e.running)
			if resultCode(err) == lib.SQLITE_BUSY {
				err = nil
			}
			h.close()
			e.closeErr = errors.Join(e.closeErr, err, e.running.stop(err == nil && !e.writer.doomed.Load()))
		} else {
			h.close()
		}
		e.closeErr = errors.Join(e.closeErr, e.turn.close())
		if e.lock != nil {
			e.closeErr = errors.Join(e.closeErr, e.lock.Close())
		}
	})
	return e.closeErr
}
