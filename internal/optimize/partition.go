package optimize

import (
	"cmp"
	"math"
	"slices"
)

const (
	partitionStops = 256  // maximum number of stops
	partitionNoise = 1e-5 // maximum excess service of a stop in the linear program, which would stall without it
	partitionBatch = 200  // columns that are rated at a time in the linear program
	partitionWidth = 5000 // maximum number of columns in the search
)

// stopSet is a set of stops.
type stopSet [partitionStops / 64]uint64

func (s *stopSet) add(x uint8)      { s[x/64] |= 1 << (x % 64) }
func (s *stopSet) has(x uint8) bool { return s[x/64]>>(x%64)&1 != 0 }

func (s *stopSet) meets(o *stopSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

func (s *stopSet) union(o *stopSet) stopSet {
	return stopSet{s[0] | o[0], s[1] | o[1], s[2] | o[2], s[3] | o[3]}
}

// column is a route that may be chosen.
type column struct {
	cost  int64
	stops []uint8 // in the order of the route
	set   stopSet
	price float64 // reduced cost: a plan with the route exceeds the bound at least by this
	level float64 // value in the linear program, from 0 to 1
}

func newColumn(cost int64, stops []uint8) column {
	c := column{cost: cost, stops: stops}
	for _, x := range stops {
		c.set.add(x)
	}
	return c
}

// partition chooses routes that serve each stop exactly once, at the least cost. A linear
// program, in which a route may be chosen in part, gives a lower bound of the cost, and rules
// out routes. The others are searched for the best choice.
type partition struct {
	stops   int
	columns []column
	most    int   // maximum number of routes to choose
	limit   int64 // the cost that must be undercut
	work    int64 // rest of the work, in stops of routes that are read

	duals  [partitionStops]float64 // by stop: its share of the cost
	batch  []int32                 // columns whose reduced cost was below 0
	cursor int                     // the column to be rated next
	bound  float64                 // sum of duals; no choice costs less
	gap    float64                 // by how much a choice may exceed the bound

	lists    [][]int32 // by number of chosen routes: those that can be added
	branches [][]int32 // and those of them that are tried
	chosen   []int32
	best     []int32
}

// solve returns the cheapest choice that undercuts the limit, or nil. If the work is done
// before the search is complete, it returns the best choice so far.
func (p *partition) solve() []column {
	if !p.relax() {
		return nil
	}
	p.reduce()
	p.lists, p.branches = make([][]int32, p.stops+1), make([][]int32, p.stops+1)
	for i := range p.columns {
		p.lists[0] = append(p.lists[0], int32(i))
	}
	p.descend(stopSet{}, 0)
	var out []column
	for _, i := range p.best {
		out = append(out, p.columns[i])
	}
	return out
}

// relax solves the linear program by the simplex method, and reports whether it could before
// the work was done. A stop may remain without a route at the cost of the limit.
func (p *partition) relax() bool {
	n := p.stops
	inverse := make([]float64, n*n) // of the basis, by column
	basis := make([]int32, n)       // by row: its column, or -1 if a stop has no route
	value := make([]float64, n)
	enter := make([]float64, n)
	noise := newRNG(uint64(n))
	for i := range n {
		inverse[i*n+i], basis[i] = 1, -1
		value[i] = 1 + partitionNoise*noise.float()
		p.duals[i] = float64(p.limit)
	}
	tolerance := 1e-7 * float64(p.limit)
	for p.work > 0 {
		q, price := p.cheapest(tolerance)
		if q < 0 {
			for i, k := range basis {
				if k >= 0 {
					p.columns[k].level = value[i]
				}
			}
			return true
		}
		clear(enter)
		for _, x := range p.columns[q].stops {
			for i, v := range inverse[int(x)*n:][:n] {
				enter[i] += v
			}
		}
		p.work -= int64(n * len(p.columns[q].stops))
		leave, step := -1, math.Inf(1)
		for i, v := range enter {
			if v > 1e-7 && value[i] < step*v {
				leave, step = i, value[i]/v
			}
		}
		if leave < 0 {
			return false
		}
		for i, v := range enter {
			value[i] = max(0, value[i]-step*v)
		}
		basis[leave], value[leave] = q, step
		pivot := enter[leave]
		for x := range n {
			row := inverse[x*n:][:n]
			f := row[leave] / pivot
			if f == 0 {
				continue
			}
			p.duals[x] += price * f
			for i, v := range enter {
				row[i] -= f * v
			}
			row[leave] = f
			p.work -= int64(n)
		}
	}
	return false
}

// cheapest returns the column with the least reduced cost of a batch, or -1 if no column has
// one below 0.
func (p *partition) cheapest(tolerance float64) (best int32, price float64) {
	if best, price = p.rate(tolerance); best >= 0 {
		return best, price
	}
	for range p.columns {
		if p.reduced(&p.columns[p.cursor]) < -tolerance {
			p.batch = append(p.batch, int32(p.cursor))
		}
		if p.cursor++; p.cursor == len(p.columns) {
			p.cursor = 0
		}
		if len(p.batch) == partitionBatch {
			break
		}
	}
	return p.rate(tolerance)
}

// rate returns the best column of the batch, and drops those that are of no use.
func (p *partition) rate(tolerance float64) (best int32, price float64) {
	best, price = -1, -tolerance
	kept := p.batch[:0]
	for _, i := range p.batch {
		v := p.reduced(&p.columns[i])
		if v >= -tolerance {
			continue
		}
		kept = append(kept, i)
		if v < price {
			best, price = i, v
		}
	}
	p.batch = kept
	return best, price
}

// reduced returns the cost of a column above the shares of its stops.
func (p *partition) reduced(c *column) float64 {
	v := float64(c.cost)
	for _, x := range c.stops {
		v -= p.duals[x]
	}
	p.work -= int64(len(c.stops))
	return v
}

// reduce keeps only the columns that can be part of a choice below the limit, the most
// promising first.
func (p *partition) reduce() {
	for _, v := range p.duals[:p.stops] {
		p.bound += v
	}
	p.setGap()
	for i := range p.columns {
		p.columns[i].price = max(0, p.reduced(&p.columns[i]))
	}
	p.columns = slices.DeleteFunc(p.columns, func(c column) bool { return c.price > p.gap })
	slices.SortStableFunc(p.columns, func(a, b column) int { return cmp.Compare(a.price-a.level, b.price-b.level) })
	p.columns = p.columns[:min(len(p.columns), partitionWidth)]
}

// setGap computes the gap from the limit. Costs are whole numbers.
func (p *partition) setGap() { p.gap = float64(p.limit) - 0.5 - p.bound }

// descend adds routes to the chosen ones, whose prices have the given sum, until all stops
// are covered. It branches on the stop that the fewest routes serve.
func (p *partition) descend(covered stopSet, sum float64) {
	depth := len(p.chosen)
	list := p.lists[depth]
	var count [partitionStops]int32
	var share [partitionStops]float64 // of the price of the cheapest route
	for _, i := range list {
		c := &p.columns[i]
		v := c.price / float64(len(c.stops))
		for _, x := range c.stops {
			if count[x] == 0 || v < share[x] {
				share[x] = v
			}
			count[x]++
		}
		p.work -= 2 * int64(len(c.stops))
	}
	row, bound := -1, sum
	for x := range p.stops {
		if covered.has(uint8(x)) {
			continue
		}
		bound += share[x]
		if row < 0 || count[x] < count[row] {
			row = x
		}
	}
	switch {
	case row < 0:
		p.accept()
		return
	case count[row] == 0 || bound > p.gap || depth == p.most:
		return
	}
	kept, branch := list[:0], p.branches[depth][:0]
	for _, i := range list {
		c := &p.columns[i]
		least := bound + c.price
		for _, x := range c.stops {
			least -= share[x]
		}
		if least > p.gap {
			continue
		}
		kept = append(kept, i)
		if c.set.has(uint8(row)) {
			branch = append(branch, i)
		}
	}
	p.lists[depth], p.branches[depth] = kept, branch
	for _, i := range branch {
		if p.work <= 0 {
			return
		}
		c := &p.columns[i]
		total := sum + c.price
		next := p.lists[depth+1][:0]
		for _, k := range kept {
			if o := &p.columns[k]; total+o.price <= p.gap && !o.set.meets(&c.set) {
				next = append(next, k)
			}
		}
		p.work -= int64(len(kept))
		p.lists[depth+1] = next
		p.chosen = append(p.chosen, i)
		p.descend(covered.union(&c.set), total)
		p.chosen = p.chosen[:depth]
	}
}

// accept makes the chosen routes the best choice if they cost less than the limit.
func (p *partition) accept() {
	var cost int64
	for _, i := range p.chosen {
		cost += p.columns[i].cost
	}
	if cost < p.limit {
		p.limit, p.best = cost, append(p.best[:0], p.chosen...)
		p.setGap()
	}
}
