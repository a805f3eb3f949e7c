package postgres

import "syscall"

// userTimeout makes the kernel close a connection when sent data is not acknowledged.
// Keep-alive does not detect this while data is under way, and the default timeout is
// about a quarter of an hour.
func userTimeout(_, _ string, c syscall.RawConn) error {
	const (
		tcpUserTimeout = 18 // TCP_USER_TIMEOUT, missing from package syscall
		milliseconds   = 5000
	)
	return c.Control(func(fd uintptr) {
		// Sockets other than TCP reject the option, which does no harm.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, milliseconds)
	})
}
