package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
)

func tailCommand() command {
	return command{
		name: "tail", summary: "Print an organization's events as they happen",
		endless:  true,
		examples: []string{"dray tail", "dray tail --since 0 --json", "dray tail --org ID"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			since := f.Int64("since", -1, "`number` of the last event seen, which --json shows; 0 for all, -1 for new events only")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				return tail(ctx, inv, a, lastmile.Principal{Organization: org}, *since)
			})
		},
	}
}

func tail(ctx context.Context, inv *invocation, a *app.App, who lastmile.Principal, seq int64) error {
	own, err := a.Organizations.Own(ctx, who)
	if err != nil {
		return err
	}
	if seq < 0 {
		if seq, err = a.Feed.Head(ctx, who); err != nil {
			return err
		}
		if inv.out.terminal && !inv.json {
			fmt.Fprintln(inv.errs, inv.errs.paint(dim, "Waiting for events of "+printable(own.Name)+". Ctrl-C ends."))
		}
	}
	lines := &eventLines{screen: inv.out, worker: rememberNames(func(id lastmile.WorkerID) string {
		worker, err := a.Fleet.Self(ctx, lastmile.Principal{Organization: who.Organization, Worker: id})
		if err != nil { // deleted meanwhile
			return ""
		}
		return worker.Name
	})}
	if lines.zone, err = time.LoadLocation(own.Timezone); err != nil {
		return err
	}
	var loops sync.WaitGroup
	loops.Go(func() { a.Feed.Run(ctx) })
	loops.Go(func() { a.Hub.Run(ctx) }) // wakes the loop for events that the server has numbered
	defer loops.Wait()
	for ctx.Err() == nil {
		events, _, err := a.Feed.Next(ctx, who, seq)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, e := range events {
			seq = e.Seq
			if inv.json {
				fmt.Fprintf(inv.out, "{\"number\":%d,%s\n", e.Seq, e.Body[1:]) // the number that --since accepts
				continue
			}
			line, err := lines.format(e.Body)
			if err != nil {
				return fmt.Errorf("event %d: %w", e.Seq, err)
			}
			fmt.Fprintln(inv.out, line)
		}
	}
	return nil
}

// maxNames is the maximum number of names of workers that are cached.
const maxNames = 10_000

// rememberNames returns a function that finds the name of a worker, and caches names.
func rememberNames(find func(lastmile.WorkerID) string) func(lastmile.WorkerID) string {
	names := map[lastmile.WorkerID]string{}
	return func(id lastmile.WorkerID) string {
		name, known := names[id]
		if !known && id != "" {
			if len(names) >= maxNames {
				clear(names)
			}
			name = find(id)
			names[id] = name
		}
		return name
	}
}

// tailedEvent has the fields of an event that a line shows.
type tailedEvent struct {
	Trigger   lastmile.Trigger  `json:"triggerId"`
	Name      string            `json:"triggerName"`
	Time      int64             `json:"time"`
	Worker    lastmile.WorkerID `json:"workerId"`
	Status    any               `json:"status"` // 1 for on duty; a word for a batch
	ETA       float64           `json:"etaSeconds"`
	Distance  float64           `json:"distance"`
	Delay     float64           `json:"delay"`
	From      string            `json:"from"`
	Body      string            `json:"body"`
	Recipient struct {
		Name string `json:"name"`
	} `json:"recipient"`
	Created int  `json:"tasksCreated"`
	Errored int  `json:"tasksErrored"`
	Test    bool `json:"test"`
	Data    struct {
		Task   *tailedTask `json:"task"`
		Worker *struct {
			Name string `json:"name"`
		} `json:"worker"`
		RoutePlan *struct {
			Name string `json:"name"`
		} `json:"routePlan"`
		Delay float64 `json:"delayTime"`
	} `json:"data"`
}

