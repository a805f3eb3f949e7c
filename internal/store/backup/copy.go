package backup

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dray/internal/store/engine"
	"dray/internal/store/sqlstore"
)

// Limits of one INSERT when tables are copied. SQLite allows 32,766 parameters and
// PostgreSQL 65,535; the limit of bytes keeps documents from filling the memory.
const (
	copyParameters = 4000
	copyRows       = 200
	copyBytes      = 1 << 20
)

// copyTables copies every table and replaces the rows of the target. Both
// databases have the same schema.
func copyTables(ctx context.Context, from, to engine.Conn, o sqlstore.Options) error {
	list, err := engine.Tables(ctx, to)
	if err != nil {
		return err
	}
	there, err := engine.Tables(ctx, from)
	if err != nil {
		return err
	}
	if len(list) != len(there) {
		return fmt.Errorf("%d tables cannot become %d: the schemas differ", len(there), len(list))
	}
	for _, t := range list {
		if err := copyTable(ctx, from, to, t, o); err != nil {
			return fmt.Errorf("copy table %s: %w", t.Name, err)
		}
	}
	if !has(list, "task") {
		return nil // a schema without tasks
	}
	return sqlstore.PlaceNewTasks(ctx, to)
}

// has reports whether a table is in the list.
func has(list []engine.Table, name string) bool {
	return slices.ContainsFunc(list, func(t engine.Table) bool { return t.Name == engine.Quote(name) })
}

// copyTable copies the rows of one table.
func copyTable(ctx context.Context, from, to engine.Conn, t engine.Table, o sqlstore.Options) error {
	if _, err := to.Exec(ctx, "DELETE FROM "+t.Name); err != nil {
		return err
	}
	r, err := from.Query(ctx, "SELECT "+strings.Join(t.Columns, ", ")+" FROM "+t.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	width := len(t.Columns)
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
	for n := int64(1); r.Next(); n++ {
		if err := r.Scan(dest...); err != nil {
			return err
		}
		o.Report("copying table "+t.Name+", row", n)
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

// bytesIn estimates how much memory a row takes.
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

// insert writes rows; values holds the columns of one row after another.
func insert(ctx context.Context, to engine.Conn, t engine.Table, values []any) error {
	if len(values) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("INSERT INTO " + t.Name + " (" + strings.Join(t.Columns, ", ") + ") VALUES ")
	for i := range values {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(t.Columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1))
	}
	b.WriteString(")")
	_, err := to.Exec(ctx, b.String(), values...)
	return err
}
