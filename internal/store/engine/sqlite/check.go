package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// oldestSQLite is the first version that cannot damage a database whose
// write-ahead log is reset while another connection writes.
const oldestSQLite = 3_051_003

// quickCheckLimit is the size up to which every page is checked when a server
// starts. Larger files would make the start slow.
const quickCheckLimit = 64 << 20

// checkLibrary returns an error if SQLite is too old.
func checkLibrary(oldest int) error {
	if oldest == 0 {
		oldest = oldestSQLite
	}
	tls := libc.NewTLS()
	defer tls.Close()
	if have := int(lib.Xsqlite3_libversion_number(tls)); have < oldest {
		return fmt.Errorf("this program was built with SQLite %s, which can damage databases: "+
			"build it with %s or newer", dotted(have), dotted(oldest))
	}
	return nil
}

// dotted formats 3051003 as 3.51.3.
func dotted(n int) string {
	return fmt.Sprintf("%d.%d.%d", n/1_000_000, n/1000%1000, n%1000)
}

// checkDatabase returns an error if a database file is damaged. It reads through SQLite
// and does not open the file itself, because closing it would release the locks that other
// connections of this process hold on it.
func checkDatabase(ctx context.Context, path string, thorough bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("inspect the database: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("the database %s is not a regular file", path)
	case info.Size() == 0:
		return damaged(path, errors.New("it is empty"))
	}
	h, err := openHandle(path, false, "cache_size=-8192", "temp_store=MEMORY", "query_only=ON")
	if err != nil {
		return damagedOr(path, err)
	}
	defer h.close()
	h.watch()
	h.stop = ctx.Done()
	c := &conn{h: h}
	defer c.end()
	if err := isDray(ctx, c); err != nil {
		return damagedOr(path, err)
	}
	if thorough && info.Size() <= quickCheckLimit {
		return damagedOr(path, pragmaCheck(ctx, c, "quick_check"))
	}
	return damagedOr(path, sample(ctx, c))
}

// isDray returns an error unless the file holds a database of this program.
func isDray(ctx context.Context, c engine.Conn) error {
	v, err := engine.SchemaVersion(ctx, c)
	if err != nil {
		return err
	}
	if v == 0 {
		return errNotDray
	}
	return nil
}

// errNotDray is the error of an intact database of another program.
var errNotDray = errors.New("it is not a database of dray")

// pragmaCheck checks every page of the database with quick_check or
// integrity_check.
func pragmaCheck(ctx context.Context, c engine.Conn, pragma string) error {
	var verdict string
	if err := c.Row(ctx, "PRAGMA "+pragma+"(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return &libraryError{code: lib.SQLITE_CORRUPT, text: verdict}
	}
	return nil
}

// sample reads the first and the last row of every table and compares the number of free
// pages with the number of pages.
func sample(ctx context.Context, c engine.Conn) error {
	var pages, free int64
	if err := c.Row(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if err := c.Row(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
		return err
	}
	if free > pages {
		return &libraryError{code: lib.SQLITE_CORRUPT, text: "more free pages than pages"}
	}
	tables, err := engine.Tables(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range tables {
		for _, direction := range []string{"", " DESC"} {
			if err := readOne(ctx, c, t, direction); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOne reads a row at one end of a table.
func readOne(ctx context.Context, c engine.Conn, t engine.Table, direction string) error {
	order := "rowid" + direction
	if t.Key != nil { // a table without rowid
		order = strings.Join(t.Key, direction+", ") + direction
	}
	r, err := c.Query(ctx, "SELECT * FROM "+t.Name+" ORDER BY "+order+" LIMIT 1")
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		dest := make([]any, len(t.Columns))
		for i := range dest {
			dest[i] = new(any)
		}
		if err := r.Scan(dest...); err != nil {
			return err
		}
	}
	return r.Err()
}

// damagedOr returns the error for a damaged file if err means damage or another program's
// database.
func damagedOr(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case meansDamage(err), errors.Is(err, errNotDray):
		return damaged(path, err)
	default:
		return fmt.Errorf("inspect the database %s: %w", path, err)
	}
}

// meansDamage reports whether err is due to a damaged page.
func meansDamage(err error) bool {
	code := resultCode(err)
	return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// Diagnose returns err, or the error of a damaged database if err came from
// reading a damaged page of the database in folder. Opening a database does not
// read all of it, so a page may prove damaged only later.
func Diagnose(folder string, err error) error {
	if errors.Is(err, ErrDamaged) || !meansDamage(err) {
		return err
	}
	return damaged(filepath.Join(folder, databaseFile), err)
}

// ErrDamaged is the error of a damaged database, for errors.Is.
var ErrDamaged = errors.New("the database is damaged")

// damage is an error about a damaged file.
type damage struct{ error }

// Is reports whether target is ErrDamaged.
func (damage) Is(target error) bool { return target == ErrDamaged }

// Unwrap returns the error without its mark.
func (d damage) Unwrap() error { return d.error }

// damaged returns the error for a damaged file, with advice on what to do.
func damaged(path string, err error) error {
	return damage{fmt.Errorf("the database %s is damaged or not a database of dray (%w): keep the folder as it is "+
		"for examination and restore a backup into an empty one with: dray restore FILE --data FOLDER", path, err)}
}

// Version returns the version of the embedded library.
func Version() string { return dotted(lib.SQLITE_VERSION_NUMBER) }
