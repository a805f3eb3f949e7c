package sqlstore

import (
	"math/bits"
	"sync/atomic"
)

// Stats are counters of an engine since it was opened, for metrics.
type Stats struct {
	Waiting    int    // operations waiting to be started, now
	Operations uint64 // operations committed
	Commits    uint64 // transactions committed
	Failed     uint64 // operations that returned an error
	Retries    uint64 // operations run again
	Shed       uint64 // operations refused because the database was too busy
	Broken     uint64 // transactions that the database gave up

	// Batches counts commits by how many operations they held: 1, 2, 3-4,
	// 5-8 … 129-256. PostgreSQL commits every operation by itself.
	Batches [9]uint64

	Connections int   // open connections, now
	WALBytes    int64 // SQLite: size of the write-ahead log at the last checkpoint
}

// counters are what Stats shows.
type counters struct {
	operations, commits, failed, retries, shed, broken atomic.Uint64
	batches                                            [9]atomic.Uint64
}

// committed notes a transaction of some operations.
func (c *counters) committed(operations int) {
	c.commits.Add(1)
	if operations > 0 {
		c.batches[min(bits.Len(uint(operations-1)), len(c.batches)-1)].Add(1)
	}
}

// stats copies the counters.
func (c *counters) stats() Stats {
	s := Stats{
		Operations: c.operations.Load(),
		Commits:    c.commits.Load(),
		Failed:     c.failed.Load(),
		Retries:    c.retries.Load(),
		Shed:       c.shed.Load(),
		Broken:     c.broken.Load(),
	}
	for i := range c.batches {
		s.Batches[i] = c.batches[i].Load()
	}
	return s
}
