package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// position is where a worker was, as the API accepts it.
type position struct {
	Location [2]float64 `json:"location"`
	Time     int64      `json:"time"`
	Accuracy float64    `json:"accuracy"`
	Speed    float64    `json:"speed"`
	Heading  float64    `json:"heading"`
	Battery  float64    `json:"battery"`
}

// action is something a worker did, as the API accepts it.
type action struct {
	ActionID           string     `json:"actionId"`
	Time               int64      `json:"time"`
	Location           [2]float64 `json:"location"`
	Success            *bool      `json:"success,omitempty"`
	FailureReason      string     `json:"failureReason,omitempty"`
	Notes              string     `json:"notes,omitempty"`
	SignatureText      string     `json:"signatureText,omitempty"`
	SignatureUploadID  string     `json:"signatureUploadId,omitempty"`
	PhotoUploadIDs     []string   `json:"photoUploadIds,omitempty"`
	Barcodes           []barcode  `json:"barcodes,omitempty"`
	MinimumAgeVerified bool       `json:"minimumAgeVerified,omitempty"`
}

type barcode struct {
	Data string `json:"data"`
}

// report is a position or an action to be reported by a phone.
type report struct {
	position  *position
	verb      string
	task      string
	action    *action
	photo     photo // to be uploaded first
	signature photo // to be uploaded first
}

// errTaskLost says that a task no longer belongs to the worker.
var errTaskLost = errors.New("the task no longer belongs to the worker")

// locate queues the worker's position with the accuracy of a receiver.
func (p *phone) locate(speed, heading float64) {
	accuracy := 5 + 10*p.random.Float64()
	p.queue = append(p.queue, report{position: &position{
		Location: p.plan.axes().location(p.at.jittered(p.random, accuracy)), Time: p.now().UnixMilli(),
		Accuracy: accuracy, Speed: speed, Heading: heading, Battery: p.charge(),
	}})
}

// act queues an action of the worker.
func (p *phone) act(task, verb string, a action) {
	p.number++
	a.ActionID = fmt.Sprintf("%s-%s-%d", p.run, p.worker, p.number)
	a.Time, a.Location = p.now().UnixMilli(), p.plan.axes().location(p.at.jittered(p.random, 8))
	p.queue = append(p.queue, report{verb: verb, task: task, action: &a})
}

// sync sends the queue if there is a network. errTaskLost says that the current
// task is lost.
func (p *phone) sync(ctx context.Context) error {
	if !p.connected() {
		p.cut = true
		return nil
	}
	return p.flush(ctx)
}

// flush sends the whole queue. After a time without a network it repeats
// earlier reports, like a phone that received no responses.
func (p *phone) flush(ctx context.Context) error {
	late, pending := p.cut, slices.Clone(p.queue)
	err := p.sendQueue(ctx)
	if err == nil && late {
		p.cut = false
		actions := slices.DeleteFunc(pending, func(r report) bool { return r.position != nil })
		p.ledger.count(func(c *counts) { c.CaughtUp += len(actions) })
		return p.repeat(ctx, actions)
	}
	return err
}

// sendQueue sends the queue from the front. If an action is rejected, the rest of
// its task is dropped.
func (p *phone) sendQueue(ctx context.Context) error {
	gone := false
	for len(p.queue) > 0 {
		n := 0
		for n < len(p.queue) && n < maxPositions && p.queue[n].position != nil {
			n++
		}
		if n > 0 {
			if err := p.sendPositions(ctx, p.queue[:n]); err != nil {
				return err
			}
			p.queue = p.queue[n:]
			continue
		}
		first := p.queue[0]
		err := p.sendAction(ctx, first)
		switch {
		case rejected(err):
			p.queue = slices.DeleteFunc(p.queue, func(r report) bool { return r.task == first.task })
			p.ledger.count(func(c *counts) { c.Abandoned++ })
			p.logRejection(err)
			gone = true
		case err != nil:
			return err
		default:
			p.queue = p.queue[1:]
		}
	}
	if gone {
		return errTaskLost
	}
	return nil
}

// maxPositions is the maximum number of positions per report.
const maxPositions = 100

func (p *phone) sendPositions(ctx context.Context, some []report) error {
	body := struct {
		Positions []position `json:"positions"`
	}{}
	for _, r := range some {
		body.Positions = append(body.Positions, *r.position)
	}
	var reply struct {
		Accepted int `json:"accepted"`
	}
	if err := p.call(ctx, "POST /driver/v1/positions", http.MethodPost, "/positions", body, &reply); err != nil {
		return err
	}
	p.ledger.count(func(c *counts) { c.Positions += len(some); c.Accepted += reply.Accepted })
	return nil
}

func (p *phone) sendAction(ctx context.Context, r report) error {
	if r.photo != nil && *r.action.Success && r.action.PhotoUploadIDs == nil {
		id, err := p.upload(ctx, r.photo)
		if err != nil {
			return err
		}
		r.action.PhotoUploadIDs = []string{id}
	}
	if r.signature != nil && *r.action.Success && r.action.SignatureUploadID == "" {
		id, err := p.upload(ctx, r.signature)
		if err != nil {
			return err
		}
		r.action.SignatureUploadID = id
	}
	p.ledger.try(r.task, r.verb)
	shown, err := p.post(ctx, r)
	if err != nil {
		return err
	}
	p.ledger.count(func(c *counts) { c.Actions++ })
	p.ledger.visit(r.task, r.verb)
	if r.verb == verbStart && shown.ETA != nil && !p.cut {
		p.eta = new(time.Duration(*shown.ETA * float64(time.Second)))
	}
	if r.verb == verbComplete {
		p.ledger.end(r.task, outcome{worker: p.worker, success: *r.action.Success, at: shown.Completion.Time})
	}
	if p.random.Float64() < chanceAgain {
		return p.repeat(ctx, []report{r})
	}
	return nil
}

// repeat sends completed actions again. The server must accept all of them and
// apply none.
func (p *phone) repeat(ctx context.Context, done []report) error {
	for _, r := range done {
		if _, err := p.post(ctx, r); rejected(err) {
			p.ledger.violation("%s of task %s was accepted, but rejected when repeated: %v", r.verb, r.task, err)
		} else if err != nil {
			return err
		}
		p.ledger.count(func(c *counts) { c.Resent++ })
	}
	return nil
}

func (p *phone) post(ctx context.Context, r report) (shown shownTask, err error) {
	name := "POST /driver/v1/tasks/{id}/" + r.verb
	err = p.call(ctx, name, http.MethodPost, "/tasks/"+r.task+"/"+r.verb, r.action, &shown)
	return shown, err
}
