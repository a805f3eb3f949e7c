// Package sqlaccount contains the SQL statements for how administrators sign in:
// passwords, second factors, sessions, one-time links and mails. Package app composes
// it with the transactions of package sqlstore.
package sqlaccount
