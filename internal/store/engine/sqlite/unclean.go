package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"

	"dray/internal/durable"
)

// runningFile exists while a folder is served, and after a server that did not stop
// cleanly. It contains the size of the write-ahead log without which the database is
// incomplete. SQLite would not notice that the log is missing, and continue without the
// changes in it.
const runningFile = "dray.running"

// running keeps runningFile up to date. The content is not synced: after a crash of the
// process it is exact, and after a power cut it may be an earlier size of the log.
type running struct {
	path string
	wal  string
	f    *os.File

	mu      sync.Mutex
	written int64  // size that the file contains
	commits uint64 // commits seen by wrote
}

// openRunning opens the file.
func openRunning(folder string, flags int) (*running, error) {
	path := filepath.Join(folder, runningFile)
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the data folder: %w", err)
	}
	return &running{path: path, wal: filepath.Join(folder, databaseFile+"-wal"), f: f, written: -1}, nil
}

// startRunning creates the file of a served folder.
func startRunning(folder string) (*running, error) {
	r, err := openRunning(folder, os.O_CREATE|os.O_RDWR|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.settled(), durable.SyncFolder(folder)); err != nil {
		return nil, errors.Join(fmt.Errorf("open the data folder: %w", err), r.stop(false))
	}
	return r, nil
}

// set writes the required size of the log.
func (r *running) set(size int64) error {
	if size == r.written {
		return nil
	}
	r.written = size
	_, err := r.f.WriteAt(fmt.Appendf(nil, "%020d\n", size), 0)
	return err
}

// wrote is called after each commit: the log now contains changes that the
// database file does not.
func (r *running) wrote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits++
	if info, err := os.Stat(r.wal); err == nil {
		_ = r.set(info.Size()) // used only to report that someone removed the log
	}
}

// count returns the number of commits so far.
func (r *running) count() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits
}

// moved is called when all changes of some commits are in the database file.
func (r *running) moved(commits uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if commits == r.commits {
		_ = r.set(0)
	}
}

// settled is called when the log is not needed any more. The log may shrink after that, so
// the file is synced: a power cut must not restore an earlier size.
func (r *running) settled() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.set(0), r.f.Sync())
}

// stop closes the file, and removes it if the database was closed cleanly.
func (r *running) stop(clean bool) error {
	err := r.f.Close()
	if clean {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}

// truncateLog moves the whole log into the database file and truncates it, in two steps,
// so that after a crash between them the log does not seem to be missing.
func truncateLog(h *handle, r *running) error {
	if _, _, err := h.checkpoint(lib.SQLITE_CHECKPOINT_RESTART); err != nil {
		return err
	}
	if err := r.settled(); err != nil {
		return err
	}
	_, _, err := h.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
	return err
}

// recoverLog returns an error if the last server of a folder did not stop cleanly and its
// write-ahead log is now missing. Otherwise it moves the log into the database file. The
// caller has the lock of the folder.
func recoverLog(folder string, log *slog.Logger) error {
	path, database := filepath.Join(folder, runningFile), filepath.Join(folder, databaseFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state of the last server: %w", err)
	}
	needed, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil { // it was being created
		needed = 0
	}
	var size int64
	info, err := os.Stat(database + "-wal")
	if err == nil {
		size = info.Size()
	}
	switch {
	case size < min(needed, walLimit): // a log that grew over its limit is truncated to it
		return damage{fmt.Errorf("the last server of %s did not stop cleanly, and its write-ahead log %s-wal, which contains acknowledged changes, "+
			"is missing or too short (%d bytes instead of %d). Put the log back, or restore a backup into an empty folder with: dray restore FILE --data FOLDER. "+
			"If another program, such as an older dray or the sqlite3 shell, opened the database since, nothing is missing: delete %s and start again",
			folder, database, size, needed, path)}
	case err != nil:
		log.Warn("the last server did not stop cleanly, and its write-ahead log is missing; all changes in it had been moved to the database", "file", database+"-wal")
	default:
		log.Warn("the last server did not stop cleanly; its write-ahead log is being recovered", "bytes", size)
	}
	h, err := openHandle(database, false, fmt.Sprintf("journal_size_limit=%d", walLimit))
	if err != nil {
		return damagedOr(database, err)
	}
	defer h.close()
	r, err := openRunning(folder, os.O_RDWR)
	if err != nil {
		return err
	}
	// truncateLog fails if another process reads the log, or if the database is damaged, which
	// the start reports.
	return r.stop(truncateLog(h, r) == nil)
}
