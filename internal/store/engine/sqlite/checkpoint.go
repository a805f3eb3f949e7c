package sqlite

import (
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"
)

// checkpointer moves the write-ahead log into the database file in the
// background, on a separate connection, so that no commit waits for it. While
// the database is idle it also releases memory.
type checkpointer struct {
	h     *handle
	path  string // of the log
	log   *slog.Logger
	tidy  func()        // called every tidyGap
	dirty chan struct{} // signals that something was written
	quit  chan struct{}
	gone  chan struct{}
	bytes atomic.Int64 // size of the log
	limit int64        // size at which the log is restarted, in bytes
	most  int64        // size at which the writer waits longer for readers, in bytes
	long  atomic.Bool  // the writer must restart the log

	running *running // is notified of commits and completed checkpoints
}

// newCheckpointer opens the connection. The loop is started by the caller.
func newCheckpointer(path string, log *slog.Logger, tidy func()) (*checkpointer, error) {
	h, err := openHandle(path, false, "synchronous=FULL", "wal_autocheckpoint=0", readerCache)
	if err != nil {
		return nil, err
	}
	return &checkpointer{
		h:     h,
		path:  path + "-wal",
		log:   log,
		tidy:  tidy,
		dirty: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		gone:  make(chan struct{}),
	}, nil
}

// loop runs until stop.
func (c *checkpointer) loop() {
	defer close(c.gone)
	timer := time.NewTimer(checkpointGap)
	defer timer.Stop()
	seldom := time.NewTicker(tidyGap)
	defer seldom.Stop()
	for {
		select {
		case <-c.dirty:
		case <-seldom.C:
			c.tidy()
			continue
		case <-c.quit:
			return
		}
		timer.Reset(checkpointGap)
		select {
		case <-timer.C:
		case <-c.quit:
			return
		}
		c.run()
	}
}

// run moves as many frames as it can without waiting for readers or writers. Later runs
// move the frames that a reader still needs.
func (c *checkpointer) run() {
	c.preload()
	commits := c.running.count()
	frames, moved, err := c.h.checkpoint(lib.SQLITE_CHECKPOINT_PASSIVE)
	switch code := resultCode(err); {
	case code == lib.SQLITE_BUSY: // another process is checkpointing
		c.mark()
		return
	case err != nil:
		c.log.Error("checkpoint", "error", err)
		c.mark()
		return
	}
	size := int64(frames) * pageSize
	c.bytes.Store(size)
	if size > c.limit && (moved == frames || size > c.most) {
		c.long.Store(true)
	}
	if moved < frames {
		c.mark()
	} else {
		c.running.moved(commits)
	}
}

// preload reads the file of a log that will soon be restarted, and returns how many bytes it has
// read. Otherwise, in a small container, the writer would wait for almost each block that it
// overwrites, because its frames are not aligned with the blocks of the file system.
func (c *checkpointer) preload() int64 {
	if c.limit >= walLimit || c.bytes.Load() < c.limit*3/4 {
		return 0
	}
	f, err := os.Open(c.path)
	if err != nil {
		return 0
	}
	defer f.Close()
	n, _ := io.Copy(io.Discard, io.LimitReader(f, c.limit)) // an error does no harm
	return n
}

// mark records that there are frames to move.
func (c *checkpointer) mark() {
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// longestLog is the multiple of its largest size that the log may reach before the writer
// waits longer for readers. They need the log, and usually end soon.
const longestLog = 4

// logSize returns the size at which the log is restarted, for a writer that keeps some bytes
// of pages. In a small container, a longer log would not stay in memory until it is
// overwritten. The writer would then read almost every page of the log first, because its
// frames are not aligned with the pages of the file system.
func logSize(cache int64) int64 { return min(cache, walLimit) }

// wrote is called by the writer between transactions. Under constant load the log never
// becomes empty, because new frames arrive while old ones are moved. So once it exceeds
// its limit and nearly all of it is moved, the writer pauses, moves the rest and restarts
// the log. It waits only briefly for readers.
func (c *checkpointer) wrote(h *handle) {
	c.running.wrote()
	c.mark()
	if !c.long.Load() {
		return
	}
	if wait := 100 * time.Millisecond; c.bytes.Load() > c.most {
		h.busyTimeout(wait)
	} else {
		h.busyTimeout(wait / 20)
	}
	defer h.busyTimeout(10 * time.Second)
	_, _, err := h.checkpoint(lib.SQLITE_CHECKPOINT_RESTART)
	switch {
	case err == nil:
		c.long.Store(false)
	case resultCode(err) == lib.SQLITE_BUSY:
		c.long.Store(false) // the next background run sets it again
	default:
		c.log.Error("checkpoint", "error", err)
	}
}

// stop ends the loop and closes the connection.
func (c *checkpointer) stop() {
	close(c.quit)
	<-c.gone
	c.h.close()
}
