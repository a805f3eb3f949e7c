package sqlite

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// stmt is a prepared statement of one handle.
type stmt struct {
	h      *handle
	p      uintptr
	order  []int   // order[i] is the argument bound to parameter i+1
	args   int     // number of arguments
	values []value // arguments of the current run
	buf    uintptr // texts and blobs of the current run, outside Go's heap
	size   int     // size of buf
}

// A buffer grows as needed and is released after a run that needed a large one.
const (
	smallBuffer = 512
	keepBuffer  = 64 << 10
)

// prepare compiles one statement. Parameters are $1, $2 … as in PostgreSQL. SQLite treats
// them as names and numbers them in order of appearance, so the name of a parameter
// determines its argument.
func (h *handle) prepare(text string) (*stmt, error) {
	p, err := libc.CString(text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	defer libc.Xfree(h.tls, p)
	rc := lib.Xsqlite3_prepare_v3(h.tls, h.db, p, -1, lib.SQLITE_PREPARE_PERSISTENT, h.out, h.out+8)
	if rc != lib.SQLITE_OK {
		return nil, fmt.Errorf("prepare %q: %w", text, h.fault(rc))
	}
	s := &stmt{h: h, p: h.result(0)}
	if s.p == 0 || strings.TrimSpace(libc.GoString(h.result(1))) != "" {
		s.finalize()
		return nil, fmt.Errorf("prepare %q: not exactly one statement", text)
	}
	if err := s.number(); err != nil {
		s.finalize()
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	return s, nil
}

// number reads which argument each parameter stands for.
func (s *stmt) number() error {
	n := lib.Xsqlite3_bind_parameter_count(s.h.tls, s.p)
	for i := range n {
		name := libc.GoString(lib.Xsqlite3_bind_parameter_name(s.h.tls, s.p, i+1))
		digits, ok := strings.CutPrefix(name, "$")
		k, err := strconv.Atoi(digits)
		if !ok || err != nil || k < 1 {
			return fmt.Errorf("parameter %q is not $1, $2 …", name)
		}
		s.order = append(s.order, k-1)
		s.args = max(s.args, k)
	}
	s.values = make([]value, s.args)
	return nil
}

// start binds the arguments. The statement counts as running until it is reset.
func (s *stmt) start(args []any) error {
	if err := s.bind(args); err != nil {
		return err
	}
	s.h.running = s
	return nil
}

// bind passes the arguments to the library. Texts and blobs are copied into memory of the
// statement, because the library keeps their address until the statement ends, and Go may
// move data on a stack.
func (s *stmt) bind(args []any) error {
	if len(args) != s.args {
		return fmt.Errorf("sqlite: %d arguments for %d parameters", len(args), s.args)
	}
	size := 0
	for i, arg := range args {
		v, err := valueOf(arg)
		if err != nil {
			return fmt.Errorf("sqlite: argument %d: %w", i+1, err)
		}
		s.values[i] = v
		size += len(v.bytes)
	}
	if err := s.room(size); err != nil {
		return err
	}
	at := s.buf
	for i := range s.values {
		v := &s.values[i]
		v.at = at
		if n := len(v.bytes); n > 0 {
			copy(unsafe.Slice((*byte)(pointer(at)), n), v.bytes)
			at += uintptr(n)
		}
	}
	for i, k := range s.order {
		if rc := s.set(int32(i+1), &s.values[k]); rc != lib.SQLITE_OK {
			return s.h.fault(rc)
		}
	}
	return nil
}

// set binds one value to one parameter.
func (s *stmt) set(i int32, v *value) int32 {
	switch v.kind {
	case kindInt:
		return lib.Xsqlite3_bind_int64(s.h.tls, s.p, i, v.num)
	case kindFloat:
		return lib.Xsqlite3_bind_double(s.h.tls, s.p, i, v.float)
	case kindText:
		return lib.Xsqlite3_bind_text(s.h.tls, s.p, i, v.at, int32(len(v.bytes)), lib.SQLITE_STATIC)
	case kindBlob:
		return lib.Xsqlite3_bind_blob(s.h.tls, s.p, i, v.at, int32(len(v.bytes)), lib.SQLITE_STATIC)
	default:
		return lib.Xsqlite3_bind_null(s.h.tls, s.p, i)
	}
}

// room makes the buffer large enough. It always allocates one, because the library treats
// a blob without an address as NULL.
func (s *stmt) room(size int) error {
	if s.size >= max(size, 1) {
		return nil
	}
	libc.Xfree(s.h.tls, s.buf)
	s.size = max(size, smallBuffer)
	if s.buf = libc.Xmalloc(s.h.tls, lib.Tsize_t(s.size)); s.buf == 0 {
		s.size = 0
		return s.h.fault(lib.SQLITE_NOMEM)
	}
	return nil
}

// step goes to the next row and reports whether there is one.
func (s *stmt) step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.h.tls, s.p); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.h.fault(rc)
	}
}

// reset ends the run and makes the statement ready for the next. The result of
// the library's reset is the error that step has already returned.
func (s *stmt) reset() {
	if s.h.running != s {
		return
	}
	lib.Xsqlite3_reset(s.h.tls, s.p)
	s.h.running = nil
	clear(s.values) // do not keep the caller's arguments alive
	if s.size > keepBuffer {
		lib.Xsqlite3_clear_bindings(s.h.tls, s.p)
		libc.Xfree(s.h.tls, s.buf)
		s.buf, s.size = 0, 0
	}
}

// finalize releases the statement.
func (s *stmt) finalize() {
	lib.Xsqlite3_finalize(s.h.tls, s.p)
	libc.Xfree(s.h.tls, s.buf)
	s.p, s.buf, s.size = 0, 0, 0
}
