package access

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
)

// idTime is how many characters of an id are its time: microseconds of Unix time
// in base 36, enough for four thousand years.
const idTime = 11

// IDs generates the ids of records. An id begins with the time and is greater than
// all ids that the process has generated before, so that records created in the
// same millisecond, which are listed by time and id, keep their order. The rest of
// an id is random.
type IDs struct {
	Now  func() time.Time
	last atomic.Int64 // microseconds
}

// New returns a new id.
func (s *IDs) New() string {
	at := strconv.FormatInt(s.next(s.Now().UnixMicro()), 36)
	return strings.Repeat("0", idTime-len(at)) + at + RandomSecret(lastmile.IDLength-idTime)
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
