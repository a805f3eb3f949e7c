package work

import (
	"sync"

	"dray/internal/lastmile"
)

// Admission decides which items may run. A Loop calls Admit before it leases an
// item. For each admitted item it calls Done when the handler has returned or the
// item could not be leased. Handlers may run during both calls.
type Admission interface {
	Admit(item Item) bool
	Done(item Item)
}

// Limits bounds how many items run at the same time.
type Limits struct {
	Total           int
	PerOrganization int
}

// limiter is the Admission of Limits.
type limiter struct {
	Limits
	mu      sync.Mutex
	running map[lastmile.OrganizationID]int
	total   int
}

func newLimiter(l Limits) *limiter {
	return &limiter{Limits: l, running: map[lastmile.OrganizationID]int{}}
}

// Admit implements Admission.
func (l *limiter) Admit(item Item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.Total || l.running[item.Organization] >= l.PerOrganization {
		return false
	}
	l.total++
	l.running[item.Organization]++
	return true
}

// Done implements Admission.
func (l *limiter) Done(item Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.running[item.Organization]--; l.running[item.Organization] == 0 {
		delete(l.running, item.Organization)
	}
}
