package engine

import (
	"fmt"
	"strconv"
)

// Page selects rows of a table in the order of a key: up to Limit, and no more after those
// that have Bytes together. The reader stops there, too.
type Page struct {
	Columns, Table, Where string
	Key                   string // a column that no two of the rows share
	Size                  string // bytes of a row
	Limit                 int
	Bytes                 int // 0 means any number
}

// Statement returns the statement for a database. One that sends the rows that are not read
// as well would read many times as much as a page, so it finds the end of the page first,
// by the sizes of the rows.
func (p Page) Statement(d *Dialect) string {
	where, limit := p.Where, ` LIMIT `+strconv.Itoa(p.Limit)
	if d.SendsAll && p.Bytes > 0 {
		where += fmt.Sprintf(` AND %[1]s <= (SELECT MAX(%[1]s) FROM (
			SELECT %[1]s, SUM(size) OVER (ORDER BY %[1]s) - size AS before FROM (
				SELECT %[1]s, %[2]s AS size FROM %[3]s WHERE %[4]s ORDER BY %[1]s%[5]s) AS sized) AS page WHERE before < %[6]d)`,
			p.Key, p.Size, p.Table, p.Where, limit, p.Bytes)
	}
	return `SELECT ` + p.Columns + ` FROM ` + p.Table + ` WHERE ` + where + ` ORDER BY ` + p.Key + limit
}
