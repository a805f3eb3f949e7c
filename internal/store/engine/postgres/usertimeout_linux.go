package postgres

import "syscall"

// userTimeout makes the kernel give a connection up when what was sent is not
// acknowledged: keep-alive alone does not help while data is under way, and
// the default is about a quarter of an hour.
func userTimeout(_, _ string, c syscall.RawConn) error {
	const (
		tcpUserTimeout = 18 // TCP_USER_TIMEOUT, missing from package syscall
		milliseconds   = 5000
	)
	return c.Control(func(fd uintptr) {
		// A socket that is not TCP refuses the option, which is fine.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, milliseconds)
	})
}
