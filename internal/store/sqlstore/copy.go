package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// How much goes into one INSERT when tables are copied. SQLite takes 32,766
// parameters and PostgreSQL 65,535; the bytes keep documents from piling up.
const (
	copyParameters = 4000
	copyRows       = 200
	copyBytes      = 1 << 20
)

// copyTables copies every table. Both databases have the same schema. What the
// target holds is replaced.
func copyTables(ctx context.Context, from, to conn) error {
	list, err := tables(ctx, to)
	if err != nil {
		return err
	}
	there, err := tables(ctx, from)
	if err != nil {
		return err
	}
	if len(list) != len(there) {
		return fmt.Errorf("%d tables cannot become %d: the schemas differ", len(there), len(list))
	}
	for _, t := range list {
		if err := copyTable(ctx, from, to, t); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	if !has(list, "task") {
		return nil // from before there were tasks
	}
	return placeAll(ctx, to)
}

// has tells whether a table is among those of a database.
func has(list []table, name string) bool {
	return slices.ContainsFunc(list, func(t table) bool { return t.name == quote(name) })
}

// placeAll gives places to the new tasks of all organizations: the database
// they came from may rank tasks by another clock.
func placeAll(ctx context.Context, c conn) error {
	lists, err := collect(ctx, c, func(r rows) (list lastmile.Container, err error) {
		err = r.Scan(&list.Organization, &list.Kind, &list.Owner)
		return list, err
	}, `SELECT DISTINCT org, container_kind, container FROM task WHERE container IS NOT NULL AND rank >= $1`, int64(unplaced))
	if err != nil {
		return fmt.Errorf("look for tasks without a place: %w", err)
	}
	for _, list := range lists {
		if err := (&tx{conn: c}).PlaceTasks(ctx, list.Organization, list.ContainerRef, time.UnixMilli(0)); err != nil {
			return err
		}
	}
	return nil
}

// copyTable copies the rows of one table.
func copyTable(ctx context.Context, from, to conn, t table) error {
	if _, err := to.exec(ctx, "DELETE FROM "+t.name); err != nil {
		return err
	}
	r, err := from.query(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name)
	if err != nil {
		return err
	}
	defer r.Close()
	width := len(t.columns)
	limit := max(1, min(copyRows, copyParameters/width))
	var (
		pending = make([]any, 0, limit*width)
		size    int
		one     = make([]any, width)
		dest    = make([]any, width)
	)
	for i := range one {
		dest[i] = &one[i]
	}
	for r.Next() {
		if err := r.Scan(dest...); err != nil {
			return err
		}
		pending = append(pending, one...)
		size += bytesIn(one)
		if len(pending) < limit*width && size < copyBytes {
			continue
		}
		if err := insert(ctx, to, t, pending); err != nil {
			return err
		}
		pending, size = pending[:0], 0
	}
	if err := r.Err(); err != nil {
		return err
	}
	return insert(ctx, to, t, pending)
}

// bytesIn is about how much memory a row takes.
func bytesIn(row []any) int {
	n := 0
	for _, v := range row {
		switch v := v.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
	}
	return n
}

// insert writes rows, whose values come one after the other.
func insert(ctx context.Context, to conn, t table, values []any) error {
	if len(values) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("INSERT INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES ")
	for i := range values {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(t.columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1))
	}
	b.WriteString(")")
	_, err := to.exec(ctx, b.String(), values...)
	return err
}
