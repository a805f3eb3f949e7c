package geo

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Limits of the matrices that are kept in memory, in pairs of locations. A pair takes 16
// bytes. Small matrices are not worth caching.
const (
	keptPairs   = 2_000_000
	largestKept = 1_000_000
	leastKept   = 100
)

// Matrices caches the matrices of a source that needs no network, because plans are made
// repeatedly for almost the same stops.
type Matrices struct {
	TravelTimer
	Version func() string // changes when the data of the source does

	mu    sync.Mutex
	pairs int
	order list.List // elements are of type keptMatrix, the most recently used first
	kept  map[matrixKey]*list.Element
}

type matrixKey [sha256.Size]byte

type keptMatrix struct {
	key   matrixKey
	times travel.Times
	pairs int
}

// Matrix implements TravelTimer. Callers must not change its result.
func (m *Matrices) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	pairs := len(from) * len(to)
	if pairs < leastKept || pairs > largestKept {
		return m.TravelTimer.Matrix(ctx, by, from, to)
	}
	key := keyOf(m.Version(), by, from, to)
	m.mu.Lock()
	if e := m.kept[key]; e != nil {
		m.order.MoveToFront(e)
		m.mu.Unlock()
		return e.Value.(keptMatrix).times, nil
	}
	m.mu.Unlock()
	times, err := m.TravelTimer.Matrix(ctx, by, from, to)
	if err != nil {
		return times, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[matrixKey]*list.Element{}
	}
	if m.kept[key] == nil {
		m.kept[key] = m.order.PushFront(keptMatrix{key, times, pairs})
		m.pairs += pairs
	}
	for m.pairs > keptPairs {
		old := m.order.Remove(m.order.Back()).(keptMatrix)
		delete(m.kept, old.key)
		m.pairs -= old.pairs
	}
	return times, nil
}

// keyOf returns the key of a matrix. Locations are rounded to about a meter.
func keyOf(version string, by lastmile.VehicleType, from, to []lastmile.Point) matrixKey {
	text := make([]byte, 0, len(version)+len(by)+2+8*(len(from)+len(to)+1))
	text = append(append(append(text, version...), 0), by...)
	text = binary.LittleEndian.AppendUint64(append(text, 0), uint64(len(from)))
	for _, p := range slices.Concat(from, to) {
		text = binary.LittleEndian.AppendUint32(text, uint32(int32(math.Round(p.Lon*1e5))))
		text = binary.LittleEndian.AppendUint32(text, uint32(int32(math.Round(p.Lat*1e5))))
	}
	return sha256.Sum256(text)
}
