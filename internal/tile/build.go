package tile

import (
	"context"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Build makes the tiles of an extract and writes them to a file. The extract is opened
// four times. Progress is called with the share of the work that is done, from one
// goroutine at a time.
func Build(ctx context.Context, open func() (io.ReadCloser, error), out io.Writer, progress func(float64)) error {
	e, err := readExtract(ctx, open, func(share float64) { progress(readShare * share) })
	if err != nil {
		return err
	}
	b := &builder{
		ctx: ctx, progress: progress, extra: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 0)),
		encoders: sync.Pool{New: func() any { return new(encoder) }},
	}
	b.budget.Store(baseCost + costPerPoint*int64(e.count))
	b.divide(frame{}, e.shapes, 1)
	b.working.Wait()
	if b.err != nil {
		return b.err
	}
	center := e.center()
	e.shapes = nil
	if err := writeFile(out, b.entries, e.bounds, center); err != nil {
		return err
	}
	progress(1)
	return nil
}

// readShare is the share of reading the extract in the time that Build takes.
const readShare = 0.4

// center returns where a map opens: the most important place.
func (e *extract) center() point {
	center := point{e.bounds.west + (e.bounds.east-e.bounds.west)/2, e.bounds.north + (e.bounds.south-e.bounds.north)/2, 0}
	best := uint8(math.MaxUint8)
	for _, s := range e.shapes {
		if s.layer == layerPlace && s.rank < best && e.bounds.has(s.parts[0][0]) {
			best, center = s.rank, s.parts[0][0]
		}
	}
	return center
}

// entry is a tile, or a run of tiles with the same content.
type entry struct {
	id      uint64
	run     uint32
	content []byte
}

// builder makes tiles, on all cores.
type builder struct {
	ctx      context.Context //nolint:containedctx // of one call of Build
	extra    chan struct{}   // goroutines besides the first
	working  sync.WaitGroup
	encoders sync.Pool
	budget   atomic.Int64 // remaining cost of dividing shapes

	mu       sync.Mutex
	progress func(float64)
	done     float64
	entries  []entry
	err      error
}

func (b *builder) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// finish adds a share of the work that is done.
func (b *builder) finish(share float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += share
	b.progress(min(readShare+(0.99-readShare)*b.done, 0.99))
}

// encode makes a tile of shapes, and adds it for a run of tiles from id on.
func (b *builder) encode(f frame, id uint64, run uint32, shapes []*shape) {
	e := b.encoders.Get().(*encoder)
	defer b.encoders.Put(e)
	content, err := e.encode(f, shapes)
	if err != nil {
		b.fail(err)
	}
	if content == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, entry{id, run, content})
}

// divide makes a tile and all tiles in it. share is its share of the work.
func (b *builder) divide(f frame, shapes []*shape, share float64) {
	if err := b.ctx.Err(); err != nil {
		b.fail(err)
	}
	if b.failed() || len(shapes) == 0 {
		return
	}
	b.encode(f, tileID(f), 1, shapes)
	whole := f.box()
	switch {
	case f.zoom == MaxZoom:
		b.finish(share)
		return
	case !slices.ContainsFunc(shapes, func(s *shape) bool { return !s.solid(whole) }):
		b.fill(f, shapes)
		b.finish(share)
		return
	}
	var parts [4][]*shape
	frames := f.children()
	sum := 0
	for i, child := range frames {
		parts[i] = b.clip(shapes, child)
		sum += len(parts[i])
	}
	for i, child := range frames {
		part := share * float64(len(parts[i])) / float64(sum)
		if len(parts[i]) < parallelFrom {
			b.divide(child, parts[i], part)
			continue
		}
		select {
		case b.extra <- struct{}{}:
			b.working.Go(func() {
				defer func() { <-b.extra }()
				b.divide(child, parts[i], part)
			})
		default:
			b.divide(child, parts[i], part)
		}
	}
}

// parallelFrom is the number of shapes from which a tile is divided by another goroutine.
const parallelFrom = 200

// fill makes all tiles in one that shapes fill completely.
func (b *builder) fill(f frame, shapes []*shape) {
	for zoom := f.zoom + 1; zoom <= MaxZoom; zoom++ {
		deeper := zoom - f.zoom
		first := frame{zoom, f.x << deeper, f.y << deeper}
		around := first.box()
		cut := make([]*shape, len(shapes))
		for i, s := range shapes {
			cut[i] = &shape{style: s.style, box: around, size: s.size, parts: [][]point{around.ring()}}
		}
		// The tiles in a tile have consecutive numbers.
		b.encode(first, firstIn(f, zoom), 1<<(2*deeper), cut)
	}
}

// clip returns the parts of shapes that are in a tile.
func (b *builder) clip(shapes []*shape, f frame) (parts []*shape) {
	in := f.box()
	for _, s := range shapes {
		switch {
		case !in.touches(s.box):
			continue
		case in.contains(s.box):
			parts = append(parts, s)
			continue
		}
		one := &shape{style: s.style, size: s.size, box: noBox}
		cost := int64(costPerPart)
		kept, begin := false, 0 // whether the area around the next holes is kept, and its index in one.parts
		for _, part := range s.parts {
			var cut [][]point
			switch s.geometry {
			case points:
				cut = [][]point{part}
			case lines:
				cut = clipLine(part, in)
			case polygons:
				hole := area(part) < 0
				if hole && !kept {
					continue
				}
				ring := clipRing(part, in)
				left := area(ring) // of another sign where the ring crosses itself
				ok := len(ring) > 3 && left != 0 && left < 0 == hole
				if cut = [][]point{ring}; !ok {
					cut = nil
				}
				switch {
				case !hole:
					kept, begin = ok, len(one.parts)
				case ok && in.filledBy(ring):
					kept, one.parts, cut = false, one.parts[:begin], nil // nothing is left of the area
				}
			}
			for _, c := range cut {
				one.parts, one.box = append(one.parts, c), one.box.join(boxOf(c))
				cost += int64(len(c))
			}
		}
		if b.budget.Add(-cost) < 0 {
			b.fail(ErrHuge)
			return nil
		}
		if len(one.parts) > 0 {
			parts = append(parts, one)
		}
	}
	return parts
}
