package sqlboard

import (
	"dray/internal/board"
	"dray/internal/lastmile"
)

const (
	taskBytes    = 1 << 10 // memory that a task with short texts takes
	shortBytes   = 256     // length of these texts
	elementBytes = 16      // memory of an element of a list besides its text
)

// memory returns the memory that a task takes, approximately.
func memory(t board.Task) int {
	texts := len(t.Address) + len(t.Recipient) + len(t.Notes) + len(t.FailureReason)
	for _, id := range t.Dependencies {
		texts += elementBytes + len(id)
	}
	for _, w := range t.Warnings {
		texts += elementBytes + len(w)
	}
	return taskBytes + max(0, texts-shortBytes)
}

// count counts the memory of a task with a meter, if it is not nil.
func count(meter lastmile.Meter, t board.Task) error {
	if meter == nil {
		return nil
	}
	return meter.Count(memory(t))
}

// replacement is a meter for tasks that take the place of others.
type replacement struct {
	meter lastmile.Meter
	freed int // memory of the others that is not taken yet
}

// replacing returns a meter that counts only what tasks take besides the memory of others;
// nil if the meter is nil.
func replacing(others []board.Task, meter lastmile.Meter) lastmile.Meter {
	if meter == nil {
		return nil
	}
	r := &replacement{meter: meter}
	for _, t := range others {
		r.freed += memory(t)
	}
	return r
}

// Count implements lastmile.Meter.
func (r *replacement) Count(bytes int) error {
	again := min(bytes, r.freed)
	if r.freed -= again; again == bytes {
		return nil
	}
	return r.meter.Count(bytes - again)
}
