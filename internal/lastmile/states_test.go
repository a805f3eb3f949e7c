package lastmile

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// statesFile is generated from taskMoves by TestDocsStates if DRAY_UPDATE is set.
const statesFile = "../../docs/states.md"

var taskStates = []TaskState{TaskUnassigned, TaskAssigned, TaskActive, TaskCompleted}

// stateMeanings describes the states.
var stateMeanings = map[TaskState]string{
	TaskUnassigned: "in the organization's or a team's container",
	TaskAssigned:   "in a worker's container",
	TaskActive:     "started by its worker; shown as the container's `activeTask`, not in its `tasks`",
	TaskCompleted:  "succeeded or failed; in no container",
}

// explainedMove is a transition in words, with functions that perform it.
type explainedMove struct {
	to    TaskState
	how   string
	needs string
	ways  []func(*Task, Actor, time.Time) ([]Event, error) // alternatives, each with its own events
}

func put(in ContainerRef) func(*Task, Actor, time.Time) ([]Event, error) {
	return func(t *Task, by Actor, at time.Time) ([]Event, error) { return t.Put(in, by, at) }
}

func end(success bool) func(*Task, Actor, time.Time) ([]Event, error) {
	return func(t *Task, by Actor, at time.Time) ([]Event, error) {
		return t.Complete(Outcome{Success: success, At: at}, by)
	}
}

var explainedMoves = map[TaskState][]explainedMove{
	TaskUnassigned: {{
		to: TaskAssigned, how: "put into a worker's container: when it is created, by an update of the task or of the container, or automatically",
		needs: "a worker of the organization; automatically, also one who is on duty and has the capacity",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){put(WorkerContainer("w"))},
	}},
	TaskAssigned: {{
		to: TaskUnassigned, how: "put back into the organization's container, or into a team's",
		needs: "–",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){put(OrganizationContainer("o"))},
	}, {
		to: TaskActive, how: "started by its worker",
		needs: "every task it depends on is completed",
		ways: []func(*Task, Actor, time.Time) ([]Event, error){
			func(t *Task, by Actor, at time.Time) ([]Event, error) { return t.Start(nil, Estimates{}, by, at) },
		},
	}},
	TaskActive: {{
		to: TaskCompleted, how: "completed by its worker, or with `POST /tasks/{id}/complete`",
		needs: "`success`: the outcome",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){end(true), end(false)},
	}},
}

// taskIn returns a task in a state, reached by transitions only.
func taskIn(t *testing.T, state TaskState) Task {
	t.Helper()
	at := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	task, err := NewTask(Identity{ID: "t"}, "o", TaskChange{Destination: &Destination{}, Recipients: &[]Recipient{}}, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(*Task, Actor, time.Time) ([]Event, error){
		put(WorkerContainer("w")),
		func(t *Task, by Actor, at time.Time) ([]Event, error) { return t.Start(nil, Estimates{}, by, at) },
		end(true),
	}[:state] {
		if _, err := step(&task, Actor{}, at); err != nil {
			t.Fatal(err)
		}
	}
	if task.State != state {
		t.Fatalf("the task is %v, want %v", task.State, state)
	}
	return task
}

// triggers returns the names of the events' triggers.
func triggers(events []Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = "`" + e.Trigger.String() + "`"
	}
	return strings.Join(names, ", ")
}

