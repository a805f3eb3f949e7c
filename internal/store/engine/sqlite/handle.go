package sqlite

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// maxStatements is the maximum number of prepared statements that a connection keeps.
const maxStatements = 512

// handle is one SQLite connection with its prepared statements. It calls the
// library directly and not through database/sql: a read by key costs half as
// much (BenchmarkPointRead), no statement of the writer is ever interrupted, and
// the state of the transaction is known.
//
// A handle serves one goroutine at a time.
type handle struct {
	tls     *libc.TLS
	db      uintptr
	out     uintptr // room for two pointers that the library fills in
	id      uintptr // key in handles, for the progress callback
	index   uintptr // see mapIndex; 0 if unknown
	cache   map[string]*stmt
	running *stmt           // started and not yet reset; one at a time, as in PostgreSQL
	stop    <-chan struct{} // when closed, statements are interrupted; nil means never

	unsynced func(error) // called if the disk failed to make a write durable; may be nil
}

// libraryError is an error of the library with its extended code.
type libraryError struct {
	code int
	text string
}

// Error implements error.
func (e *libraryError) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.text, e.code) }

// resultCode returns the primary result code in err, or 0.
func resultCode(err error) int {
	if e, ok := errors.AsType[*libraryError](err); ok {
		return e.code & 0xff
	}
	return 0
}

// patchOnce applies a patch that the driver package applies in its initialization.
var patchOnce sync.Once

// handles maps the argument of a progress callback to its handle.
var (
	handles    sync.Map // uintptr → *handle
	lastHandle atomic.Uintptr
)

