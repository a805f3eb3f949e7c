package optimize

import (
	"cmp"
	"slices"
)

// compileRequests joins the stops that are served together.
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
	m.kinds, m.opens = make([]kind, len(m.requests)), make([]int8, m.stops)
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
			m.kinds[r] = pair
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

// sortRequest orders the stops of a request so that each comes after those that
// must precede it.
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

// compileNeighbors lists, for each stop, the stops that are worth trying next to
// it. Waiting that cannot be avoided counts as a part of the distance.
func (m *model) compileNeighbors() {
	n := m.stops
	m.preds, m.succs, m.around = make([][]near, n), make([][]near, n), make([][]int32, n)
	type candidate struct {
		key  int64
		stop int32
	}
	before, after, around := make([]candidate, 0, n), make([]candidate, 0, n), make([]candidate, 0, n)
	best := func(list []candidate, k int) []candidate {
		if len(list) > k {
			selectSmallest(list, k, func(a, b candidate) bool { return a.key < b.key || a.key == b.key && a.stop < b.stop })
			list = list[:k]
		}
		slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.stop, b.stop)) })
		return list
	}
	for x := range int32(n) {
		before, after, around = before[:0], after[:0], around[:0]
		for v := range int32(n) {
			if v == x {
				continue
			}
			to, from := m.arcKey(v, x), m.arcKey(x, v)
			if to < farAway {
				before = append(before, candidate{to, v})
			}
			if from < farAway {
				after = append(after, candidate{from, v})
			}
			mat := &m.matrices[0]
			around = append(around, candidate{int64(mat.cost[int(v)*m.size+int(x)]) + int64(mat.cost[int(x)*m.size+int(v)]), v})
		}
		mat := &m.matrices[0]
		for _, c := range best(before, granularity) {
			m.preds[x] = append(m.preds[x], near{c.stop, mat.dur[int(c.stop)*m.size+int(x)], mat.cost[int(c.stop)*m.size+int(x)]})
		}
		for _, c := range best(after, granularity) {
			m.succs[x] = append(m.succs[x], near{c.stop, mat.dur[int(x)*m.size+int(c.stop)], mat.cost[int(x)*m.size+int(c.stop)]})
		}
		for _, c := range best(around, adjacency) {
			m.around[x] = append(m.around[x], c.stop)
		}
	}
}

// arcKey ranks travel from one stop directly to another by the cheapest
// profile. It is at least farAway if no vehicle can do it in time.
func (m *model) arcKey(a, b int32) int64 {
	na, nb := &m.nodes[a], &m.nodes[b]
	key := int64(farAway)
	for i := range m.matrices {
		at := int(a)*m.size + int(b)
		d := m.matrices[i].dur[at]
		if int64(na.early)+int64(na.service)+int64(d) > int64(nb.late) {
			continue
		}
		wait := max(0, int64(nb.early)-int64(d)-int64(na.service)-int64(na.late))
		key = min(key, int64(m.matrices[i].cost[at])+wait/5)
	}
	return key
}

// selectSmallest moves the k smallest elements of a list to its front.
func selectSmallest[T any](list []T, k int, less func(a, b T) bool) {
	lo, hi := 0, len(list)-1
	for lo < hi {
		pivot := list[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for less(list[i], pivot) {
				i++
			}
			for less(pivot, list[j]) {
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
			return
		}
	}
}
