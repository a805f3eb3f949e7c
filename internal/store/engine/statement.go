package engine

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Helpers of the packages that have the statements of records.

// Metered returns a connection that counts the bytes that it reads with the meter of the
// context, if there is one.
func Metered(c Conn) Conn { return meteredConn{c} }

type meteredConn struct{ Conn }

// Query implements Conn.
func (c meteredConn) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	found, err := c.Conn.Query(ctx, query, args...)
	if m := lastmile.MeterOf(ctx); m != nil && err == nil {
		return meteredRows{found, m}, nil
	}
	return found, err
}

// meteredRows counts the bytes that are read.
type meteredRows struct {
	Rows
	meter lastmile.Meter
}

// rowBytes is the memory counted for a row besides its texts.
const rowBytes = 64

// Scan reads a row.
func (r meteredRows) Scan(dest ...any) error {
	if err := r.Rows.Scan(dest...); err != nil {
		return err
	}
	n := rowBytes
	for _, d := range dest {
		switch d := d.(type) {
		case *[]byte:
			n += len(*d)
		case *string:
			n += len(*d)
		case *Raw:
			n += len(*d)
		}
	}
	return r.meter.Count(n)
}

// Collect runs a query and reads each row with scan.
func Collect[T any](ctx context.Context, c Conn, scan func(Rows) (T, error), query string, args ...any) ([]T, error) {
	found, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []T
	for found.Next() {
		item, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, found.Err()
}

// Index runs a query and reads each row, a key and its value, with scan.
func Index[K comparable, V any](ctx context.Context, c Conn, scan func(Rows) (K, V, error), query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	_, err := Collect(ctx, c, func(r Rows) (none struct{}, err error) {
		key, value, err := scan(r)
		all[key] = value
		return none, err
	}, query, args...)
	return all, err
}

// ScanDocument reads a record that is stored as JSON of the domain.
func ScanDocument[T any](r Rows) (record T, err error) {
	var doc []byte
	if err = r.Scan(&doc); err == nil {
		err = json.Unmarshal(doc, &record)
	}
	return record, err
}

// Only returns the one record of a list, or the reason why there is none. kind is
// the table.
func Only[T any, Kind ~string](ctx context.Context, c Conn, kind Kind, id string, found []T, err error) (T, error) {
	if err == nil && len(found) == 0 {
		err = Missing(ctx, c, string(kind), id)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

// Missing returns why the organization has no such record in a table: it belongs to
// another organization, or it does not exist.
func Missing(ctx context.Context, c Conn, table, id string) error {
	noun := strings.ReplaceAll(table, "_", " ")
	if !lastmile.ValidID(id) {
		return lastmile.NotFound(noun, id)
	}
	// The second test makes a partial index usable; see migration 0025.
	found, err := Exists(ctx, c, `SELECT 1 FROM `+table+` WHERE id = $1 AND id <> ''`, id)
	switch {
	case err != nil:
		return fmt.Errorf("look for %s %s: %w", noun, id, err)
	case !found:
		return lastmile.NotFound(noun, id)
	}
	return lastmile.OutsideScope(id)
}

// Exists reports whether a query returns a row.
func Exists(ctx context.Context, c Conn, query string, args ...any) (bool, error) {
	var one int64
	err := c.Row(ctx, query, args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Count returns the one number that a query returns.
func Count(ctx context.Context, c Conn, query string, args ...any) (int, error) {
	var n int64
	if err := c.Row(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	return int(n), nil
}

// DeleteOld deletes rows of a table in which a column is below a limit: the first n
// in the order of the column, and all rows with the same value as the last of them.
// The column has an index.
func DeleteOld(ctx context.Context, c Conn, table, column, and string, below int64, n int) (int64, error) {
	where := ` FROM ` + table + ` WHERE ` + column + ` < $1` + and
	var last int64
	err := c.Row(ctx, `SELECT `+column+where+` ORDER BY `+column+` LIMIT 1 OFFSET $2`, below, n-1).Scan(&last)
	switch {
	case err == nil:
		below = last + 1
	case !errors.Is(err, sql.ErrNoRows):
		return 0, fmt.Errorf("read what is old of %s: %w", table, err)
	}
	deleted, err := c.Exec(ctx, `DELETE`+where, below)
	if err != nil {
		return 0, fmt.Errorf("delete what is old of %s: %w", table, err)
	}
	return deleted, nil
}

// OldestFirst sorts records by creation time. If the statement sorted them, SQLite would
// hold all of them in memory that is not counted.
func OldestFirst[T any](records []T, key func(T) (created time.Time, id string)) {
	slices.SortFunc(records, func(a, b T) int {
		createdA, idA := key(a)
		createdB, idB := key(b)
		return cmp.Or(createdA.Compare(createdB), cmp.Compare(idA, idB))
	})
}

// Flag returns a boolean as it is stored.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
