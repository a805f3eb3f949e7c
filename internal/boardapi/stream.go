package boardapi

import (
	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// listUpdate is the list of a worker or a team in the event stream.
type listUpdate struct {
	Container  wire.Container                   `json:"container"`
	ActiveTask *lastmile.TaskID                 `json:"activeTask"`
	Tasks      []lastmile.TaskID                `json:"tasks"`
	Pinned     map[lastmile.TaskID]lastmile.Pin `json:"pinned"`
	Version    int64                            `json:"version"`
}

// EncodeList encodes a list as streams send it.
func EncodeList(l board.List) ([]byte, error) {
	shown := listUpdate{Container: wire.NewContainerRef(l.Container), ActiveTask: wire.OrNull(l.Active), Tasks: l.Tasks, Pinned: l.Pins, Version: l.Version}
	if shown.Pinned == nil {
		shown.Pinned = map[lastmile.TaskID]lastmile.Pin{}
	}
	return wire.Marshal(shown)
}

// EncodeTasks encodes tasks as streams send them.
func EncodeTasks(all []board.Task) ([]byte, error) { return wire.Marshal(wire.Each(all, newTask)) }

// positionUpdate is the position of a worker in the event stream.
type positionUpdate struct {
	Worker       lastmile.WorkerID `json:"worker"`
	Location     wire.LonLat       `json:"location"`
	Time         wire.Millis       `json:"time"`
	TimeLastSeen wire.Millis       `json:"timeLastSeen"`
	Heading      *float64          `json:"heading"`
	Speed        *float64          `json:"speed"`
	Battery      *float64          `json:"battery"`
	Accuracy     *float64          `json:"accuracy"`
}

// EncodePositions encodes positions as streams send them.
func EncodePositions(all []board.Moved) ([]byte, error) {
	return wire.Marshal(wire.Each(all, func(m board.Moved) positionUpdate {
		return positionUpdate{
			Worker: m.Worker, Location: wire.LonLat(m.Location), Time: wire.Millis(m.At), TimeLastSeen: wire.Millis(m.Seen),
			Heading: m.Heading, Speed: m.Speed, Battery: m.Battery, Accuracy: m.Accuracy,
		}
	}))
}

// estimateUpdate has the estimates of the tasks of a worker in the event stream.
type estimateUpdate struct {
	Worker    lastmile.WorkerID    `json:"worker"`
	DelayTime *wire.Seconds        `json:"delayTime"`
	Tasks     []taskEstimateUpdate `json:"tasks"`
}

type taskEstimateUpdate struct {
	ID lastmile.TaskID `json:"id"`
	wire.TaskTimes
}

// EncodeEstimates encodes estimates as streams send them.
func EncodeEstimates(all []board.Estimated) ([]byte, error) {
	return wire.Marshal(wire.Each(all, func(e board.Estimated) estimateUpdate {
		return estimateUpdate{Worker: e.Worker, DelayTime: (*wire.Seconds)(e.Delay), Tasks: wire.Each(e.Tasks, func(t board.EstimatedTask) taskEstimateUpdate {
			return taskEstimateUpdate{ID: t.ID, TaskTimes: wire.NewTaskTimes(t.Estimates)}
		})}
	}))
}
