package sqlite

import (
	"syscall"
	"time"
)

// threadTime returns the processor time that the current thread has used.
func threadTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
