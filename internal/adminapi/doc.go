// Package adminapi serves the part of the public API for those who administer an
// organization: its settings, its API keys, its text messages, search, and reports.
// Package api mounts it.
package adminapi
