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

// Routers asks one source of travel times after another. A source that fails,
// or does not know the way to travel, is passed over: one table is always of
// one source.
type Routers struct {
	Sources []TravelTimer // the best first; the last needs no network
	Failed  func(ctx context.Context, err error)
}

// tableWithin is the most time one table takes, over all sources that need the
// network.
const tableWithin = 2 * time.Minute

// Matrix implements TravelTimer.
func (r *Routers) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (times travel.Times, err error) {
	network, cancel := networkTime(ctx, tableWithin)
	defer cancel()
	for i, source := range r.Sources {
		within := network
		if i == len(r.Sources)-1 {
			within = ctx
		}
		times, err = source.Matrix(within, by, from, to)
		switch {
		case err == nil:
			return times, nil
		case errors.Is(ctx.Err(), context.Canceled):
			return times, ctx.Err()
		case !errors.Is(err, errNoMode) && r.Failed != nil:
			r.Failed(ctx, err)
		}
	}
	return times, err
}

// errNoMode says that a router does not know a way to travel.
var errNoMode = errors.New("it does not know the vehicle type")

// cell is one entry of a router's table. Nil means that there is no way.
type cell struct{ seconds, meters *float64 }

// block is the part of a table that one request asks for.
type block struct {
	from, to         []lastmile.Point
	fromRow, fromCol int
	within           time.Duration // in which it must be answered
}

// Blocks are asked for a few at a time.
const blocksAtOnce = 4

// split cuts a table into blocks of at most side by side places, all of about
// the same size.
func split(from, to []lastmile.Point, side int) []block {
	var blocks []block
	row := 0
	for rows := range slices.Chunk(from, even(len(from), side)) {
		col := 0
		for cols := range slices.Chunk(to, even(len(to), side)) {
			blocks = append(blocks, block{rows, cols, row, col, tableTime(len(from) * len(to))})
			col += len(cols)
		}
		row += len(rows)
	}
	return blocks
}

// even is the size of parts of n, at most so large, that differ least.
func even(n, most int) int {
	parts := max((n+most-1)/most, 1)
	return max((n+parts-1)/parts, 1)
}

// fill makes a table of blocks. The first block that fails ends it.
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
					stop(err) // the first cause counts
					return
				}
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return travel.Times{}, fmt.Errorf("ask %s for %d by %d travel times: %w", source, len(from), len(to), context.Cause(ctx))
	}
	return times, nil
}

// What no answer can be beyond.
const (
	maxTravel  = 30 * 24 * time.Hour
	topSpeed   = 100.0 // meters a second, as the crow flies
	farForSure = 20_000.0
)

var errNotTrue = errors.New("the answer cannot be true")

// put takes over the cells of a block.
func (b block) put(cells [][]cell, times travel.Times) error {
	if len(cells) != len(b.from) {
		return errNotTrue
	}
	for i, row := range cells {
		if len(row) != len(b.to) {
			return errNotTrue
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

// read checks a cell. A router that tells no distance gets the usual one.
func (c cell) read(from, to lastmile.Point) (time.Duration, lastmile.Meters, error) {
	if c.seconds == nil {
		return travel.Unreachable, 0, nil
	}
	seconds := *c.seconds
	straight := float64(from.Distance(to))
	if !(seconds >= 0 && seconds <= maxTravel.Seconds()) || straight > farForSure && seconds < straight/topSpeed {
		return 0, 0, errNotTrue
	}
	duration := time.Duration(math.Round(seconds*1000)) * time.Millisecond
	if c.meters == nil {
		_, distance := travel.Approximate(lastmile.Car, from, to)
		return duration, distance, nil
	}
	if meters := *c.meters; !(meters >= 0 && meters <= 1e8) {
		return 0, 0, errNotTrue
	}
	return duration, lastmile.Meters(*c.meters), nil
}

// tableTime is how long a block of a table may take, by the number of pairs in
// the table: an engine may work on one block after another.
func tableTime(pairs int) time.Duration {
	const most = blocksAtOnce * 2500 // are asked for at once
	return 3*time.Second + time.Duration(min(pairs, most))*10*time.Millisecond
}
