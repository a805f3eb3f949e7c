package engine

import "fmt"

// Page selects rows of a table in the order of a key: at most Limit, and none after the
// row with which their sizes reach Bytes. The reader must stop there, too.
type Page struct {
	Columns, Table, Where string
	Key                   string // columns whose values are distinct together
	Size                  string // SQL expression of the size of a row in bytes
	Limit                 string // a number, or a parameter such as $3
	Bytes                 int    // 0 for no limit
}

// Statement returns the statement for a database. A database that sends rows which the
// reader does not want would send many times the size of a page; its statement finds the
// end of the page first, by the sizes of the rows.
func (p Page) Statement(d *Dialect) string {
	where, limit := p.Where, ` LIMIT `+p.Limit
	if d.SendsAll && p.Bytes > 0 {
		// Both subqueries are named t, as the table is if the key needs a name.
		where += fmt.Sprintf(` AND (%[1]s) <= (SELECT %[1]s FROM (
			SELECT %[1]s, SUM(size) OVER (ORDER BY %[1]s) - size AS before FROM (
				SELECT %[1]s, %[2]s AS size FROM %[3]s WHERE %[4]s ORDER BY %[1]s%[5]s) AS t) AS t WHERE before < %[6]d
			ORDER BY (%[1]s) DESC LIMIT 1)`,
			p.Key, p.Size, p.Table, p.Where, limit, p.Bytes)
	}
	return `SELECT ` + p.Columns + ` FROM ` + p.Table + ` WHERE ` + where + ` ORDER BY ` + p.Key + limit
}
