package sqlite

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// indexSize is the size of the first part of the index of the write-ahead log, which the
// processes that use the database share.
const indexSize = 32 << 10

// salts is the position of the salts in the header of the index. They are zero until the first
// commit to a new log.
const salts = 4

// mapIndex returns the address of the index, in the mapping of the library. It is valid until
// the handle is closed. The handle must have read from the database.
func (h *handle) mapIndex() uintptr {
	if lib.Xsqlite3_file_control(h.tls, h.db, 0, lib.SQLITE_FCNTL_FILE_POINTER, h.out) != lib.SQLITE_OK {
		return 0
	}
	file := h.result(0)
	methods := (*lib.Tsqlite3_io_methods)(pointer((*lib.Tsqlite3_file)(pointer(file)).FpMethods))
	if methods.FiVersion < 2 || methods.FxShmMap == 0 {
		return 0
	}
	shmMap := *(*func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{methods.FxShmMap}))
	if shmMap(h.tls, file, 0, indexSize, 0, h.out) != lib.SQLITE_OK {
		return 0
	}
	return h.result(0)
}

// revision returns the header of the index. It has a counter of commits, the number of pages
// in the log and their checksum, and the library itself compares it to find out whether the
// pages that it has cached are current. A commit of any process replaces the second copy and
// then the first; while they differ, the revision is unknown. It is also unknown until the first
// commit to a new log: whenever the library creates the index of an empty log, the header is the
// same. See "The WAL-Index File Format" in the documentation of SQLite.
func (h *handle) revision() engine.Revision {
	if h.index == 0 {
		return engine.Revision{}
	}
	header := (*[2]engine.Revision)(pointer(h.index))
	var copies [2]engine.Revision
	for i := range copies {
		for j := range copies[i] {
			copies[i][j] = atomic.LoadUint64(&header[i][j]) // in this order
		}
	}
	if copies[0] != copies[1] || copies[0][salts] == 0 {
		return engine.Revision{}
	}
	return copies[0]
}

// Revision implements engine.Conn.
func (c *conn) Revision() engine.Revision { return c.h.revision() }