// tailedTask has the fields of a task that a line shows.
type tailedTask struct {
	ShortID     string             `json:"shortId"`
	State       lastmile.TaskState `json:"state"`
	Worker      lastmile.WorkerID  `json:"worker"`
	After       int64              `json:"completeAfter"`
	Before      int64              `json:"completeBefore"`
	Destination struct {
		Address struct {
			Name, Number, Street, City string
		} `json:"address"`
	} `json:"destination"`
	Completion struct {
		Reason string `json:"failureReason"`
		Events []struct {
			Name string `json:"name"`
			Time int64  `json:"time"`
		} `json:"events"`
	} `json:"completionDetails"`
}

// eventLines formats events as lines for people.
type eventLines struct {
	screen screen
	zone   *time.Location
	worker func(lastmile.WorkerID) string // name of a worker
}

// format returns the line of an event: the time in the organization's time zone, the word
// for it, the destination, the punctuality and the worker.
func (l *eventLines) format(body []byte) (string, error) {
	var e tailedEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return "", err
	}
	what, as := e.what()
	parts := []string{l.screen.paint(as, what)}
	add := func(as style, text string) {
		if text = printable(text); text != "" {
			parts = append(parts, l.screen.paint(as, text))
		}
	}
	if t := e.Data.Task; t != nil {
		add(plain, t.where())
	}
	add(e.detail())
	switch {
	case e.Data.Worker != nil:
		add(plain, e.Data.Worker.Name)
	case e.Data.Task != nil:
		add(plain, l.worker(cmp.Or(e.Worker, e.Data.Task.Worker)))
	}
	if e.Test {
		add(dim, "test")
	}
	at := time.UnixMilli(e.Time).In(l.zone).Format(time.TimeOnly)
	return l.screen.paint(dim, at) + " " + strings.Join(parts, " · "), nil
}

// eventWords are the words for triggers that always have the same one.
var eventWords = map[lastmile.Trigger]cell{
	lastmile.TriggerTaskStarted:                 {"started", plain},
	lastmile.TriggerTaskEta:                     {"near", plain},
	lastmile.TriggerTaskArrival:                 {"near", plain},
	lastmile.TriggerTaskCompleted:               {"completed", green},
	lastmile.TriggerTaskFailed:                  {"failed", red},
	lastmile.TriggerTaskCreated:                 {"created", plain},
	lastmile.TriggerTaskDeleted:                 {"deleted", dim},
	lastmile.TriggerTaskAssigned:                {"assigned", plain},
	lastmile.TriggerTaskUnassigned:              {"unassigned", yellow},
	lastmile.TriggerTaskDelayed:                 {"delayed", yellow},
	lastmile.TriggerPredictedTaskDelay:          {"delay predicted", yellow},
	lastmile.TriggerTaskCloned:                  {"cloned", plain},
	lastmile.TriggerSMSRecipientResponseMissed:  {"text message received", plain},
	lastmile.TriggerSMSRecipientOptOut:          {"text messages stopped", yellow},
	lastmile.TriggerWorkerCreated:               {"worker created", plain},
	lastmile.TriggerWorkerUpdated:               {"worker updated", dim},
	lastmile.TriggerWorkerDeleted:               {"worker deleted", dim},
	lastmile.TriggerTaskBatchCreateJobCompleted: {"batch created", plain},
	lastmile.TriggerAutoDispatchJobCompleted:    {"dispatched", plain},
	lastmile.TriggerRoutePlanCreated:            {"route created", plain},
	lastmile.TriggerRoutePlanStarted:            {"route started", plain},
	lastmile.TriggerRoutePlanCompleted:          {"route completed", green},
	lastmile.TriggerRoutePlanUpdated:            {"route updated", dim},
	lastmile.TriggerRoutePlanUnassigned:         {"route unassigned", yellow},
	lastmile.TriggerRoutePlanAssigned:           {"route assigned", plain},
	lastmile.TriggerRoutePlanDelayed:            {"route delayed", yellow},
}

// what returns the word for an event and its style.
func (e *tailedEvent) what() (string, style) {
	switch {
	case e.Trigger == lastmile.TriggerWorkerDuty && e.Status == 1.0:
		return "on duty", plain
	case e.Trigger == lastmile.TriggerWorkerDuty:
		return "off duty", dim
	case e.step() == "arrival":
		return "arrived", green
	case e.step() == "departure":
		return "left", plain
	case e.Trigger == lastmile.TriggerTaskUpdated:
		return "updated", dim
	}
	if word, known := eventWords[e.Trigger]; known {
		return word.text, word.as
	}
	return e.Name, plain
}

