package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Ranks order the tasks of a container. A task put at the end is ranked by the clock, in
// 256ths of a microsecond, so that a new task of the organization is added without
// reading the list; a task put between two others is ranked between them. No rank is
// ahead of the clock for longer than it takes to assign it, or else the next new task
// would come before it.
//
// On a database that may commit writes in another order than that in which they ran, a
// new task has no position at first: its rank is the time plus unplaced, which is above
// all final ranks. A transaction that reads or changes the list assigns final ranks at
// the end to all tasks committed by then, so that tasks committed later follow them. An
// immediate final rank could put a task before others that a client has already seen at
// the end.
const (
	rankStep = 1 << 8  // between tasks that are put at the end
	rankGap  = 1 << 20 // between tasks where there is room
	unplaced = 1 << 62 // tasks with this rank or a higher one have no position yet
)

// lastRank makes the ranks assigned by this process grow even if the clock is set back.
var lastRank atomic.Int64

// nextRanks returns the first of n ranks, a step apart, that are higher than after and
// than all that it returned before in this process.
func nextRanks(now time.Time, n int, after int64) int64 {
	for {
		last := lastRank.Load()
		first := max(now.UnixMicro()<<8, last+rankStep, after+rankStep)
		if lastRank.CompareAndSwap(last, first+int64(n-1)*rankStep) {
			return first
		}
	}
}

// setRanks sets the ranks of tasks.
func (t containerTx) setRanks(ctx context.Context, org lastmile.OrganizationID, tasks []lastmile.TaskID, ranks []int64) error {
	for i, id := range tasks {
		if err := t.send(ctx, `UPDATE task SET rank = $3 WHERE org = $1 AND id = $2`, org, id, ranks[i]); err != nil {
			return fmt.Errorf("rank task %s: %w", id, err)
		}
	}
	return nil
}

// clearRanks removes tasks from their lists.
func (t containerTx) clearRanks(ctx context.Context, org lastmile.OrganizationID, tasks []lastmile.TaskID) error {
	for chunk := range slices.Chunk(tasks, 200) {
		where := &condition{text: `org = $1`, args: []any{org}}
		in(where, `id`, chunk)
		if err := t.send(ctx, `UPDATE task SET rank = NULL WHERE `+where.text+` AND rank IS NOT NULL`, where.args...); err != nil {
			return fmt.Errorf("take tasks out of their lists: %w", err)
		}
	}
	return nil
}

// inContainer selects the tasks of a container, in the index that orders them; ranked
// selects those in its list.
const (
	inContainer = ` FROM task WHERE org = $1 AND container_kind = $2 AND container = $3 AND container IS NOT NULL`
	ranked      = inContainer + ` AND rank IS NOT NULL`

	selectLastRank = `SELECT rank` + ranked + ` ORDER BY rank DESC LIMIT 1`
)

// neighbours returns the ranks on both sides of a position; nil where there is none. It
// uses LIMIT instead of MAX or MIN, for which PostgreSQL would read all of a long list as
// long as it has no statistics of the table.
func (t containerTx) neighbours(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, at store.Position) (before, after *int64, err error) {
	switch {
	case at.Start:
		err = t.row(ctx, `SELECT rank`+ranked+` ORDER BY rank LIMIT 1`, org, in.Kind, in.Owner).Scan(&after)
	case at.After == "":
		err = t.row(ctx, selectLastRank, org, in.Kind, in.Owner).Scan(&before)
	default:
		err = t.row(ctx, `SELECT rank`+ranked+` AND id = $4`, org, in.Kind, in.Owner, at.After).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil, store.ErrMoved
		}
		if err == nil {
			err = t.row(ctx, `SELECT rank`+ranked+` AND rank > $4 ORDER BY rank LIMIT 1`, org, in.Kind, in.Owner, *before).Scan(&after)
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, nil, fmt.Errorf("read ranks of the container of %s: %w", in.Owner, err)
	}
	return before, after, nil
}

// between returns n ranks between two, and reports whether they fit.
func between(before, after *int64, n int, now time.Time) ([]int64, bool) {
	var first, step int64
	switch {
	case after == nil:
		first, step = nextRanks(now, n, rankOf(before)), rankStep
	case before == nil:
		first, step = *after-int64(n)*rankGap, rankGap
	default:
		step = (*after - *before) / int64(n+1)
		first = *before + step
	}
	return inSteps(first, step, n), step > 0
}

// inSteps returns n ranks from the first one on.
func inSteps(first, step int64, n int) []int64 {
	ranks := make([]int64, n)
	for i := range ranks {
		ranks[i] = first + int64(i)*step
	}
	return ranks
}

// spread makes room for n tasks after a rank by moving the tasks around it apart, as many
// as necessary. The last of them keeps its rank, and so does the first, unless it is the
// first of the list.
func (t containerTx) spread(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, rank int64, n int) error {
	for around := 64; ; around *= 8 {
		ids, ranks, err := t.side(ctx, ` AND rank <= $4 ORDER BY rank DESC, id DESC`, around, org, in, rank)
		if err != nil {
			return err
		}
		slices.Reverse(ids)
		slices.Reverse(ranks)
		fromStart := len(ids) < around
		behindIDs, behindRanks, err := t.side(ctx, ` AND rank > $4 ORDER BY rank, id`, around, org, in, rank)
		if err != nil {
			return err
		}
		ids, ranks = append(ids, behindIDs...), append(ranks, behindRanks...)
		last := len(ranks) - 1
		first, step := ranks[0], (ranks[last]-ranks[0])/int64(last)
		if fromStart {
			first, step = ranks[last]-int64(last)*rankGap, rankGap
		}
		if step <= int64(n) {
			continue
		}
		for i := range last {
			ranks[i] = first + int64(i)*step
		}
		return t.setRanks(ctx, org, ids, ranks)
	}
}

// side reads tasks on one side of a rank, the nearest first.
func (t containerTx) side(ctx context.Context, where string, most int, org lastmile.OrganizationID, in lastmile.ContainerRef, rank int64) (ids []lastmile.TaskID, ranks []int64, err error) {
	ranks, err = collect(ctx, t, func(r rows) (rank int64, err error) {
		var id lastmile.TaskID
		err = r.Scan(&id, &rank)
		ids = append(ids, id)
		return rank, err
	}, `SELECT id, rank`+ranked+where+limit(most), org, in.Kind, in.Owner, rank)
	if err != nil {
		return nil, nil, fmt.Errorf("read ranks of the container of %s: %w", in.Owner, err)
	}
	return ids, ranks, nil
}
