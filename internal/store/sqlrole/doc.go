// Package sqlrole contains the SQL statements that find out to which teams records
// belong. Package app composes it with the transactions of package sqlstore.
package sqlrole
