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

// statesFile is drawn from taskMoves by this test; DRAY_UPDATE=1 rewrites it.
const statesFile = "../../docs/states.md"

var taskStates = []TaskState{TaskUnassigned, TaskAssigned, TaskActive, TaskCompleted}

// stateMeanings says what a state is.
var stateMeanings = map[TaskState]string{
	TaskUnassigned: "in the organization's or a team's container",
	TaskAssigned:   "in a worker's container",
	TaskActive:     "started by its worker; shown as the container's `activeTask`, not in its `tasks`",
	TaskCompleted:  "ended, well or badly; in no container",
}

// explainedMove is a move in words, and a way to make it happen.
type explainedMove struct {
	to    TaskState
	how   string
	needs string
	ways  []func(*Task, Actor, time.Time) ([]Event, error) // each tells events
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
		needs: "a worker of the organization; automatically, also one who is on duty and has room for it",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){put(WorkerContainer("w"))},
	}},
	TaskAssigned: {{
		to: TaskUnassigned, how: "put back into the organization's container, or into a team's",
		needs: "nothing",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){put(OrganizationContainer("o"))},
	}, {
		to: TaskActive, how: "started by its worker",
		needs: "every task it depends on is completed",
		ways: []func(*Task, Actor, time.Time) ([]Event, error){
			func(t *Task, by Actor, at time.Time) ([]Event, error) { return t.Start(nil, by, at) },
		},
	}},
	TaskActive: {{
		to: TaskCompleted, how: "completed by its worker, or with `POST /tasks/{id}/complete`",
		needs: "`success`: whether it went well",
		ways:  []func(*Task, Actor, time.Time) ([]Event, error){end(true), end(false)},
	}},
}

// taskIn makes a task and brings it into a state, by moves alone.
func taskIn(t *testing.T, state TaskState) Task {
	t.Helper()
	at := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	task, err := NewTask(Identity{ID: "t"}, "o", TaskChange{Destination: &Destination{}, Recipients: &[]Recipient{}}, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(*Task, Actor, time.Time) ([]Event, error){
		put(WorkerContainer("w")),
		func(t *Task, by Actor, at time.Time) ([]Event, error) { return t.Start(nil, by, at) },
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

// triggers names what events tell.
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
		"Drawn from the code by `make docs`; do not edit. The moves are `taskMoves` in\n" +
		"`internal/lastmile`, and a test keeps this page true.\n\n" +
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
	out.WriteString("\n## Moves\n\nEvery other move is refused with 1000. Each move is stored together with its events.\n\n" +
		"| From | To | How | Needs | Tells |\n|---|---|---|---|---|\n" + newTasks(t))
	for _, from := range taskStates {
		for _, m := range explainedMoves[from] {
			var told []string
			for _, way := range m.ways {
				task := taskIn(t, from)
				events, err := way(&task, Actor{}, task.Modified)
				if err != nil || task.State != m.to {
					t.Fatalf("%v to %v: the task is %v: %v", from, m.to, task.State, err)
				}
				told = append(told, triggers(events))
			}
			fmt.Fprintf(&out, "| %v | %v | %s | %s | %s |\n", from, m.to, m.how, m.needs, strings.Join(told, "; or "))
		}
	}
	out.WriteString("\nFrom one worker to another a task goes by way of unassigned: " + handedOver(t) + ".\n" +
		"\n## What may be done in each state\n\n" +
		"What an update sends beyond this is left as it is, and is no error.\n\n" +
		"| State | Update changes | Move to another container | Delete | Clone |\n|---|---|---|---|---|\n")
	for _, state := range taskStates {
		fmt.Fprintf(&out, "| %v | %s |\n", state, strings.Join(allowed(t, state), " | "))
	}
	return out.String()
}

// newTasks are the rows of tasks that did not exist before.
func newTasks(t *testing.T) string {
	t.Helper()
	made, given := taskIn(t, TaskUnassigned), taskIn(t, TaskAssigned)
	if quiet := made.CreateInBatch(Actor{}); len(quiet) > 0 || triggers(given.CreateInBatch(Actor{})) != triggers(given.Create(Actor{})[1:]) {
		t.Errorf("a task of a batch tells %v", quiet)
	}
	_, cloned, err := made.Clone(Identity{ID: "c"}, Destination{}, CloneOptions{}, made.Modified)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("| (new) | %v | created | a destination, and a list of at most one recipient | %s, and when it is made in a worker's container %s; from a batch only the latter |\n"+
		"| (new) | %v | cloned | a task of the organization, in any state | %s |\n",
		TaskUnassigned, triggers(made.Create(Actor{})), triggers(given.Create(Actor{})[1:]), TaskUnassigned, triggers(cloned))
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

// allowed is what a task of a state lets be done to it.
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

// updatable names the fields that an update changes.
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

// shape is a task without what every update changes.
func shape(t Task) Task {
	t.Modified, t.Events = time.Time{}, 0
	if t.Recipient != nil {
		t.Notes += string(t.Recipient.ID) // not where it is stored
		t.Recipient = nil
	}
	return t
}

// namedChange is an update of one field.
type namedChange struct {
	name   string
	change TaskChange
}

// everyChange is an update of each field by itself.
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
		{"completeBefore", TaskChange{CompleteBy: &at}},
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
				t.Errorf("%v to %v: refused, but the task changed", from, to)
			case err == nil && (task.State != to || !task.Modified.After(before)):
				t.Errorf("%v to %v: the task is %v, modified %v after %v", from, to, task.State, task.Modified, before)
			}
		}
	}
}
