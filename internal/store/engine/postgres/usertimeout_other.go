//go:build !linux

package postgres

import "syscall"

// userTimeout does nothing on systems without the option. There, keep-alive detects a
// dead connection.
func userTimeout(_, _ string, _ syscall.RawConn) error { return nil }