func TestDocsStates(t *testing.T) {
	want := drawStates(t)
	if os.Getenv("DRAY_UPDATE") != "" {
		if err := os.WriteFile(statesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(statesFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/states.md does not say what taskMoves does; run make docs and read the difference. Want:\n%s", want)
	}
}

func drawStates(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("# The states of a task\n\n" +
		"Generated from the code by `make docs`; do not edit. The transitions are `taskMoves` in\n" +
		"`internal/lastmile`, and a test keeps this page up to date.\n\n" +
		"```mermaid\nstateDiagram-v2\n    [*] --> " + TaskUnassigned.String() + "\n")
	for _, from := range taskStates {
		for _, to := range taskMoves[from] {
			fmt.Fprintf(&out, "    %v --> %v\n", from, to)
		}
		if len(taskMoves[from]) == 0 {
			fmt.Fprintf(&out, "    %v --> [*]\n", from)
		}
	}
	out.WriteString("```\n\n| `state` | Name | A task is |\n|---|---|---|\n")
	for _, state := range taskStates {
		fmt.Fprintf(&out, "| %d | %v | %s |\n", state, state, stateMeanings[state])
	}
	out.WriteString("\n## Transitions\n\nEvery other transition is rejected with 1000. Each is stored together with its events.\n\n" +
		"| From | To | How | Requires | Events |\n|---|---|---|---|---|\n" + newTasks(t))
	for _, from := range taskStates {
		for _, m := range explainedMoves[from] {
			var emitted []string
			for _, way := range m.ways {
				task := taskIn(t, from)
				events, err := way(&task, Actor{}, task.Modified)
				if err != nil || task.State != m.to {
					t.Fatalf("%v to %v: the task is %v: %v", from, m.to, task.State, err)
				}
				emitted = append(emitted, triggers(events))
			}
			fmt.Fprintf(&out, "| %v | %v | %s | %s | %s |\n", from, m.to, m.how, m.needs, strings.Join(emitted, "; or "))
		}
	}
	out.WriteString("\nA task moves from one worker to another by way of unassigned: " + handedOver(t) + ".\n" +
		"\n## What can be done in each state\n\n" +
		"Other fields of an update are ignored without an error.\n\n" +
		"| State | Update changes | Move to another container | Delete | Clone |\n|---|---|---|---|---|\n")
	for _, state := range taskStates {
		fmt.Fprintf(&out, "| %v | %s |\n", state, strings.Join(allowed(t, state), " | "))
	}
	return out.String()
}

// newTasks returns the rows of the transitions of new tasks.
func newTasks(t *testing.T) string {
	t.Helper()
	made, given := taskIn(t, TaskUnassigned), taskIn(t, TaskAssigned)
	if inBatch := made.BatchCreationEvents(Actor{}); len(inBatch) > 0 || triggers(given.BatchCreationEvents(Actor{})) != triggers(given.CreationEvents(Actor{})[1:]) {
		t.Errorf("a task of a batch has the events %v", inBatch)
	}
	_, cloned, err := made.Clone(Identity{ID: "c"}, Destination{}, CloneOptions{}, made.Modified)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("| (new) | %v | created | a destination, and a list of at most one recipient | %s, and if it is created in a worker's container %s; from a batch only the latter |\n"+
		"| (new) | %v | cloned | a task of the organization, in any state | %s |\n",
		TaskUnassigned, triggers(made.CreationEvents(Actor{})), triggers(given.CreationEvents(Actor{})[1:]), TaskUnassigned, triggers(cloned))
}

func handedOver(t *testing.T) string {
	t.Helper()
	task := taskIn(t, TaskAssigned)
	events, err := task.Put(WorkerContainer("other"), Actor{}, task.Modified)
	if err != nil {
		t.Fatal(err)
	}
	return triggers(events)
}

// allowed returns the cells of the table of what can be done to a task in a state.
func allowed(t *testing.T, state TaskState) []string {
	t.Helper()
	yes := func(err error) string {
		if err != nil {
			return "no"
		}
		return "yes"
	}
	task := taskIn(t, state)
	_, moves := task.Put(ContainerRef{Kind: InTeam, Owner: "t"}, Actor{}, task.Modified)
	task = taskIn(t, state)
	deletes := task.CheckDelete()
	_, _, clones := task.Clone(Identity{ID: "c"}, Destination{}, CloneOptions{}, task.Modified)
	return []string{updatable(t, state), yes(moves), yes(deletes), yes(clones)}
}

// updatable returns the names of the fields that an update changes.
func updatable(t *testing.T, state TaskState) string {
	t.Helper()
	changes := everyChange()
	var names []string
	for _, c := range changes {
		task := taskIn(t, state)
		before := fmt.Sprintf("%+v", shape(task))
		if _, err := task.Update(c.change, func() string { return "id" }, Actor{}, task.Modified); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", shape(task)) != before {
			names = append(names, "`"+c.name+"`")
		}
	}
	if len(names) == len(changes) {
		return "everything"
	}
	return strings.Join(names, ", ")
}

// shape returns a task without the fields that every update changes.
func shape(t Task) Task {
	t.Modified, t.Events = time.Time{}, 0
	if t.Recipient != nil {
		t.Notes += string(t.Recipient.ID) // %+v would print the pointer
		t.Recipient = nil
	}
	return t
}

// namedChange is an update of one field.
type namedChange struct {
	name   string
	change TaskChange
}

// everyChange returns an update of each field.
func everyChange() []namedChange {
	var (
		org    = OrganizationID("other")
		at     = time.Date(2026, time.March, 5, 12, 0, 0, 0, time.UTC)
		yes    = true
		text   = "text"
		n      = 2.5
		whole  = 2
		color  = &whole
		minute = time.Minute
	)
	return []namedChange{
		{"merchant", TaskChange{Merchant: &org}},
		{"executor", TaskChange{Executor: &org}},
		{"destination", TaskChange{Destination: &Destination{ID: "d"}}},
		{"recipients", TaskChange{Recipients: &[]Recipient{{ID: "r"}}}},
		{"completeAfter", TaskChange{CompleteAfter: &at}},
		{"completeBefore", TaskChange{CompleteBefore: &at}},
		{"pickupTask", TaskChange{Pickup: &yes}},
		{"dependencies", TaskChange{Dependencies: &[]TaskID{"p"}}},
		{"notes", TaskChange{Notes: &text}},
		{"quantity", TaskChange{Quantity: &n}},
		{"additionalQuantities", TaskChange{AdditionalQuantities: &Capacities{A: n}}},
		{"serviceTime", TaskChange{ServiceTime: &minute}},
		{"priority", TaskChange{Priority: &whole}},
		{"group", TaskChange{Group: &text}},
		{"recipientName", TaskChange{Overrides: OverridesChange{RecipientName: new(&text)}}},
		{"recipientNotes", TaskChange{Overrides: OverridesChange{RecipientNotes: new(&text)}}},
		{"recipientSkipSMSNotifications", TaskChange{Overrides: OverridesChange{RecipientSkipSMSNotifications: new(&yes)}}},
		{"useMerchantForProxy", TaskChange{Overrides: OverridesChange{UseMerchantForProxy: new(&yes)}}},
		{"requirements", TaskChange{Requirements: &Requirements{Photo: true}}},
		{"barcodes", TaskChange{Barcodes: &[]Barcode{{}}}},
		{"scanOnlyRequiredBarcodes", TaskChange{ScanOnlyRequiredBarcodes: &yes}},
		{"appearance", TaskChange{TriangleColor: &color}},
		{"customFields", TaskChange{CustomFields: &[]CustomFieldValue{{}}}},
		{"metadata", TaskChange{Metadata: MetadataChange{Replaced: true, Replace: Metadata{{Name: "a", Type: MetadataBoolean, Value: true}}}}},
	}
}

func TestEveryFieldOfAChangeIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range everyChange() {
		v := reflect.ValueOf(c.change)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				tried[v.Type().Field(i).Name] = true
			}
		}
	}
	for field := range reflect.TypeFor[TaskChange]().Fields() {
		if !tried[field.Name] {
			t.Errorf("everyChange does not change %s", field.Name)
		}
	}
}

func TestOnlyTheMovesOfTheTableHappen(t *testing.T) {
	for _, from := range taskStates {
		var explained []TaskState
		for _, m := range explainedMoves[from] {
			explained = append(explained, m.to)
		}
		if !slices.Equal(explained, taskMoves[from]) {
			t.Errorf("%v: the moves explained are %v, those of the table %v", from, explained, taskMoves[from])
		}
		for _, to := range taskStates {
			task := taskIn(t, from)
			before := task.Modified
			err := task.move(to, before)
			if allowed := slices.Contains(taskMoves[from], to); (err == nil) != allowed {
				t.Errorf("%v to %v: %v, allowed by the table: %v", from, to, err, allowed)
			}
			switch {
			case err != nil && (task.State != from || task.Modified != before):
				t.Errorf("%v to %v: rejected, but the task changed", from, to)
			case err == nil && (task.State != to || !task.Modified.After(before)):
				t.Errorf("%v to %v: the task is %v, modified %v after %v", from, to, task.State, task.Modified, before)
			}
		}
	}
}
