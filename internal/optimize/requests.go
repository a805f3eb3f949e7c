package optimize

import (
	"cmp"
	"slices"
)

// compileRequests groups the stops that are served together into requests.
func (m *model) compileRequests() {
	p := m.p
	parent := make([]int32, m.stops)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for _, c := range p.Precedences {
		if c.SameVehicle {
			a, b := find(int32(c.Before)), find(int32(c.After))
			parent[max(a, b)] = min(a, b)
		}
	}
	m.request = make([]int32, m.stops)
	for i := range int32(m.stops) {
		if root := find(i); root == i {
			m.request[i] = int32(len(m.requests))
			m.requests = append(m.requests, []int32{i})
		} else {
			m.request[i] = m.request[root]
			m.requests[m.request[i]] = append(m.requests[m.request[i]], i)
		}
	}
	m.before, m.after, m.inside = make([][]int32, m.stops), make([][]int32, m.stops), make([][]int32, m.stops)
	for _, c := range p.Precedences {
		a, b := int32(c.Before), int32(c.After)
		if m.request[a] == m.request[b] {
			m.inside[b] = append(m.inside[b], a)
			continue
		}
		m.wide = true
		m.before[b] = append(m.before[b], a)
		m.after[a] = append(m.after[a], b)
	}
	m.kinds, m.pairOf, m.opens = make([]kind, len(m.requests)), make([]int32, len(m.requests)), make([]int8, m.stops)
	for _, members := range m.requests {
		if len(members) > 1 {
			m.paired += float64(len(members)) / float64(m.stops)
		}
	}
	m.weight, m.prize = make([]int64, len(m.requests)), make([]int64, len(m.requests))
	m.tier = make([]int32, len(m.requests))
	locked := make([]bool, m.stops)
	for i := range p.Vehicles {
		for _, s := range p.Vehicles[i].Route {
			locked[s] = true
		}
	}
	for r, members := range m.requests {
		m.sortRequest(members)
		linked := false
		for _, s := range members {
			linked = linked || len(m.before[s])+len(m.after[s]) > 0
			switch {
			case p.Stops[s].Optional:
				m.prize[r] += int64(p.Stops[s].Prize)
			case locked[s]:
				m.weight[r] += int64(m.stops) + 1
			default:
				m.weight[r]++
			}
		}
		switch {
		case linked || len(members) > 2:
			m.kinds[r] = general
		case len(members) == 2:
			m.kinds[r], m.pairOf[r] = pair, int32(m.pairs)
			m.pairs++
			m.opens[members[0]], m.opens[members[1]] = 1, -1
		}
	}
	for range m.requests { // at most as many rounds as the longest chain
		changed := false
		for b := range int32(m.stops) {
			for _, a := range m.before[b] {
				if t := m.tier[m.request[a]] + 1; t > m.tier[m.request[b]] && t <= int32(len(m.requests)) {
					m.tier[m.request[b]], changed = t, true
				}
			}
		}
		if !changed {
			break
		}
	}
}

// sortRequest sorts the stops of a request so that each comes after the stops that must
// precede it.
func (m *model) sortRequest(members []int32) {
	for i := range members {
		for k := i; k < len(members); k++ {
			if !slices.ContainsFunc(m.inside[members[k]], func(b int32) bool { return slices.Contains(members[i:], b) }) {
				members[i], members[k] = members[k], members[i]
				break
			}
		}
	}
}

// compileOpenings finds, for each request, the classes of vehicles that can serve it alone
// at the least cost.
func (m *model) compileOpenings() {
	m.openings = make([][]opening, len(m.requests))
	all := make([]opening, 0, len(m.classes))
	for q, members := range m.requests {
		if m.kinds[q] == general {
			continue
		}
		all = all[:0]
		for class := range m.classes {
			r := m.classes[class][0]
			if cost, ok := m.alone(r, members); ok {
				all = append(all, opening{cost, int32(class)})
			}
		}
		slices.SortFunc(all, func(a, b opening) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.class, b.class)) })
		m.openings[q] = slices.Clone(all[:min(len(all), openClasses)])
	}
}

