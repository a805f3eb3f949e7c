package app

import (
	"os"
	"runtime"
)

// extraThreads is the number of threads that may run Go code beyond the number of processors.
const extraThreads = 2

// addThreads adds extraThreads. Go's scheduler resumes a goroutine that has waited for the disk
// or the network after all others that are ready, each of which may run for 10 ms; the kernel
// prefers a thread that has waited. Limits that depend on the number of processors must be set
// before.
//
// It adds none if GOMAXPROCS is set, or if the program is limited to fewer processors than there
// are. Such a limit is processor time per period: more threads use it up sooner, and then all of
// them wait for the next period. Go rounds limits up, and to at least two processors, so smaller
// ones go unnoticed on a machine with two. If threads are added, Go no longer adapts their number
// to a limit that is set while the program runs.
func addThreads() {
	if threads := runtime.GOMAXPROCS(0); os.Getenv("GOMAXPROCS") == "" && threads >= runtime.NumCPU() {
		runtime.GOMAXPROCS(threads + extraThreads)
	}
}
