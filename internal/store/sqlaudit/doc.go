// Package sqlaudit contains the SQL statements of the audit log. Package app composes it
// with the transactions of package sqlstore.
package sqlaudit
