//go:build !linux

package sqlite

import "time"

var loaded = time.Now()

// threadTime returns the time that has passed, because the processor time of a thread is
// unknown.
func threadTime() time.Duration { return time.Since(loaded) }
