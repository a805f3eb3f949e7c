package work

import (
	"sync"

	"dray/internal/lastmile"
)

// Admission decides which items may run. A Loop asks before it leases an item,
// and reports each item that it admitted and that has ended or was not leased.
// Both may be called while handlers run.
type Admission interface {
	Admit(item Item) bool
	Done(item Item)
}

// Limits bounds how many items run at a time.
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
