// Package backup moves whole databases: it writes backups, restores them into
// either kind of database, and checks that the stored data is consistent.
package backup
