package sqlboard

import (
	"fmt"
	"strings"
	"time"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// taskRow is a row of a task. Its documents are valid until the next row is read.
type taskRow struct {
	org                             string
	doc, destination, recipient     engine.Raw
	arrival, completion, eta, delay *int64
	pin                             int64
}

// The parts of the stored documents that the board shows. Decoding whole documents would
// take several times as long.
type (
	taskDoc struct {
		ID                lastmile.TaskID    `json:"id"`
		TimeCreated       int64              `json:"timeCreated"`
		TimeLastModified  int64              `json:"timeLastModified"`
		ShortID           string             `json:"shortId"`
		OrderShortID      *string            `json:"orderShortId"`
		Worker            *lastmile.WorkerID `json:"worker"`
		Dependencies      []lastmile.TaskID  `json:"dependencies"`
		State             lastmile.TaskState `json:"state"`
		CompleteAfter     *int64             `json:"completeAfter"`
		CompleteBefore    *int64             `json:"completeBefore"`
		PickupTask        bool               `json:"pickupTask"`
		Notes             string             `json:"notes"`
		CompletionDetails completionDoc      `json:"completionDetails"`
		Quantity          float64            `json:"quantity"`
		ServiceTime       wire.Minutes       `json:"serviceTime"`
		Priority          int                `json:"priority"`
		Container         *wire.Container    `json:"container"`
	}
	completionDoc struct {
		FailureReason string `json:"failureReason"`
		Events        []struct {
			Name string `json:"name"`
			Time int64  `json:"time"`
		} `json:"events"`
		Time    *int64 `json:"time"`
		Success bool   `json:"success"`
	}
	destinationDoc struct {
		ID       lastmile.DestinationID `json:"id"`
		Location [2]float64             `json:"location"`
		Address  wire.Address           `json:"address"`
		Warnings []string               `json:"warnings"`
	}
	recipientDoc struct {
		Name  string         `json:"name"`
		Phone lastmile.Phone `json:"phone"`
	}
)

// pins are the pins of tasks, indexed by the stored number.
var pins = []lastmile.Pin{"", lastmile.PinWorker, lastmile.PinPosition}

// task returns the task as the board of an organization shows it.
func (r *taskRow) task(org lastmile.OrganizationID) (t board.Task, err error) {
	var (
		doc         taskDoc
		destination destinationDoc
		recipient   recipientDoc
	)
	if err := wire.Unmarshal(r.doc, &doc); err != nil {
		return t, fmt.Errorf("decode task: %w", err)
	}
	if err := wire.Unmarshal(r.destination, &destination); err != nil {
		return t, fmt.Errorf("decode destination of task %s: %w", doc.ID, err)
	}
	if r.recipient != nil {
		if err := wire.Unmarshal(r.recipient, &recipient); err != nil {
			return t, fmt.Errorf("decode recipient of task %s: %w", doc.ID, err)
		}
	}
	t = doc.task(destination, recipient)
	t.Pin = pins[r.pin]
	t.Estimates = lastmile.Estimates{Arrival: instant(r.arrival), Completion: instant(r.completion), ETA: duration(r.eta), Delay: duration(r.delay)}
	if executor := lastmile.OrganizationID(r.org); executor != org && t.Container.Kind == lastmile.InTeam { // as in Task.SeenBy
		t.Container = lastmile.OrganizationContainer(executor)
	}
	return t, nil
}

// task returns the task as the board shows it, without its estimates and its pin.
func (doc taskDoc) task(destination destinationDoc, recipient recipientDoc) board.Task {
	done := doc.CompletionDetails
	t := board.Task{
		ID: doc.ID, ShortID: doc.ShortID, State: doc.State, Created: time.UnixMilli(doc.TimeCreated).UTC(), Modified: time.UnixMilli(doc.TimeLastModified).UTC(),
		CompleteAfter: instant(doc.CompleteAfter), CompleteBefore: instant(doc.CompleteBefore), Pickup: doc.PickupTask, Quantity: doc.Quantity,
		ServiceTime: doc.ServiceTime.Duration(), Priority: doc.Priority, Dependencies: doc.Dependencies,
		Completed: instant(done.Time), Success: done.Success, FailureReason: done.FailureReason,
		// Substrings would keep the whole texts in memory.
		Notes:       strings.Clone(lastmile.Truncate(doc.Notes, board.MaxNotes)),
		Destination: destination.ID, Location: lastmile.Point{Lon: destination.Location[0], Lat: destination.Location[1]},
		Address: strings.Clone(lastmile.Address(destination.Address).Line()), Warnings: destination.Warnings,
		Recipient: recipient.Name, Phone: recipient.Phone,
	}
	if doc.OrderShortID != nil {
		t.OrderShortID = *doc.OrderShortID
	}
	if doc.Worker != nil {
		t.Worker = *doc.Worker
	}
	if doc.Container != nil {
		t.Container = doc.Container.Domain()
	}
	for _, e := range done.Events {
		at := time.UnixMilli(e.Time).UTC()
		switch {
		case e.Name == "start":
			t.Started = at
		case e.Name == "arrival" && t.Arrived.IsZero(): // only the first arrival counts
			t.Arrived = at
		}
	}
	return t
}
