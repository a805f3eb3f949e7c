//go:build !linux

package postgres

import "syscall"

// userTimeout does nothing where the option does not exist; keep-alive finds a
// dead connection there.
func userTimeout(_, _ string, _ syscall.RawConn) error { return nil }
