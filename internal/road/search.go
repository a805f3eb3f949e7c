package road

// space holds the nodes that a search in a hierarchy has visited. Its size depends on the
// search, not on the map.
type space struct {
	table   []uint32 // positions of nodes in visits, plus 1; open addressing
	visits  []visit
	settled []uint32 // positions in visits, in the order of weight, without those that are stalled
	heap    minHeap
}

// visit is a node that a search has reached.
type visit struct {
	node   uint32
	parent uint32 // position of the previous visit; none for a seed
	weight weight
	via    uint32 // as in arc; of a seed, its directed segment
	done   bool
}

func (s *space) reset() {
	if s.table == nil {
		s.table = make([]uint32, 1024)
	}
	clear(s.table)
	s.visits, s.settled, s.heap = s.visits[:0], s.settled[:0], s.heap[:0]
}

// slot returns the index of a node in the table, or of the free slot for it.
func (s *space) slot(node uint32) uint32 {
	mask := uint32(len(s.table) - 1)
	i := node * 2654435769 >> 7 & mask
	for s.table[i] != 0 && s.visits[s.table[i]-1].node != node {
		i = (i + 1) & mask
	}
	return i
}

// find returns the visit of a node, or nil.
func (s *space) find(node uint32) *visit {
	if at := s.table[s.slot(node)]; at != 0 {
		return &s.visits[at-1]
	}
	return nil
}

// reach records that a node is reached.
func (s *space) reach(node uint32, w weight, parent, via uint32) {
	i := s.slot(node)
	if at := s.table[i]; at != 0 {
		v := &s.visits[at-1]
		if w < v.weight {
			v.weight, v.parent, v.via = w, parent, via
			s.heap.push(w, at-1)
		}
		return
	}
	at := uint32(len(s.visits))
	s.visits = append(s.visits, visit{node, parent, w, via, false})
	s.table[i] = at + 1
	s.heap.push(w, at)
	if 2*len(s.visits) > len(s.table) {
		s.table = make([]uint32, 2*len(s.table))
		for at, v := range s.visits {
			s.table[s.slot(v.node)] = uint32(at) + 1
		}
	}
}

// run searches upward from seeds, along the arcs of first and arcs. The arcs of
// the other direction prove that a node is not on a shortest path (stalling).
func (s *space) run(seeds []seed, first []uint32, arcs []arc, otherFirst []uint32, other []arc) {
	s.reset()
	for _, seed := range seeds {
		s.reach(seed.node, seed.weight, none, seed.spot)
	}
search:
	for len(s.heap) > 0 {
		w, at := s.heap.pop()
		v := &s.visits[at]
		if v.done {
			continue
		}
		v.done = true
		node := v.node
		for _, a := range other[otherFirst[node]:otherFirst[node+1]] {
			if above := s.find(a.node); above != nil && above.weight+a.weight < w {
				continue search
			}
		}
		s.settled = append(s.settled, at)
		for _, a := range arcs[first[node]:first[node+1]] {
			s.reach(a.node, w+a.weight, at, a.via)
		}
	}
}

func (h *hierarchy) forward(s *space, seeds []seed) {
	s.run(seeds, h.outFirst, h.out, h.inFirst, h.in)
}

func (h *hierarchy) backward(s *space, seeds []seed) {
	s.run(seeds, h.inFirst, h.in, h.outFirst, h.out)
}
