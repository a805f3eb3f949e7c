package platform_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/wire"
	"dray/internal/work"
)

// items decodes the items of a batch from bodies as clients send them.
func items(t *testing.T, o *apptest.Org, bodies ...string) []lastmile.BatchItem {
	t.Helper()
	sent := make(wire.SentTasks, len(bodies))
	for i, body := range bodies {
		sent[i] = wire.SentTask(body)
	}
	decoded, err := wire.BatchBody{Tasks: &sent}.Items(o.Principal.Organization)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// body returns a task for a recipient, in the container unless that is empty.
func body(recipient, container string) string {
	if container != "" {
		container = `,"container":` + container
	}
	return fmt.Sprintf(`{"destination":{"address":{"number":"1","street":"Main Street","city":"Springfield","country":"US"},"location":[-74,40.7]},`+
		`"recipients":[%s]%s}`, recipient, container)
}

func recipient(name, phone string) string { return fmt.Sprintf(`{"name":%q,"phone":%q}`, name, phone) }

func TestCreateAllCreatesValidItems(t *testing.T) {
	o := apptest.NewOrg(t)
	worker, phone := o.Worker(t, "Ada", nil), string(apptest.Phone())
	made, err := o.Batches.CreateAll(t.Context(), o.Principal, items(
		t, o,
		body(recipient("Boris", phone), ""),
		`{"notes":7}`,
		body(recipient("Boris Foster", phone), fmt.Sprintf(`{"type":"WORKER","worker":%q}`, worker.Worker)),
		body(`"`+apptest.NewID[string]()+`"`, ""),
	))
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Tasks) != 2 || len(made.Rejected) != 2 {
		t.Fatalf("%d tasks were created and %d rejected", len(made.Tasks), len(made.Rejected))
	}
	if first, second := made.Rejected[0], made.Rejected[1]; first.Err.Code != lastmile.CodeMalformed || string(first.Sent) != `{"notes":7}` || second.Err.Code != lastmile.CodeNotFound {
		t.Errorf("rejected were %+v", made.Rejected)
	}
	// The second item with the phone number updates the recipient of the first.
	if a, b := made.Tasks[0].Recipient, made.Tasks[1].Recipient; a.ID != b.ID || b.Name != "Boris Foster" {
		t.Errorf("the recipients are %+v and %+v", a, b)
	}
	expectTriggers(t, o, "taskAssigned") // the creation of a task in a batch causes no event
	expectList(t, o, listOf(worker), made.Tasks[1].ID)
}

func TestCreateAllRejectsNoneAndTooMany(t *testing.T) {
	o := apptest.NewOrg(t)
	_, err := o.Batches.CreateAll(t.Context(), o.Principal, nil)
	expectCode(t, err, lastmile.CodeInvalid)
	_, err = o.Batches.CreateAll(t.Context(), o.Principal, make([]lastmile.BatchItem, lastmile.MaxSyncBatch+1))
	expectCode(t, err, lastmile.CodeInvalid)
	_, err = o.Batches.Submit(t.Context(), o.Principal, make([]lastmile.BatchItem, lastmile.MaxBatch+1))
	expectCode(t, err, lastmile.CodeInvalid)
}

// TestBatchItemsSeeEarlierItems creates tasks that read what earlier tasks of the same chunk
// have saved, although it is still in a buffer.
func TestBatchItemsSeeEarlierItems(t *testing.T) {
	o := apptest.NewOrg(t)
	team, phone := o.Team(t, "North"), string(apptest.Phone())
	known, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Before", Phone: phone})
	if err != nil {
		t.Fatal(err)
	}
	inTeam := fmt.Sprintf(`{"type":"TEAM","team":%q}`, team)
	made, err := o.Batches.CreateAll(t.Context(), o.Principal, items(
		t, o,
		body(recipient("Updated", phone), inTeam),
		body(`"`+string(known.ID)+`"`, ""), // by id, not by phone number
		body(recipient("Updated again", phone), inTeam),
	))
	if err != nil || len(made.Tasks) != 3 {
		t.Fatalf("%d tasks were created, rejected were %+v: %v", len(made.Tasks), made.Rejected, err)
	}
	for i, want := range []string{"Updated", "Updated", "Updated again"} {
		if got := made.Tasks[i].Recipient; got.Name != want || got.ID != known.ID {
			t.Errorf("the recipient of task %d is %+v, want %s", i, got, want)
		}
	}
	expectList(t, o, lastmile.TeamContainer(team), made.Tasks[0].ID, made.Tasks[2].ID)
}

