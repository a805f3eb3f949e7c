package sqlite

import (
	"context"
	"os"

	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// File is one database file that only its opener uses, such as a backup.
type File struct{ h *handle }

// OpenFile opens an existing database file. Its statements are interrupted when the
// context ends.
func OpenFile(ctx context.Context, path string, pragmas ...string) (*File, error) {
	h, err := openHandle(path, false, pragmas...)
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, h), nil
}

// CreateFile creates an empty database file, readable by its owner only.
func CreateFile(ctx context.Context, path string, pragmas ...string) (*File, error) {
	h, err := createHandle(path, pragmas...)
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, h), nil
}

// interruptible returns a File whose statements are interrupted when a context ends.
func interruptible(ctx context.Context, h *handle) *File {
	h.watch()
	h.stop = ctx.Done()
	return &File{h: h}
}

// Schema returns the file's schema, to be read or migrated.
func (f *File) Schema() engine.Schema { return engine.Schema{Read: f.Read, Change: f.Write} }

// Read runs fn without a transaction.
func (f *File) Read(ctx context.Context, fn func(engine.Conn) error) error {
	return interrupted(ctx, f.h.read(ctx, fn))
}

// Write runs fn in one transaction.
func (f *File) Write(ctx context.Context, fn func(engine.Conn) error) error {
	return interrupted(ctx, f.h.transact(ctx, fn))
}

// interrupted returns the error of the context if that is why a statement
// failed.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && resultCode(err) == lib.SQLITE_INTERRUPT {
		return ctx.Err()
	}
	return err
}

// Check reads every page and returns an error if the file is damaged or not a database of
// this program. If thorough is set, it also compares the indexes with their tables.
func (f *File) Check(ctx context.Context, thorough bool) error {
	return f.Read(ctx, func(c engine.Conn) error {
		if err := isDray(ctx, c); err != nil {
			return err
		}
		if thorough {
			return pragmaCheck(ctx, c, "integrity_check")
		}
		return pragmaCheck(ctx, c, "quick_check")
	})
}

// Close closes the file.
func (f *File) Close() { f.h.close() }

// Export copies a snapshot of the database into a new file, without free pages.
func (e *Engine) Export(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	source, err := OpenFile(ctx, e.path, readerCache)
	if err != nil {
		return err
	}
	defer source.Close()
	_, err = source.h.exec("VACUUM INTO $1", []any{path})
	return interrupted(ctx, err)
}
