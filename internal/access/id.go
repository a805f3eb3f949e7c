package access

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
)

// idTimeLength is the number of characters at the start of an id that encode its
// time: Unix microseconds in base 36, which is enough for four thousand years.
const idTimeLength = 11

// IDs generates the ids of records. An id consists of the time and random
// characters, and is greater than all ids that the process has generated before.
// Lists are sorted by time and id, so this keeps the order of records that were
// created in the same millisecond.
type IDs struct {
	Now  func() time.Time
	last atomic.Int64 // microseconds
}

// New returns a new id.
func (s *IDs) New() string {
	at := strconv.FormatInt(s.next(s.Now().UnixMicro()), 36)
	return strings.Repeat("0", idTimeLength-len(at)) + at + RandomSecret(lastmile.IDLength-idTimeLength)
}

// next returns now or, if that is not after the time of the previous id, the
// microsecond after it.
func (s *IDs) next(now int64) int64 {
	for {
		last := s.last.Load()
		if at := max(now, last+1); s.last.CompareAndSwap(last, at) {
			return at
		}
	}
}
