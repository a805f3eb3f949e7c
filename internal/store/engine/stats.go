package engine

import (
	"math/bits"
	"sync/atomic"

	"dray/internal/lastmile"
)

// Stats are counters of an engine since it was opened, for metrics.
type Stats struct {
	Waiting    int    // operations that wait to start, now
	Running    int    // writes that were requested and are not in the counters below yet, now
	Operations uint64 // operations committed
	Commits    uint64 // transactions committed
	Failed     uint64 // operations that returned an error
	Retries    uint64 // operations run again
	Shed       uint64 // operations rejected because the database was too busy
	Broken     uint64 // transactions that the database aborted

	// Batches counts commits by their number of operations: 1, 2, 3-4, 5-8 … 129-256.
	// PostgreSQL commits every operation by itself.
	Batches [9]uint64

	Connections int   // open connections, now
	WALBytes    int64 // SQLite: size of the write-ahead log at the last checkpoint
}

// Counters are the counters behind Stats. They may be used concurrently.
type Counters struct {
	Operations, Failed, Retries, Shed, Broken atomic.Uint64
	Running                                   atomic.Int64

	commits atomic.Uint64
	batches [9]atomic.Uint64
}

// Committed counts a transaction of some operations.
func (c *Counters) Committed(operations int) {
	c.commits.Add(1)
	if operations > 0 {
		c.batches[min(bits.Len(uint(operations-1)), len(c.batches)-1)].Add(1)
	}
}

// Overloaded counts an operation that is rejected because there are too many, and returns
// its error.
func (c *Counters) Overloaded(format string, args ...any) error {
	c.Shed.Add(1)
	return lastmile.Overloaded("The server is busy: try again in a moment.").Because(format, args...)
}

// Commits returns how many transactions were committed.
func (c *Counters) Commits() uint64 { return c.commits.Load() }

// Stats copies the counters.
func (c *Counters) Stats() Stats {
	s := Stats{
		Running:    int(c.Running.Load()),
		Operations: c.Operations.Load(),
		Commits:    c.commits.Load(),
		Failed:     c.Failed.Load(),
		Retries:    c.Retries.Load(),
		Shed:       c.Shed.Load(),
		Broken:     c.Broken.Load(),
	}
	for i := range c.batches {
		s.Batches[i] = c.batches[i].Load()
	}
	return s
}
