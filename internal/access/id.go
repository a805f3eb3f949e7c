package access

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
)

// idTime is how many characters of an id tell when it was made: microseconds of
// Unix time in base 36, enough for four thousand years.
const idTime = 11

// IDs makes the ids of records. Each begins with when it was made and is greater
// than all that this process made before: records made in one millisecond, where
// they are listed by time and id, are in the order in which they were made. The
// rest is random.
type IDs struct {
	Now  func() time.Time
	last atomic.Int64 // microseconds
}

// New makes an id.
func (s *IDs) New() string {
	at := strconv.FormatInt(s.next(s.Now().UnixMicro()), 36)
	return strings.Repeat("0", idTime-len(at)) + at + RandomSecret(lastmile.IDLength-idTime)
}

// next is now or, when that is not after the time of the id before, the next
// microsecond after it.
func (s *IDs) next(now int64) int64 {
	for {
		last := s.last.Load()
		if at := max(now, last+1); s.last.CompareAndSwap(last, at) {
			return at
		}
	}
}
