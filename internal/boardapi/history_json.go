package boardapi

import (
	"encoding/json"
	"time"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// BoardHistory is the board as it was when a day began, and which events the day has.
type BoardHistory struct {
	// The board of the beginning of the day. Its cursor is the number of the last event before the day.
	Board Board `json:"board"`
	// Number of the last event of the day, so far; the cursor if there is none.
	LastEvent int64 `json:"lastEvent" example:"5210"`
	// Unix time in milliseconds of the oldest event that is stored; null if none is. If it is later than the
	// beginning of the day, what happened before is not known.
	StoredSince wire.Millis `json:"storedSince" nullable:"true" example:"1767225600000"`
	// Tasks that were created on the day without an event, as tasks of batches are, as they were then.
	Created []BoardTask `json:"created"`
}

// NewBoardHistory returns a history in its wire form.
func NewBoardHistory(h board.History) BoardHistory {
	return BoardHistory{Board: NewBoard(h.Board), LastEvent: h.LastEvent, StoredSince: wire.Millis(h.Stored), Created: wire.Each(h.Unlogged, newTask)}
}

// BoardPositions are the positions of workers in an hour.
type BoardPositions struct {
	// The positions, oldest first.
	Positions []PastPosition `json:"positions"`
	// Value of from for the next hour.
	Next wire.Millis `json:"next" example:"1767229200000"`
}

// PastPosition is where a worker was.
type PastPosition struct {
	// ID of the worker.
	Worker lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Unix time in milliseconds.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// Location, as [longitude, latitude].
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Direction in degrees from north, clockwise. Absent if it is not known.
	Heading *float64 `json:"heading,omitzero" example:"90"`
	// Speed in meters per second. Absent if it is not known.
	Speed *float64 `json:"speed,omitzero" example:"7.5"`
}

// NewBoardPositions returns positions in their wire form.
func NewBoardPositions(all []board.Moved, next time.Time) BoardPositions {
	return BoardPositions{Next: wire.Millis(next), Positions: wire.Each(all, func(m board.Moved) PastPosition {
		return PastPosition{Worker: m.Worker, Time: wire.Millis(m.At), Location: wire.LonLat(m.Location), Heading: m.Heading, Speed: m.Speed}
	})}
}

// EventLog is a page of the event log.
type EventLog struct {
	// The events, in order.
	Events []LogEntry `json:"events"`
	// Value of since for the next page; null if no stored event follows, up to until.
	Next *int64 `json:"next" example:"null"`
	// Number of the last event that was considered; if there is none, since, or the newest event if that is
	// before since. Value of since to continue with later, when more is stored.
	Last int64 `json:"last" example:"4203"`
}

// LogEntry is an event of the log.
type LogEntry struct {
	// Number of the event.
	Number int64 `json:"number" example:"4103"`
	// Unix time in milliseconds at which the event was stored. What it reports may have happened earlier.
	TimeStored wire.Millis `json:"timeStored" example:"1767225600000"`
	// The event, the same as the body of a webhook request.
	Event json.RawMessage `json:"event"`
}