// openHandle opens a database file. It must exist, unless create is set.
func openHandle(path string, create bool, pragmas ...string) (*handle, error) {
	patchOnce.Do(lib.PatchIssue199)
	flags := int32(lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_EXRESCODE)
	if create {
		flags |= lib.SQLITE_OPEN_CREATE
	}
	h := &handle{tls: libc.NewTLS(), cache: map[string]*stmt{}}
	if h.out = libc.Xmalloc(h.tls, 2*8); h.out == 0 {
		h.tls.Close()
		return nil, errors.New("sqlite: out of memory")
	}
	name, err := libc.CString(path)
	if err != nil {
		h.close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	rc := lib.Xsqlite3_open_v2(h.tls, name, h.out, flags, 0)
	libc.Xfree(h.tls, name)
	h.db = h.result(0)
	if rc != lib.SQLITE_OK {
		err := h.fault(rc)
		h.close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	h.busyTimeout(10 * time.Second)
	for _, p := range pragmas {
		if err := h.run("PRAGMA " + p); err != nil {
			h.close()
			return nil, fmt.Errorf("open %s: pragma %s: %w", path, p, err)
		}
	}
	return h, nil
}

// busyTimeout sets how long a statement waits for a lock of another connection.
func (h *handle) busyTimeout(d time.Duration) {
	lib.Xsqlite3_busy_timeout(h.tls, h.db, int32(d/time.Millisecond))
}

// watch interrupts statements when h.stop is closed. The library checks every
// few thousand steps, about once a millisecond, so that a short statement pays
// nothing for it.
func (h *handle) watch() {
	h.id = lastHandle.Add(1)
	handles.Store(h.id, h)
	lib.Xsqlite3_progress_handler(h.tls, h.db, 5000, progressPointer(), h.id)
}

// progress is called by the library; anything but 0 ends the statement.
func progress(_ *libc.TLS, id uintptr) int32 {
	v, ok := handles.Load(id)
	if !ok {
		return 0
	}
	select {
	case <-v.(*handle).stop:
		return 1
	default:
		return 0
	}
}

// progressPointer returns progress in the form in which the translated library takes
// functions: the single word of a Go function value. The driver does the same. This works
// only for declared functions.
func progressPointer() uintptr {
	f := struct {
		f func(*libc.TLS, uintptr) int32
	}{progress}
	return *(*uintptr)(unsafe.Pointer(&f))
}

// result returns the i-th pointer that the library filled in.
func (h *handle) result(i uintptr) uintptr {
	return *(*uintptr)(pointer(h.out + 8*i))
}

// pointer turns an address outside Go's heap into a pointer.
func pointer(p uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// fault returns the error for a result code.
func (h *handle) fault(rc int32) error {
	text := libc.GoString(lib.Xsqlite3_errstr(h.tls, rc))
	if h.db != 0 {
		if more := libc.GoString(lib.Xsqlite3_errmsg(h.tls, h.db)); more != "not an error" {
			text = more
		}
	}
	err := &libraryError{code: int(rc), text: text}
	if h.unsynced != nil && (rc == lib.SQLITE_IOERR_FSYNC || rc == lib.SQLITE_IOERR_DIR_FSYNC) {
		h.unsynced(err)
	}
	return err
}

// idle reports whether no transaction is open. Some errors (disk full, I/O) end
// the transaction implicitly.
func (h *handle) idle() bool {
	return lib.Xsqlite3_get_autocommit(h.tls, h.db) != 0
}

// errRowsOpen is returned for a statement while rows are being read.
var errRowsOpen = errors.New("close the rows of the last query before the next statement")

// prepared returns a statement that is ready to be bound, from the cache if possible.
func (h *handle) prepared(text string) (*stmt, error) {
	if h.running != nil {
		return nil, errRowsOpen
	}
	if s := h.cache[text]; s != nil {
		return s, nil
	}
	s, err := h.prepare(text)
	if err != nil {
		return nil, err
	}
	if len(h.cache) >= maxStatements {
		for old, s := range h.cache { // a random one: the limit is hardly ever reached
			s.finalize()
			delete(h.cache, old)
			break
		}
	}
	// The key must not keep a larger string of the caller alive.
	h.cache[strings.Clone(text)] = s
	return s, nil
}

// run executes a statement without arguments to its end.
func (h *handle) run(text string) error {
	_, err := h.exec(text, nil)
	return err
}

// exec runs a statement to its end and returns how many rows it changed. The
// count is taken from the connection's total, because the library's own count
// of a statement keeps the old value for statements that change no rows.
func (h *handle) exec(text string, args []any) (int64, error) {
	s, err := h.prepared(text)
	if err != nil {
		return 0, err
	}
	before := lib.Xsqlite3_total_changes64(h.tls, h.db)
	if err := s.start(args); err != nil {
		return 0, err
	}
	for more := true; more; {
		if more, err = s.step(); err != nil {
			s.reset()
			return 0, err
		}
	}
	s.reset()
	return lib.Xsqlite3_total_changes64(h.tls, h.db) - before, nil
}

// settle resets a statement that was left running.
func (h *handle) settle() {
	if h.running != nil {
		h.running.reset()
	}
}

// checkpoint moves the write-ahead log into the database file. It returns the
// frames in the log and how many of them are in the file.
func (h *handle) checkpoint(mode int32) (frames, moved int, err error) {
	rc := lib.Xsqlite3_wal_checkpoint_v2(h.tls, h.db, 0, mode, h.out, h.out+4)
	frames = int(*(*int32)(pointer(h.out)))
	moved = int(*(*int32)(pointer(h.out + 4)))
	if rc != lib.SQLITE_OK {
		return frames, moved, h.fault(rc)
	}
	return frames, moved, nil
}

// pagesRead returns how many pages were read that were not in the cache, since its last call.
func (h *handle) pagesRead() int64 {
	const reset = 1
	if lib.Xsqlite3_db_status(h.tls, h.db, lib.SQLITE_DBSTATUS_CACHE_MISS, h.out, h.out+4, reset) != lib.SQLITE_OK {
		return 0
	}
	return int64(*(*int32)(pointer(h.out)))
}

// releaseMemory frees the cached pages of every connection of the process that
// are not in use.
func releaseMemory() {
	tls := libc.NewTLS()
	defer tls.Close()
	lib.Xsqlite3_release_memory(tls, math.MaxInt32)
}

// close closes the connection.
func (h *handle) close() {
	if h.id != 0 {
		handles.Delete(h.id)
	}
	h.settle()
	for _, s := range h.cache {
		s.finalize()
	}
	h.cache = nil
	if h.db != 0 {
		lib.Xsqlite3_close_v2(h.tls, h.db)
		h.db = 0
	}
	libc.Xfree(h.tls, h.out)
	h.tls.Close()
}
