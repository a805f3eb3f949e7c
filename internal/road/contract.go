package road

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// arc is an arc of a hierarchy, as stored in the file. It leads up to a more important node,
// which has a smaller number, or down from it. Its size in bytes is a multiple of align.
type arc struct {
	weight weight
	node   uint32
	via    uint32 // the node that a shortcut passes over, or a directed segment with the highest bit set
}

const isSegment = 1 << 31

// hierarchy is a contracted graph. Nodes are numbered by importance, the most
// important first.
type hierarchy struct {
	outFirst, inFirst []uint32 // by node, plus the end
	out, in           []arc    // to and from more important nodes
}

// link is an arc of a graph that is being contracted.
type link struct {
	weight weight
	node   uint32
	via    uint32
}

// contraction removes the nodes of a graph, the least important first, and adds
// shortcuts that preserve all distances between the others.
type contraction struct {
	out, in [][]link
	level   []uint32 // of the hierarchy below the node
	rank    []uint32 // when the node was contracted; none if not yet
	queue   queue
	search  witness
}

// contract builds the hierarchy of a graph and the new number of every node.
// Progress is called now and then with the share of nodes that are done.
func contract(ctx context.Context, g *graph, progress func(float64)) (*hierarchy, []uint32, error) {
	c := &contraction{
		out: make([][]link, g.nodes), in: make([][]link, g.nodes),
		level: make([]uint32, g.nodes), rank: make([]uint32, g.nodes),
	}
	for _, a := range g.arcs {
		if a.from != a.to {
			c.add(a.from, a.to, a.weight, a.segment|isSegment)
		}
	}
	c.search.init(g.nodes)
	for v := range uint32(g.nodes) {
		c.rank[v] = none
		c.queue = append(c.queue, queued{c.priority(v), v})
	}
	heap.Init(&c.queue)
	up, down := make([][]link, g.nodes), make([][]link, g.nodes)
	for done := uint32(0); len(c.queue) > 0; {
		if done%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			progress(float64(done) / float64(g.nodes))
		}
		top := c.queue[0]
		// Priorities change as neighbors are contracted: compute them when it matters.
		if p := c.priority(top.node); p > top.priority {
			c.queue[0].priority = p
			heap.Fix(&c.queue, 0)
			if c.queue[0].node != top.node {
				continue
			}
		}
		v := heap.Pop(&c.queue).(queued).node
		c.rank[v] = done
		done++
		up[v], down[v] = c.remove(v)
	}
	h, number := assemble(up, down, c.rank)
	return h, number, nil
}

// add adds an arc, or makes an existing one shorter.
func (c *contraction) add(from, to uint32, w weight, via uint32) {
	if put(&c.out[from], link{w, to, via}) {
		put(&c.in[to], link{w, from, via})
	}
}

// put adds a link to a list unless it has a shorter one, and reports whether it did.
func put(list *[]link, l link) bool {
	for i := range *list {
		if (*list)[i].node == l.node {
			if (*list)[i].weight <= l.weight {
				return false
			}
			(*list)[i] = l
			return true
		}
	}
	*list = append(*list, l)
	return true
}

// remove contracts a node and returns its links to the nodes that remain.
func (c *contraction) remove(v uint32) (up, down []link) {
	c.shortcuts(v, thorough, func(from, to uint32, w weight) { c.add(from, to, w, v) })
	up, down = c.out[v], c.in[v]
	for _, l := range up {
		c.in[l.node] = without(c.in[l.node], v)
		c.level[l.node] = max(c.level[l.node], c.level[v]+1)
	}
	for _, l := range down {
		c.out[l.node] = without(c.out[l.node], v)
		c.level[l.node] = max(c.level[l.node], c.level[v]+1)
	}
	c.out[v], c.in[v] = nil, nil
	return up, down
}

func without(list []link, node uint32) []link {
	for i := range list {
		if list[i].node == node {
			list[i] = list[len(list)-1]
			return list[:len(list)-1]
		}
	}
	return list
}

