package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// table is what has to be known of a table to copy it.
type table struct {
	name    string   // quoted
	columns []string // quoted
	key     []string // quoted primary key, of a SQLite table without rowid
}

// quote makes an identifier of any name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// tables lists every table of a database but schema_version.
func tables(ctx context.Context, c conn) ([]table, error) {
	list := pgTables
	if _, ok := c.(*sqliteConn); ok {
		list = sqliteTables
	}
	all, err := list(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	var some []table
	for _, t := range all {
		if t.name != quote("schema_version") {
			some = append(some, t)
		}
	}
	return some, nil
}

// sqliteTables lists the tables of a SQLite database.
func sqliteTables(ctx context.Context, c conn) ([]table, error) {
	return columnsOf(ctx, c, `SELECT t.name, t.wr, i.name, i.pk
		FROM pragma_table_list AS t, pragma_table_info(t.name) AS i
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY t.name, i.cid`)
}

// pgTables lists the tables of a PostgreSQL database.
func pgTables(ctx context.Context, c conn) ([]table, error) {
	return columnsOf(ctx, c, `SELECT t.table_name::text, 0::bigint, i.column_name::text, 0::bigint
		FROM information_schema.tables AS t JOIN information_schema.columns AS i
			ON i.table_schema = t.table_schema AND i.table_name = t.table_name
		WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
		ORDER BY t.table_name, i.ordinal_position`)
}

// columnsOf reads rows of table, without-rowid, column, place in primary key.
func columnsOf(ctx context.Context, c conn, query string) ([]table, error) {
	r, err := c.query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []table
	for r.Next() {
		var (
			name, column   string
			withoutRow, pk int64
		)
		if err := r.Scan(&name, &withoutRow, &column, &pk); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].name != quote(name) {
			all = append(all, table{name: quote(name)})
		}
		t := &all[len(all)-1]
		t.columns = append(t.columns, quote(column))
		if withoutRow != 0 && pk != 0 {
			t.key = append(t.key, quote(column))
		}
	}
	return all, r.Err()
}
