package optimize

import (
	"context"
	"slices"
	"sync"
)

// rounds is the number of times that threads meet in a lap.
const rounds = 24

// sharedPlan is a plan that several threads improve. Each takes its steps on a copy, and a
// step becomes part of the shared plan unless another thread has changed one of its routes in
// the meantime. As routes do not depend on each other, the step saves as much there as on the
// copy.
type sharedPlan struct {
	sync.Mutex
	order   [][]int32
	absent  []int32
	windows [][2]int32 // of stops, if precedences between vehicles narrow them
	changes int64      // number of steps
	stamps  []int64    // by route, and at the end for absent: the step that changed it last
}

// follower is what one of the threads knows of a shared plan.
type follower struct {
	plan    *sharedPlan
	changes int64   // of the plan when it was copied last; -1 at first
	stamps  []int64 // of the copied routes; -1 at first
	changed []int32 // routes that were copied last
}

// newSharedPlan returns a shared plan that begins as that of a search.
func newSharedPlan(s *search) *sharedPlan {
	p := &sharedPlan{order: make([][]int32, len(s.routes)), absent: slices.Clone(s.absent), stamps: make([]int64, len(s.routes)+1)}
	for r := range s.routes {
		p.order[r] = s.sequence(int32(r), nil)
	}
	if s.m.wide {
		for i := range s.m.stops {
			p.windows = append(p.windows, [2]int32{s.nodes[i].early, s.nodes[i].late})
		}
	}
	return p
}

// join makes a search a follower of a shared plan, which it copies before its first step.
func (p *sharedPlan) join(s *search) {
	s.shared = follower{plan: p, changes: -1, stamps: slices.Repeat([]int64{-1}, len(p.stamps))}
}

// follow copies what other threads have changed to a search.
func (f *follower) follow(s *search) {
	p := f.plan
	if p == nil {
		return
	}
	p.Lock()
	if f.changes == p.changes {
		p.Unlock()
		return
	}
	f.changes = p.changes
	f.changed = f.changed[:0]
	for r, stamp := range p.stamps {
		if f.stamps[r] == stamp {
			continue
		}
		f.stamps[r] = stamp
		if r == len(s.routes) {
			p.copyAbsent(s)
		} else {
			f.changed = append(f.changed, int32(r))
		}
	}
	for _, r := range f.changed {
		p.copyRoute(s, r)
	}
	p.Unlock()
	for _, r := range f.changed {
		s.refresh(r)
	}
}

// copyAbsent makes the requests absent that the plan leaves out. The routes that changed with
// them are copied after that.
func (p *sharedPlan) copyAbsent(s *search) {
	s.absent = append(s.absent[:0], p.absent...)
	s.weight, s.prizes = 0, 0
	for _, q := range s.absent {
		s.weight += s.m.weight[q]
		s.prizes += s.m.prize[q]
		for _, x := range s.m.requests[q] {
			n := &s.m.nodes[x]
			s.nodes[x].route, s.nodes[x].early, s.nodes[x].late = -1, n.early, n.late
		}
	}
	s.current = s.absence()
}

// copyRoute copies a route, without refresh.
func (p *sharedPlan) copyRoute(s *search, r int32) {
	at := s.m.start(r)
	s.nodes[at].to = -1
	for _, x := range p.order[r] {
		n := &s.nodes[x]
		s.nodes[at].next = x
		n.prev, n.route, n.to = at, r, -1
		if p.windows != nil {
			n.early, n.late = p.windows[x][0], p.windows[x][1]
		}
		at = x
	}
	s.nodes[at].next = s.m.end(r)
	s.nodes[s.m.end(r)].prev = at
}

// publish makes the current step of a search part of the shared plan, and reports whether it
// could. Nothing needs to be done for a plan that is not shared.
func (f *follower) publish(s *search) bool {
	p := f.plan
	if p == nil {
		return true
	}
	absent, others := len(s.routes), regrouped(s)
	p.Lock()
	defer p.Unlock()
	if others && f.stamps[absent] != p.stamps[absent] {
		return false
	}
	for _, r := range s.touched {
		if f.stamps[r] != p.stamps[r] {
			return false
		}
	}
	step := p.changes + 1
	for _, r := range s.touched {
		s.seqA = s.sequence(r, s.seqA[:0])
		if p.windows == nil && slices.Equal(s.seqA, p.order[r]) {
			continue
		}
		p.order[r] = append(p.order[r][:0], s.seqA...)
		p.changes, p.stamps[r], f.stamps[r] = step, step, step
		if p.windows == nil {
			continue
		}
		for _, x := range s.seqA {
			p.windows[x] = [2]int32{s.nodes[x].early, s.nodes[x].late}
		}
	}
	if others {
		p.absent = append(p.absent[:0], s.absent...)
		p.changes, p.stamps[absent], f.stamps[absent] = step, step, step
	}
	return true
}

// regrouped reports whether other requests are left out than before the step.
func regrouped(s *search) bool {
	return len(s.absent) != len(s.savedAbsent) || slices.ContainsFunc(s.savedAbsent, func(q int32) bool {
		return s.nodes[s.m.requests[q][0]].route >= 0
	})
}

// runTogether lets all threads take the steps of a lap on one plan.
func (s *search) runTogether(ctx context.Context, meter *meter) {
	s.load(&s.best)
	plan := newSharedPlan(s)
	var all []*search
	for round := 1; round <= rounds && ctx.Err() == nil; round++ {
		all = s.team(all, meter)
		for _, t := range all {
			t.charge = max(1, s.m.stops/len(all))
			if t.shared.plan == nil {
				plan.join(t)
			}
		}
		each(all, func(_ int, t *search) { t.run(ctx, meter, s.lap.after(round)) })
		for _, t := range all {
			s.iters = max(s.iters, t.iters)
			s.load(&t.best)
			s.keep()
		}
		meter.report(s, PhaseImprove)
	}
}