// priority returns how late a node should be contracted. It grows with the number of arcs
// that the contraction would add, and with the level, so that contractions spread evenly.
func (c *contraction) priority(v uint32) int {
	added := 0
	c.shortcuts(v, quick, func(uint32, uint32, weight) { added++ })
	removed := len(c.out[v]) + len(c.in[v])
	return 4*added - 2*removed + 2*int(c.level[v])
}

// The maximum number of nodes that a search for a way around settles. A search that gives up
// early only costs an unnecessary shortcut.
const (
	quick    = 60
	thorough = 300
)

// shortcuts calls add for every pair of neighbors whose shortest connection leads over v.
func (c *contraction) shortcuts(v uint32, effort int, add func(from, to uint32, w weight)) {
	for _, in := range c.in[v] {
		var most weight
		targets := 0
		for _, out := range c.out[v] {
			if out.node != in.node {
				most = max(most, out.weight)
				targets++
			}
		}
		if targets == 0 {
			continue
		}
		c.search.run(c.out, in.node, v, in.weight+most, c.out[v], targets, effort)
		for _, out := range c.out[v] {
			if w := in.weight + out.weight; out.node != in.node && c.search.distance(out.node) > w {
				add(in.node, out.node, w)
			}
		}
	}
}

// assemble numbers the nodes by importance and sorts their arcs.
func assemble(up, down [][]link, rank []uint32) (*hierarchy, []uint32) {
	n := len(rank)
	number, node := make([]uint32, n), make([]uint32, n)
	for v, r := range rank {
		number[v] = uint32(n) - 1 - r
		node[number[v]] = uint32(v)
	}
	collect := func(lists [][]link) (first []uint32, all []arc) {
		count := 0
		for _, list := range lists {
			count += len(list)
		}
		first, all = make([]uint32, 1, n+1), make([]arc, 0, count)
		for _, v := range node {
			start := len(all)
			for _, l := range lists[v] {
				via := l.via
				if via&isSegment == 0 {
					via = number[via]
				}
				all = append(all, arc{l.weight, number[l.node], via})
			}
			slices.SortFunc(all[start:], func(a, b arc) int { return cmp.Compare(a.node, b.node) })
			first = append(first, uint32(len(all)))
			lists[v] = nil // frees memory
		}
		return first, all
	}
	var h hierarchy
	h.outFirst, h.out = collect(up)
	h.inFirst, h.in = collect(down)
	return &h, number
}

// queued is a node that waits for its contraction.
type queued struct {
	priority int
	node     uint32
}

// queue implements heap.Interface.
type queue []queued

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].priority != q[j].priority {
		return q[i].priority < q[j].priority
	}
	return q[i].node < q[j].node
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(queued)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// witness searches for ways around a node.
type witness struct {
	dist    []weight
	seen    []uint32 // the search that set dist
	target  []uint32 // the search that waits for the node
	current uint32
	heap    minHeap
}

func (s *witness) init(nodes int) {
	s.dist, s.seen, s.target = make([]weight, nodes), make([]uint32, nodes), make([]uint32, nodes)
}

func (s *witness) distance(v uint32) weight {
	if s.seen[v] != s.current {
		return unreachable
	}
	return s.dist[v]
}

// run computes distances from a node, without passing avoid, until all targets are settled,
// the distance is too large, or enough nodes are settled.
func (s *witness) run(out [][]link, from, avoid uint32, most weight, targets []link, count, effort int) {
	s.current++
	for _, t := range targets {
		if t.node != from {
			s.target[t.node] = s.current
		}
	}
	s.heap = s.heap[:0]
	s.seen[from], s.dist[from] = s.current, 0
	s.heap.push(0, from)
	for settled := 0; len(s.heap) > 0 && settled < effort; {
		d, v := s.heap.pop()
		if d > s.dist[v] {
			continue
		}
		if d > most {
			return
		}
		settled++
		if s.target[v] == s.current {
			if count--; count == 0 {
				return
			}
		}
		for _, l := range out[v] {
			if l.node == avoid {
				continue
			}
			if next := d + l.weight; next <= most && next < s.distance(l.node) {
				s.seen[l.node], s.dist[l.node] = s.current, next
				s.heap.push(next, l.node)
			}
		}
	}
}
