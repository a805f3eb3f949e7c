package engine

import (
	"context"
	"fmt"
	"strings"
)

// Table is the description of a table that is needed to copy it.
type Table struct {
	Name    string   // quoted
	Columns []string // quoted
	Key     []string // quoted primary key of a SQLite table without rowid
}

// Quote returns any name as an SQL identifier.
func Quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Tables lists every table of a database except schema_version.
func Tables(ctx context.Context, c Conn) ([]Table, error) {
	all, err := readTables(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	var some []Table
	for _, t := range all {
		if t.Name != Quote("schema_version") {
			some = append(some, t)
		}
	}
	return some, nil
}

// readTables groups the columns of a database by table.
func readTables(ctx context.Context, c Conn) ([]Table, error) {
	r, err := c.Query(ctx, c.Dialect().ListColumns)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []Table
	for r.Next() {
		var (
			name, column   string
			withoutRow, pk int64
		)
		if err := r.Scan(&name, &withoutRow, &column, &pk); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].Name != Quote(name) {
			all = append(all, Table{Name: Quote(name)})
		}
		t := &all[len(all)-1]
		t.Columns = append(t.Columns, Quote(column))
		if withoutRow != 0 && pk != 0 {
			t.Key = append(t.Key, Quote(column))
		}
	}
	return all, r.Err()
}