func TestSubmittedBatch(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	var bodies []string
	for range 120 { // two chunks
		bodies = append(bodies, body(recipient("Boris", string(apptest.Phone())), ""))
	}
	bodies[1] = `{"notes":7}`
	bodies[110] = body("", fmt.Sprintf(`{"type":"WORKER","worker":%q}`, worker.Worker)) // unassigned only
	made, err := o.Batches.Submit(t.Context(), o.Principal, items(t, o, bodies...))
	if err != nil {
		t.Fatal(err)
	}
	read := func() lastmile.Batch {
		t.Helper()
		batch, err := o.Batches.Batch(t.Context(), o.Principal, made.Record.ID)
		if err != nil {
			t.Fatal(err)
		}
		return batch
	}
	if batch := read(); batch.Status() != lastmile.BatchPending || batch.Received != 120 || len(batch.Results) != 0 {
		t.Errorf("a new batch is %s with %d results", batch.Status(), len(batch.Results))
	}
	o.RunJobs(t)
	batch := read()
	if batch.Status() != lastmile.BatchCompletedWithErrors || batch.TasksCreated() != 118 || len(batch.Results) != 120 {
		t.Fatalf("the batch is %s: %d of %d tasks", batch.Status(), batch.TasksCreated(), len(batch.Results))
	}
	for i, result := range batch.Results {
		rejected := i == 1 || i == 110
		if rejected != (result.Err != nil) || rejected != (result.Sent != nil) || rejected == (result.Shown != nil) {
			t.Errorf("the result of item %d is %+v", i, result)
		}
	}
	if err := batch.Results[1].Err; err.Code != lastmile.CodeMalformed || string(batch.Results[1].Sent) != bodies[1] {
		t.Errorf("item 1 was rejected with %v", err)
	}
	if err := batch.Results[110].Err; err.Code != lastmile.CodeInvalid {
		t.Errorf("item 110 was rejected with %v", err)
	}
	expectTriggers(t, o, "taskBatchCreateJobCompleted")
	other := apptest.NewOrg(t)
	_, err = other.Batches.Batch(t.Context(), other.Principal, made.Record.ID)
	expectCode(t, err, lastmile.CodeOutsideScope)
}

// TestSubmittedBatchOfLargeItems submits two batches of 80 tasks. The one with long notes
// takes one transaction more.
func TestSubmittedBatchOfLargeItems(t *testing.T) {
	o := apptest.NewOrg(t)
	transactions := func(notes int) uint64 {
		t.Helper()
		var bodies []string
		for i := range 80 {
			one := body("", "")
			bodies = append(bodies, fmt.Sprintf(`%s,"quantity":%d,"notes":%q}`, one[:len(one)-1], i, strings.Repeat("n", notes)))
		}
		made, err := o.Batches.Submit(t.Context(), o.Principal, items(t, o, bodies...))
		if err != nil {
			t.Fatal(err)
		}
		before := o.Store.Stats().Operations
		o.RunJobs(t)
		n := o.Store.Stats().Operations - before
		batch, err := o.Batches.Batch(t.Context(), o.Principal, made.Record.ID)
		if err != nil || batch.Status() != lastmile.BatchSucceeded || len(batch.Results) != len(bodies) {
			t.Fatalf("the batch is %s with %d results: %v", batch.Status(), len(batch.Results), err)
		}
		for i, result := range batch.Results {
			if !strings.Contains(string(result.Shown), fmt.Sprintf(`"quantity":%d,`, i)) {
				t.Fatalf("the result of item %d is %.300s", i, result.Shown)
			}
		}
		return n
	}
	if small, large := transactions(10), transactions(9_900); large != small+1 {
		t.Errorf("%d transactions for small tasks, %d for large ones", small, large)
	}
}

// TestSubmittedBatchOfLargeFields submits a batch twice. The second time, every task stores
// long definitions of custom fields, which are not part of the request: that takes two
// transactions more.
func TestSubmittedBatchOfLargeFields(t *testing.T) {
	o := apptest.NewOrg(t)
	transactions := func() uint64 {
		t.Helper()
		made, err := o.Batches.Submit(t.Context(), o.Principal, items(t, o, slices.Repeat([]string{body("", "")}, 20)...))
		if err != nil {
			t.Fatal(err)
		}
		before := o.Store.Stats().Operations
		o.RunJobs(t)
		n := o.Store.Stats().Operations - before
		batch, err := o.Batches.Batch(t.Context(), o.Principal, made.Record.ID)
		if err != nil || batch.Status() != lastmile.BatchSucceeded {
			t.Fatalf("the batch is %s: %v", batch.Status(), err)
		}
		return n
	}
	without := transactions()
	var fields []customfield.Change
	for i := range 50 {
		fields = append(fields, customfield.Change{
			Name: new(fmt.Sprint("field", i)), Type: new(lastmile.CustomFieldTypes[0]), Description: new(strings.Repeat("d", lastmile.MaxText)), Value: new(any("v")),
		})
	}
	if _, err := o.Fields.Define(t.Context(), o.Principal, fields); err != nil {
		t.Fatal(err)
	}
	if with := transactions(); with != without+2 { // about 1.4 MB in all
		t.Errorf("%d transactions without custom fields, %d with them", without, with)
	}
}

