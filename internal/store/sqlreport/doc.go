// Package sqlreport has the SQL statements of search, of the positions of workers over
// time and of analytics. Its part is composed with the transactions of package sqlstore.
package sqlreport
