package road

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Build prepares the roads of an extract and writes them to a file. The extract is
// opened twice. Progress is called with the share of the work that is done, from
// one goroutine at a time.
func Build(ctx context.Context, open func() (io.ReadCloser, error), out io.Writer, progress func(float64)) error {
	n, err := readNetwork(ctx, open)
	if err != nil {
		return err
	}
	progress(readShare)
	m, err := n.build(ctx, progress)
	if err != nil {
		return err
	}
	return m.write(out)
}

// readShare is the share of reading the extract in the time that Build takes.
const readShare = 0.2

// build prepares the map of a network.
func (n *network) build(ctx context.Context, progress func(float64)) (*Map, error) {
	m := &Map{points: n.points, nameFirst: []uint32{0}}
	for _, s := range n.segments {
		m.first, m.lengths, m.segNames = append(m.first, s.first), append(m.lengths, s.length), append(m.segNames, s.name)
	}
	m.first = append(m.first, uint32(len(n.points)/2))
	for _, name := range n.names {
		m.nameBytes = append(m.nameBytes, name...)
		m.nameFirst = append(m.nameFirst, uint32(len(m.nameBytes)))
	}
	var lock sync.Mutex
	var done [profiles]float64
	var errs [profiles]error
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var working sync.WaitGroup
	for p := range Profile(profiles) {
		working.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[p] = m.profiles[p].build(ctx, n, p, func(share float64) {
				lock.Lock()
				defer lock.Unlock()
				done[p] = share
				sum := 0.0
				for _, d := range done {
					sum += d / float64(profiles)
				}
				progress(readShare + (1-readShare)*sum)
			})
		})
	}
	working.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(m.profiles[:], func(p profileMap) bool { return len(p.outFirst) > 2 }) {
		return nil, ErrNoRoads
	}
	if err := m.index(); err != nil {
		return nil, err
	}
	progress(1)
	return m, nil
}

func (m *profileMap) build(ctx context.Context, n *network, p Profile, progress func(float64)) error {
	g := newGraph(n, p)
	h, number, err := contract(ctx, g, progress)
	if err != nil {
		return err
	}
	m.hierarchy, m.times, m.ends, m.tails = *h, g.times, g.ends, g.tails
	for i, e := range m.ends {
		if e.tail != none {
			m.ends[i] = ends{number[e.tail], number[e.head]}
		}
	}
	for i := range m.tails {
		m.tails[i].node = number[m.tails[i].node]
	}
	progress(1)
	return nil
}

// cellSize is the size of the cells of the index in 1e-7 degrees, about 280 meters
// from south to north.
const cellSize = 25_000

// columns is the number of cells around the Earth.
const columns = 3_600_000_000 / cellSize

// cellKey returns the key of a cell. Columns wrap around the Earth.
func cellKey(column, row int64) uint64 {
	return uint64(row*columns + (column%columns+columns)%columns)
}

// cellOf returns the cell of a point.
func cellOf(lon, lat int64) (column, row int64) {
	return (lon + 1_800_000_000) / cellSize, (lat + 900_000_000) / cellSize
}

// index sets the segments in each cell, and the bounds of the map.
func (m *Map) index() error {
	most := 4_000_000 + 8*len(m.points) // roads across oceans would need more
	m.bounds = []int32{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}
	type entry struct {
		key     uint64
		segment uint32
	}
	var all []entry
	for s := range uint32(len(m.lengths)) {
		if !m.used(s) {
			continue
		}
		if len(all) > most {
			return errors.New("the roads of the file are implausibly long")
		}
		start := len(all)
		add := func(lon, lat int64) {
			if key := cellKey(cellOf(lon, lat)); len(all) == start || all[len(all)-1].key != key {
				all = append(all, entry{key, s})
			}
		}
		for i := m.first[s]; i < m.first[s+1]; i++ {
			lon, lat := m.points[2*i], m.points[2*i+1]
			m.bounds = []int32{min(m.bounds[0], lon), min(m.bounds[1], lat), max(m.bounds[2], lon), max(m.bounds[3], lat)}
			if i > m.first[s] {
				walk(int64(m.points[2*i-2]), int64(m.points[2*i-1]), int64(lon), int64(lat), add)
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		switch {
		case a.key != b.key && a.key < b.key, a.key == b.key && a.segment < b.segment:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	all = slices.Compact(all)
	for i, e := range all {
		if i == 0 || e.key != all[i-1].key {
			m.cells, m.cellFirst = append(m.cells, e.key), append(m.cellFirst, uint32(i))
		}
		m.cellSegs = append(m.cellSegs, e.segment)
	}
	m.cellFirst = append(m.cellFirst, uint32(len(all)))
	return nil
}

// used reports whether any profile can use a segment.
func (m *Map) used(s uint32) bool {
	for i := range m.profiles {
		if t := m.profiles[i].times; t[s<<1] != none || t[s<<1|1] != none {
			return true
		}
	}
	return false
}

// walk calls add with points along a line that are at most half a cell apart. A
// line that only touches the corner of a cell may miss it by that much, which Snap
// allows for. Lines across the antimeridian take the short way.
func walk(lon1, lat1, lon2, lat2 int64, add func(lon, lat int64)) {
	if lon2-lon1 > 1_800_000_000 {
		lon2 -= 3_600_000_000
	} else if lon1-lon2 > 1_800_000_000 {
		lon2 += 3_600_000_000
	}
	steps := max(abs(lon2-lon1), abs(lat2-lat1))/(cellSize/2) + 1
	for i := range steps + 1 {
		lon := lon1 + (lon2-lon1)*i/steps
		if lon < -1_800_000_000 {
			lon += 3_600_000_000
		} else if lon > 1_800_000_000 {
			lon -= 3_600_000_000
		}
		add(lon, lat1+(lat2-lat1)*i/steps)
	}
}

func abs(n int64) int64 { return max(n, -n) }