// TestTheEventOfALargeBatchIsLimited completes a batch whose event would have 25 MB with all
// of its tasks. The status shows everything.
func TestTheEventOfALargeBatchIsLimited(t *testing.T) {
	o := apptest.NewOrg(t)
	fields := []customfield.Change{}
	for i := range 6 {
		fields = append(fields, customfield.Change{
			Name: new(fmt.Sprint("field", i)), Type: new(lastmile.CustomFieldType("multi_line_text_field")), Value: new(any(strings.Repeat("v", lastmile.MaxNotes))),
		})
	}
	if _, err := o.Fields.Define(t.Context(), o.Principal, fields); err != nil {
		t.Fatal(err)
	}
	bodies := slices.Repeat([]string{body("", "")}, 200)
	for range 6 {
		bodies = append(bodies, `{"unknown":"`+strings.Repeat("x", 1<<20)+`"}`)
	}
	made, err := o.Batches.Submit(t.Context(), o.Principal, items(t, o, bodies...))
	if err != nil {
		t.Fatal(err)
	}
	o.RunJobs(t)
	all := o.Events(t, o.Principal.Organization)
	var event struct {
		TasksCreated, TasksErrored int
		NewTasks                   []map[string]any
		FailedTasks                []map[string]any
		Errors                     []struct {
			Message  string
			TaskData map[string]any
		}
	}
	if err := json.Unmarshal(all[len(all)-1], &event); err != nil {
		t.Fatal(err)
	}
	if size := len(all[len(all)-1]); size < 10<<20 || size > 20<<20 {
		t.Errorf("the event has %d bytes", size)
	}
	if event.TasksCreated != 200 || len(event.NewTasks) != 200 || event.TasksErrored != 6 || len(event.Errors) != 6 || len(event.FailedTasks) != 6 {
		t.Fatalf("the event has %d of %d tasks, and %d of %d errors", len(event.NewTasks), event.TasksCreated, len(event.Errors), event.TasksErrored)
	}
	batch, err := o.Batches.Batch(t.Context(), o.Principal, made.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range batch.Results[:200] {
		shown := event.NewTasks[i]
		if shown["id"] != string(r.TaskID) || len(r.Shown) < 60_000 || i < 100 && shown["customFields"] == nil || i > 150 && len(shown) != 1 {
			t.Fatalf("task %d has %d members in the event, and %d bytes in the status", i, len(shown), len(r.Shown))
		}
	}
	for i, e := range event.Errors {
		if whole := i < 3; e.Message == "" || whole != (e.TaskData["unknown"] != nil) || whole != (event.FailedTasks[i]["unknown"] != nil) || len(batch.Results[200+i].Sent) < 1<<20 {
			t.Errorf("the task of error %d is shown: %v", i, !whole)
		}
	}
}

// TestOldBatchWithInvalidItems runs a batch that was stored by a version that did not decode
// items at submission, so that some may be invalid.
func TestOldBatchWithInvalidItems(t *testing.T) {
	o := apptest.NewOrg(t)
	now := o.Now()
	batch := lastmile.Batch{ID: apptest.NewID[lastmile.BatchID](), Organization: o.Principal.Organization, Key: o.Principal.Key, Created: now, Received: 2}
	o.Write(t, func(w *sqlstore.Tx) error {
		sent := []lastmile.BatchItem{{Sent: []byte(`{"notes":7}`)}, {Sent: []byte(body("", ""))}}
		if err := w.AddBatch(t.Context(), batch, sent); err != nil {
			return err
		}
		return w.AddJob(t.Context(), work.Job{Organization: batch.Organization, ID: string(batch.ID), Kind: work.CreateBatch, Due: now, Created: now})
	})
	o.RunJobs(t)
	got, err := o.Batches.Batch(t.Context(), o.Principal, batch.ID)
	if err != nil || got.TasksCreated() != 1 || got.Results[0].Err == nil || got.Results[0].Err.Code != lastmile.CodeMalformed {
		t.Errorf("the batch is %s with %+v: %v", got.Status(), got.Results, err)
	}
}
