package geo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Routers queries sources of travel times in order. Sources that fail, do not support the
// vehicle type or do not cover the area are skipped. Every matrix comes from one source, but
// the gaps of imported maps are estimated by formula.
type Routers struct {
	Services []TravelTimer // over the network, best first
	Local    []TravelTimer // need no network; queried after the services, best first
	Failed   func(ctx context.Context, err error)
}

// matrixTimeout limits the time to fill one matrix with all services.
const matrixTimeout = 2 * time.Minute

// Matrix implements TravelTimer.
func (r *Routers) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (times travel.Times, err error) {
	network, cancel := withNetworkTimeout(ctx, matrixTimeout)
	defer cancel()
	for i, source := range slices.Concat(r.Services, r.Local) {
		within := network
		if i >= len(r.Services) {
			within = ctx
		}
		times, err = source.Matrix(within, by, from, to)
		switch {
		case err == nil:
			return times, nil
		case errors.Is(ctx.Err(), context.Canceled):
			return times, ctx.Err()
		case !errors.Is(err, errNoMode) && !errors.Is(err, errNotCovered) && r.Failed != nil:
			r.Failed(ctx, err)
		}
	}
	return times, err
}

// errNoMode means that a router does not support the vehicle type.
var errNoMode = errors.New("it does not support the vehicle type")

// cell is an entry of a router's matrix. Nil means unreachable.
type cell struct{ seconds, meters *float64 }

// block is the part of a matrix that one request covers.
type block struct {
	from, to         []lastmile.Point
	fromRow, fromCol int
	within           time.Duration // timeout of the request
}

// blocksAtOnce is the maximum number of blocks that are requested concurrently.
const blocksAtOnce = 4

// split divides a matrix into blocks of about equal size, with at most side origins and side
// destinations each.
func split(from, to []lastmile.Point, side int) []block {
	var blocks []block
	row := 0
	for rows := range slices.Chunk(from, even(len(from), side)) {
		col := 0
		for cols := range slices.Chunk(to, even(len(to), side)) {
			blocks = append(blocks, block{rows, cols, row, col, blockTimeout(len(from) * len(to))})
			col += len(cols)
		}
		row += len(rows)
	}
	return blocks
}

// even returns the size of parts, at most most, into which n is divided most evenly.
func even(n, most int) int {
	parts := max((n+most-1)/most, 1)
	return max((n+parts-1)/parts, 1)
}

// fill fills a matrix block by block. It stops at the first block that fails.
func fill(ctx context.Context, source string, from, to []lastmile.Point, side int, ask func(context.Context, block) ([][]cell, error)) (travel.Times, error) {
	times := travel.NewTimes(len(from), len(to), source)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	blocks := split(from, to, side)
	work := make(chan block, len(blocks))
	for _, b := range blocks {
		work <- b
	}
	close(work)
	var workers sync.WaitGroup
	for range min(blocksAtOnce, len(blocks)) {
		workers.Go(func() {
			for b := range work {
				if ctx.Err() != nil {
					return
				}
				cells, err := ask(ctx, b)
				if err == nil {
					err = b.put(cells, times)
				}
				if err != nil {
					stop(err) // the first error counts
					return
				}
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return travel.Times{}, fmt.Errorf("query %s for %d by %d travel times: %w", source, len(from), len(to), context.Cause(ctx))
	}
	return times, nil
}

// Limits of plausible values.
const (
	maxTravel  = 30 * 24 * time.Hour
	topSpeed   = 100.0    // meters per second, as the crow flies
	farForSure = 20_000.0 // meters; the speed of shorter trips is not checked
)

var errImplausible = errors.New("the response is implausible")

// put copies the cells of a block into the matrix.
func (b block) put(cells [][]cell, times travel.Times) error {
	if len(cells) != len(b.from) {
		return errImplausible
	}
	for i, row := range cells {
		if len(row) != len(b.to) {
			return errImplausible
		}
		for j, c := range row {
			duration, distance, err := c.read(b.from[i], b.to[j])
			if err != nil {
				return err
			}
			times.Durations[b.fromRow+i][b.fromCol+j] = duration
			times.Distances[b.fromRow+i][b.fromCol+j] = distance
		}
	}
	return nil
}

// read checks and converts a cell. If the router returns no distance, it is approximated.
func (c cell) read(from, to lastmile.Point) (time.Duration, lastmile.Meters, error) {
	if c.seconds == nil {
		return travel.Unreachable, 0, nil
	}
	seconds := *c.seconds
	straight := float64(from.Distance(to))
	if !(seconds >= 0 && seconds <= maxTravel.Seconds()) || straight > farForSure && seconds < straight/topSpeed {
		return 0, 0, errImplausible
	}
	duration := time.Duration(math.Round(seconds*1000)) * time.Millisecond
	if c.meters == nil {
		_, distance := travel.Approximate(lastmile.Car, from, to)
		return duration, distance, nil
	}
	if meters := *c.meters; !(meters >= 0 && meters <= 1e8) {
		return 0, 0, errImplausible
	}
	return duration, lastmile.Meters(*c.meters), nil
}

// blockTimeout returns how long a block may take. It depends on the number of pairs in the
// whole matrix, because a router may process one block after another.
func blockTimeout(pairs int) time.Duration {
	const most = blocksAtOnce * 2500 // pairs that are requested concurrently
	return 3*time.Second + time.Duration(min(pairs, most))*10*time.Millisecond
}
