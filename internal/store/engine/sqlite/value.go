package sqlite

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"dray/internal/store/engine"

	lib "modernc.org/sqlite/lib"
)

// kind is the storage class of a value.
type kind uint8

// The storage classes of SQLite.
const (
	kindNull kind = iota
	kindInt
	kindFloat
	kindText
	kindBlob
)

// value is an argument in one of SQLite's storage classes.
type value struct {
	kind  kind
	num   int64
	float float64
	bytes string  // bytes of a text or a blob; shares memory with the argument
	at    uintptr // where the bytes are outside Go's heap
}

// valueOf converts an argument to a value of its storage class.
func valueOf(arg any) (value, error) {
	switch a := arg.(type) {
	case nil:
		return value{}, nil
	case string:
		return value{kind: kindText, bytes: a}, nil
	case []byte:
		return blob(a), nil
	case int64:
		return value{kind: kindInt, num: a}, nil
	case int:
		return value{kind: kindInt, num: int64(a)}, nil
	case float64:
		return float(a)
	}
	return reflected(reflect.ValueOf(arg))
}

// reflected is valueOf for named types and pointers.
func reflected(v reflect.Value) (value, error) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return value{}, nil
	case v.Kind() == reflect.Pointer:
		return reflected(v.Elem())
	case v.Kind() == reflect.String:
		return value{kind: kindText, bytes: v.String()}, nil
	case v.CanInt():
		return value{kind: kindInt, num: v.Int()}, nil
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return value{kind: kindInt, num: int64(v.Uint())}, nil
	case v.CanFloat():
		return float(v.Float())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return blob(v.Bytes()), nil
	default:
		return value{}, fmt.Errorf("type %s cannot be stored", v.Type())
	}
}

// blob converts a []byte argument; nil is NULL, but an empty slice is not.
func blob(b []byte) value {
	if b == nil {
		return value{}
	}
	return value{kind: kindBlob, bytes: unsafe.String(unsafe.SliceData(b), len(b))}
}

// float converts a float. It rejects NaN, which SQLite would turn into NULL.
func float(f float64) (value, error) {
	if math.IsNaN(f) {
		return value{}, fmt.Errorf("NaN cannot be stored")
	}
	return value{kind: kindFloat, float: f}, nil
}

// scan copies the current row into the destinations.
func (s *stmt) scan(dest []any) error {
	if n := int(lib.Xsqlite3_column_count(s.h.tls, s.p)); n != len(dest) {
		return fmt.Errorf("sqlite: %d destinations for %d columns", len(dest), n)
	}
	for i, d := range dest {
		if err := s.column(int32(i), d); err != nil {
			return fmt.Errorf("sqlite: column %d: %w", i+1, err)
		}
	}
	return nil
}

// column copies one column of the current row into a destination.
func (s *stmt) column(i int32, dest any) error {
	have := lib.Xsqlite3_column_type(s.h.tls, s.p, i)
	switch d := dest.(type) {
	case *[]byte:
		switch have {
		case lib.SQLITE_NULL:
			*d = nil
			return nil
		case lib.SQLITE_BLOB, lib.SQLITE_TEXT:
			*d = s.bytes(i)
			return nil
		}
	case *engine.Raw:
		switch have {
		case lib.SQLITE_NULL:
			*d = nil
			return nil
		case lib.SQLITE_BLOB, lib.SQLITE_TEXT:
			*d = s.raw(i)
			return nil
		}
	case *string:
		if have == lib.SQLITE_TEXT || have == lib.SQLITE_BLOB {
			*d = s.text(i)
			return nil
		}
	case *int64:
		if have == lib.SQLITE_INTEGER {
			*d = lib.Xsqlite3_column_int64(s.h.tls, s.p, i)
			return nil
		}
	case *float64:
		if have == lib.SQLITE_FLOAT || have == lib.SQLITE_INTEGER {
			*d = lib.Xsqlite3_column_double(s.h.tls, s.p, i)
			return nil
		}
	case **int64: // nullable types, which are frequent
		if have == lib.SQLITE_NULL {
			*d = nil
			return nil
		}
		if have == lib.SQLITE_INTEGER {
			*d = new(lib.Xsqlite3_column_int64(s.h.tls, s.p, i))
			return nil
		}
	case **string:
		if have == lib.SQLITE_NULL {
			*d = nil
			return nil
		}
		if have == lib.SQLITE_TEXT {
			*d = new(s.text(i))
			return nil
		}
	case *any:
		*d = s.any(i, have)
		return nil
	}
	v := reflect.ValueOf(dest)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("destination of type %T is not a pointer", dest)
	}
	return s.into(i, have, v.Elem())
}

// into copies a column into a variable of a named type or a pointer.
func (s *stmt) into(i, have int32, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer && have == lib.SQLITE_NULL:
		v.SetZero()
		return nil
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if err := s.into(i, have, fresh.Elem()); err != nil {
			return err
		}
		v.Set(fresh)
		return nil
	case v.Kind() == reflect.String && (have == lib.SQLITE_TEXT || have == lib.SQLITE_BLOB):
		v.SetString(s.text(i))
		return nil
	case v.CanInt() && have == lib.SQLITE_INTEGER:
		n := lib.Xsqlite3_column_int64(s.h.tls, s.p, i)
		if v.OverflowInt(n) {
			return fmt.Errorf("%d does not fit into %s", n, v.Type())
		}
		v.SetInt(n)
		return nil
	case v.CanFloat() && (have == lib.SQLITE_FLOAT || have == lib.SQLITE_INTEGER):
		v.SetFloat(lib.Xsqlite3_column_double(s.h.tls, s.p, i))
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if have == lib.SQLITE_NULL {
			v.SetZero()
			return nil
		}
		if have == lib.SQLITE_TEXT || have == lib.SQLITE_BLOB {
			v.SetBytes(s.bytes(i))
			return nil
		}
	}
	return fmt.Errorf("%s cannot be read into %s", className(have), v.Type())
}

// any returns a column in the type closest to how it is stored.
func (s *stmt) any(i, have int32) any {
	switch have {
	case lib.SQLITE_INTEGER:
		return lib.Xsqlite3_column_int64(s.h.tls, s.p, i)
	case lib.SQLITE_FLOAT:
		return lib.Xsqlite3_column_double(s.h.tls, s.p, i)
	case lib.SQLITE_TEXT:
		return s.text(i)
	case lib.SQLITE_BLOB:
		return s.bytes(i)
	default:
		return nil
	}
}

// bytes copies a text or blob column.
func (s *stmt) bytes(i int32) []byte {
	raw := s.raw(i)
	b := make([]byte, len(raw))
	copy(b, raw)
	return b
}

// raw returns a text or blob column in the library's memory, valid until the next step or
// reset of the statement.
func (s *stmt) raw(i int32) []byte {
	p := lib.Xsqlite3_column_blob(s.h.tls, s.p, i)
	n := int(lib.Xsqlite3_column_bytes(s.h.tls, s.p, i))
	if p == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(pointer(p)), n)
}

// text copies a text column.
func (s *stmt) text(i int32) string {
	b := s.bytes(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// className names a storage class for an error.
func className(have int32) string {
	switch have {
	case lib.SQLITE_INTEGER:
		return "an integer"
	case lib.SQLITE_FLOAT:
		return "a float"
	case lib.SQLITE_TEXT:
		return "a text"
	case lib.SQLITE_BLOB:
		return "a blob"
	default:
		return "NULL"
	}
}
