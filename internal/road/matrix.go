package road

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/mapdata"
)

// Cell is the entry of a matrix for a pair of locations.
type Cell struct {
	Duration time.Duration
	Meters   float64
	Covered  bool // false if one of the locations is too far from any road
}

// Covers reports whether a location is close enough to a road.
func (m *Map) Covers(p Profile, at Point) (covered bool, err error) {
	defer runtime.KeepAlive(m)
	defer mapdata.Protect(&err, ErrDamaged)()
	_, covered = m.snap(p, at)
	return covered, nil
}

// Matrix returns the times and distances between all pairs of locations, on all
// processors. The matrix has a row for every origin.
func (m *Map) Matrix(ctx context.Context, p Profile, from, to []Point) (cells []Cell, err error) {
	weights, err := m.matrix(ctx, p, from, to)
	if err != nil {
		return nil, err
	}
	cells = make([]Cell, len(weights))
	for i, w := range weights {
		if w != unreachable {
			cells[i] = Cell{time.Duration(w.ms()) * time.Millisecond, float64(w.dm()) / 10, true}
		}
	}
	return cells, nil
}

// entry is in the bucket of a node. It is the weight from there to a target.
type entry struct {
	weight weight
	target uint32
}

// spaces are reused by searches.
var spaces = sync.Pool{New: func() any { return new(space) }}

// matrix searches upward from every target and leaves an entry at every node that
// it reaches. The searches upward from the sources meet them there (Knopp et al.,
// 2007).
func (m *Map) matrix(ctx context.Context, p Profile, from, to []Point) ([]weight, error) {
	defer runtime.KeepAlive(m) // its file is unmapped when it is not referenced
	sources, targets := make([]spot, len(from)), make([]spot, len(to))
	if err := m.snapAll(ctx, p, from, sources); err != nil {
		return nil, err
	}
	if err := m.snapAll(ctx, p, to, targets); err != nil {
		return nil, err
	}
	buckets, err := m.fillBuckets(ctx, p, targets)
	if err != nil {
		return nil, err
	}
	weights := make([]weight, len(from)*len(to))
	err = parallel(ctx, len(from), func(i int) {
		row := weights[i*len(to) : (i+1)*len(to)]
		for j := range row {
			row[j] = unreachable
		}
		if sources[i].segment == none {
			return
		}
		for j, t := range targets {
			if t.segment != none {
				row[j], _ = m.direct(p, sources[i], t)
			}
		}
		s := spaces.Get().(*space)
		defer spaces.Put(s)
		m.profiles[p].forward(s, m.sources(p, sources[i], nil))
		for _, at := range s.settled {
			v := &s.visits[at]
			for _, e := range buckets.at(v.node) {
				if w := v.weight + e.weight; w < row[e.target] {
					row[e.target] = w
				}
			}
		}
	})
	return weights, err
}

// snapAll finds the spots of locations; those without one have no segment.
func (m *Map) snapAll(ctx context.Context, p Profile, from []Point, spots []spot) error {
	return parallel(ctx, len(from), func(i int) {
		found, ok := m.snap(p, from[i])
		if !ok {
			spots[i] = spot{segment: none}
			return
		}
		m.measure(&found)
		spots[i] = found
	})
}

// bucketList holds the entries of all nodes that have some.
type bucketList struct {
	index   map[uint32]uint32 // position in first, by node
	first   []uint32
	entries []entry
}

func (b *bucketList) at(node uint32) []entry {
	if i, found := b.index[node]; found {
		return b.entries[b.first[i]:b.first[i+1]]
	}
	return nil
}

// fillBuckets searches from all targets.
func (m *Map) fillBuckets(ctx context.Context, p Profile, targets []spot) (*bucketList, error) {
	type found struct {
		node   uint32
		weight weight
	}
	reached := make([][]found, len(targets))
	err := parallel(ctx, len(targets), func(j int) {
		if targets[j].segment == none {
			return
		}
		s := spaces.Get().(*space)
		defer spaces.Put(s)
		m.profiles[p].backward(s, m.targets(p, targets[j], nil))
		list := make([]found, len(s.settled))
		for i, at := range s.settled {
			list[i] = found{s.visits[at].node, s.visits[at].weight}
		}
		reached[j] = list
	})
	if err != nil {
		return nil, err
	}
	b := &bucketList{index: map[uint32]uint32{}}
	var sizes []uint32
	for _, list := range reached {
		for _, f := range list {
			i, known := b.index[f.node]
			if !known {
				i = uint32(len(sizes))
				b.index[f.node], sizes = i, append(sizes, 0)
			}
			sizes[i]++
		}
	}
	b.first = make([]uint32, len(sizes)+1)
	for i, size := range sizes {
		b.first[i+1] = b.first[i] + size
		sizes[i] = b.first[i]
	}
	b.entries = make([]entry, b.first[len(sizes)])
	for j, list := range reached {
		for _, f := range list {
			i := b.index[f.node]
			b.entries[sizes[i]] = entry{f.weight, uint32(j)}
			sizes[i]++
		}
	}
	return b, nil
}

// parallel calls work for the numbers below n on all processors. It ends early
// with the error of the context, or if the file turns out to be damaged.
func parallel(ctx context.Context, n int, work func(i int)) error {
	const batch = 8
	var next atomic.Int64
	var working sync.WaitGroup
	var lock sync.Mutex
	var first error
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) {
		working.Go(func() {
			if err := batches(ctx, n, batch, &next, work); err != nil {
				lock.Lock()
				defer lock.Unlock()
				first = err
			}
		})
	}
	working.Wait()
	return first
}

func batches(ctx context.Context, n, size int, next *atomic.Int64, work func(i int)) (err error) {
	defer mapdata.Protect(&err, ErrDamaged)()
	for {
		end := int(next.Add(int64(size)))
		if end-size >= n {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := end - size; i < min(end, n); i++ {
			work(i)
		}
	}
}
