package dispatch

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Processors divides the processors that plan among the dispatches of this process. Each
// dispatch that runs has one. Searches share the others equally, as far as each can use them.
type Processors struct {
	total    int
	mu       sync.Mutex
	running  int
	searches []*searching
}

// searching is a search that can use more than one processor.
type searching struct {
	most    int
	allowed atomic.Int64
}

// NewProcessors returns processors for as many dispatches at a time.
func NewProcessors(total int) *Processors { return &Processors{total: max(total, 1)} }

// run gives a dispatch a processor until end is called. A search that has it gives it back.
func (p *Processors) run() (end func()) {
	p.change(func() { p.running++ })
	return func() { p.change(func() { p.running-- }) }
}

// search gives a dispatch that runs more processors until end is called, if it can use any: at
// most most in all. allowed returns how many it may use now.
func (p *Processors) search(most int) (allowed func() int, end func()) {
	s := &searching{most: most}
	p.change(func() { p.searches = append(p.searches, s) })
	return func() int { return int(s.allowed.Load()) }, func() {
		p.change(func() { p.searches = slices.DeleteFunc(p.searches, func(other *searching) bool { return other == s }) })
	}
}

// change changes who uses processors, and divides them again.
func (p *Processors) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	shares := make([]int, len(p.searches))
	for spare, before := p.total-p.running, -1; spare > 0 && spare != before; {
		before = spare
		for i, s := range p.searches {
			if spare > 0 && 1+shares[i] < s.most {
				shares[i]++
				spare--
			}
		}
	}
	for i, s := range p.searches {
		s.allowed.Store(int64(1 + shares[i]))
	}
}
