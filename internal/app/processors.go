package app

import (
	"os"
	"runtime"
)

// extraThreads is how many more threads may run Go code than there are processors.
const extraThreads = 2

// addThreads adds extraThreads, unless GOMAXPROCS is set or a limit allows fewer processors than
// there are: more threads would use up the processor time of each period sooner, and all of them
// would then wait for the next one. Go's scheduler resumes a goroutine
// that has waited for the disk or the network after all others that are ready, each of which
// may run for 10 ms; the kernel prefers a thread that has waited. Limits that depend on the
// number of processors must be set before.
func addThreads() {
	if threads := runtime.GOMAXPROCS(0); os.Getenv("GOMAXPROCS") == "" && threads >= runtime.NumCPU() {
		runtime.GOMAXPROCS(threads + extraThreads)
	}
}