// alone returns the cost of a route with only these stops, and reports whether the vehicle
// may serve and can reach them.
func (m *model) alone(r int32, stops []int32) (cost int64, ok bool) {
	v := &m.vehicles[r]
	cost = v.fixed
	at := m.nodes[m.start(r)].loc
	leg := func(to int32) {
		i := int(at)*m.size + int(to)
		cost += int64(v.matrix.cost[i])
		ok = ok && v.matrix.dur[i] < farAway
		at = to
	}
	ok = true
	for _, x := range stops {
		leg(x)
		ok = ok && (m.allowed == nil || m.allowed[int(r)*m.stops+int(x)])
	}
	leg(m.nodes[m.end(r)].loc)
	return cost, ok
}

// compileNeighbors lists, for each stop, the stops that are worth trying next to it. A part
// of the unavoidable waiting time counts as distance.
func (m *model) compileNeighbors() {
	n := m.stops
	m.preds, m.succs, m.around = make([][]near, n), make([][]near, n), make([][]int32, n)
	before, after, around := make([]ranked, 0, n), make([]ranked, 0, n), make([]ranked, 0, n)
	width := granularity
	if !m.plain {
		width = richGranularity
	}
	for x := range int32(n) {
		before, after, around = before[:0], after[:0], around[:0]
		row := int(x) * m.size
		for v := range int32(n) {
			if v == x {
				continue
			}
			to, from := int64(farAway), int64(farAway)
			for i := range m.matrices {
				t := &m.matrices[i]
				to = min(to, arcKey(&m.nodes[v], &m.nodes[x], t.durT[row+int(v)], t.costT[row+int(v)]))
				from = min(from, arcKey(&m.nodes[x], &m.nodes[v], t.dur[row+int(v)], t.cost[row+int(v)]))
			}
			if to < farAway {
				before = append(before, rank(to, v))
			}
			if from < farAway {
				after = append(after, rank(from, v))
			}
			mat := &m.matrices[0]
			around = append(around, rank(int64(mat.costT[row+int(v)])+int64(mat.cost[row+int(v)]), v))
		}
		mat := &m.matrices[0]
		for _, c := range smallest(before, width) {
			at := row + int(c.stop())
			m.preds[x] = append(m.preds[x], near{c.stop(), mat.durT[at], mat.costT[at]})
		}
		for _, c := range smallest(after, width) {
			at := row + int(c.stop())
			m.succs[x] = append(m.succs[x], near{c.stop(), mat.dur[at], mat.cost[at]})
		}
		for _, c := range smallest(around, adjacency) {
			m.around[x] = append(m.around[x], c.stop())
		}
	}
}

// ranked is a stop in the lower bits and the key by which stops are compared in the upper
// bits.
type ranked int64

const stopBits = 16

func rank(key int64, stop int32) ranked { return ranked(key<<stopBits | int64(stop)) }

func (r ranked) stop() int32 { return int32(r & (1<<stopBits - 1)) }

// arcKey ranks the travel from one stop directly to another by its cost and the unavoidable
// wait. It returns at least farAway if the vehicle cannot be there in time.
func arcKey(a, b *node, dur, cost int32) int64 {
	if int64(a.early)+int64(a.service)+int64(dur) > int64(b.late) {
		return farAway
	}
	wait := max(0, int64(b.early)-int64(dur)-int64(a.service)-int64(a.late))
	return int64(cost) + wait/5
}

// smallest returns the k smallest elements of a list in ascending order. It changes the
// order of the list.
func smallest(list []ranked, k int) []ranked {
	lo, hi := 0, len(list)-1
	for k < len(list) && lo < hi {
		pivot := list[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			lo = hi
		}
	}
	list = list[:min(k, len(list))]
	slices.Sort(list)
	return list
}