// step returns the event that an update of a task reports: "arrival", "departure", or empty
// for other changes.
func (e *tailedEvent) step() string {
	if e.Trigger != lastmile.TriggerTaskUpdated || e.Data.Task == nil {
		return ""
	}
	steps := e.Data.Task.Completion.Events
	if e.Data.Task.State != lastmile.TaskActive || len(steps) == 0 || steps[len(steps)-1].Time != e.Time {
		return ""
	}
	return steps[len(steps)-1].Name
}

// detail returns more about an event, such as a delay or a reason, and its style.
func (e *tailedEvent) detail() (style, string) {
	task := e.Data.Task
	switch e.Trigger {
	case lastmile.TriggerTaskUpdated:
		if e.step() == "arrival" {
			return task.punctuality(e.Time)
		}
	case lastmile.TriggerTaskCompleted:
		if task != nil {
			begun := max(task.arrived(e.Time), min(task.After, e.Time)) // the worker may have waited for the window
			return task.punctuality(begun)
		}
	case lastmile.TriggerTaskFailed:
		if task != nil && task.Completion.Reason != "NONE" {
			return plain, task.Completion.Reason
		}
	case lastmile.TriggerTaskEta:
		return plain, minutes(seconds(e.ETA)) + " away"
	case lastmile.TriggerTaskArrival:
		return plain, fmt.Sprintf("%.0f m away", e.Distance)
	case lastmile.TriggerTaskDelayed:
		return yellow, minutes(seconds(e.Delay)) + " late"
	case lastmile.TriggerPredictedTaskDelay:
		return yellow, minutes(seconds(e.Data.Delay)) + " late"
	case lastmile.TriggerSMSRecipientResponseMissed:
		return plain, e.From + ": " + e.Body
	case lastmile.TriggerSMSRecipientOptOut:
		return plain, e.Recipient.Name
	case lastmile.TriggerTaskBatchCreateJobCompleted:
		if e.Errored > 0 {
			return yellow, fmt.Sprintf("%s, %d rejected", taskCount(e.Created), e.Errored)
		}
		return plain, taskCount(e.Created)
	default:
		if e.Data.RoutePlan != nil {
			return plain, e.Data.RoutePlan.Name
		}
	}
	return plain, ""
}

// taskCount returns a number of tasks in words.
func taskCount(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

// where returns the destination in a few words.
func (t *tailedTask) where() string {
	a := t.Destination.Address
	return cmp.Or(strings.TrimSpace(a.Number+" "+a.Street), a.Name, a.City, "task "+t.ShortID)
}

// arrived returns when the worker arrived, or other if that was not reported.
func (t *tailedTask) arrived(other int64) int64 {
	for _, step := range t.Completion.Events {
		if step.Name == "arrival" {
			return step.Time
		}
	}
	return other
}

// punctuality compares an arrival with the time window: before it, in it or after
// it. It is empty for a task without a window.
func (t *tailedTask) punctuality(arrival int64) (style, string) {
	if t.After == 0 && t.Before == 0 {
		return plain, ""
	}
	at, window := time.UnixMilli(arrival), lastmile.TimeWindow{Opens: orZero(t.After), Closes: orZero(t.Before)}
	start := window.ServiceStart(at)
	if late := window.Lateness(start); late > 0 {
		return red, minutes(late) + " late"
	}
	if start.After(at) {
		return yellow, minutes(start.Sub(at)) + " early"
	}
	return green, "on time"
}

// orZero returns a time in milliseconds; zero if there is none.
func orZero(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// minutes formats a duration in whole minutes, at least one.
func minutes(d time.Duration) string {
	n := max(1, int64((d+time.Minute/2)/time.Minute))
	if n < 60 {
		return fmt.Sprintf("%d min", n)
	}
	return fmt.Sprintf("%d h %d min", n/60, n%60)
}
