package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/edge"
)

// batchOf returns the body of a request for a batch.
func batchOf(items ...string) string { return `{"tasks":[` + strings.Join(items, ",") + `]}` }

// goodItem returns a valid task with its own destination and recipient.
func goodItem(n int) string {
	return fmt.Sprintf(`{"destination":{"address":{"number":"%d","street":"S","city":"X","country":"Y"},"location":[1,2]},`+
		`"recipients":[{"name":"R%d","phone":"+1212555%04d"}],"metadata":[{"name":"n","type":"number","value":%d}]}`, n, n, n, n)
}

// badItems are tasks that are rejected, each for a different reason.
var badItems = map[string]struct {
	item string
	want rejection
	word string // part of the message
}{
	"an empty object":        {`{}`, malformed, "destination"},
	"no recipients":          {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]}}`, malformed, "recipients"},
	"a wrong type":           {`{"destination":5,"recipients":[]}`, malformed, "destination"},
	"a wrong value":          {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"quantity":-1}`, invalid, "quantity"},
	"a wrong phone number":   {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[{"name":"R","phone":"12"}]}`, invalid, "phone"},
	"automatic assignment":   {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"autoAssign":{"mode":"distance"}}`, invalid, "autoAssign"},
	"an unknown destination": {`{"destination":"` + unknownID + `","recipients":[]}`, notFound, unknownID},
	"an unknown task":        {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"dependencies":["` + unknownID + `"]}`, notFound, unknownID},
	"long notes":             {`{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"notes":"` + strings.Repeat("é", 10_001) + `"}`, invalid, "notes"},
}

// submit sends a batch and waits for its end.
func submit(t testing.TB, c *apptest.Client, items ...string) (report map[string]any) {
	t.Helper()
	reply := send(t, c, "POST", "/tasks/batch-async", batchOf(items...)).OK(t).Object(t)
	matches(t, reply, `{"status":"pending","jobId":"<id>"}`)
	return await(t, c, fmt.Sprint(reply["jobId"]))
}

// await waits for the end of a batch.
func await(t testing.TB, c *apptest.Client, id string) (report map[string]any) {
	t.Helper()
	apptest.Until(t, "the batch is done", func() bool {
		report = c.Must(t, "GET", "/tasks/batch/"+id, nil)
		return report["status"] != "pending" && report["status"] != "inProgress"
	})
	return report
}

// batchRejected fails the test unless a response is an error in the shape of
// batches.
func batchRejected(t testing.TB, want rejection, a apptest.Response, words ...string) {
	t.Helper()
	var shape struct {
		StatusCode, Error *int
		Message, Cause    *string
	}
	dec := json.NewDecoder(bytes.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&shape); err != nil || shape.StatusCode == nil || shape.Error == nil || shape.Message == nil || shape.Cause == nil {
		t.Errorf("responded with %d, not an error of a batch (%v): %s", a.Status, err, clipped(a.Body))
		return
	}
	if a.Status != want.status || *shape.StatusCode != want.status || *shape.Error != want.subcode {
		t.Errorf("rejected with %d %d %d, want %v: %s", a.Status, *shape.StatusCode, *shape.Error, want, clipped(a.Body))
	}
	for _, word := range words {
		if !strings.Contains(*shape.Message, word) {
			t.Errorf("the message does not say %q: %s", word, clipped(a.Body))
		}
	}
	checkHeaders(t, a)
}

// clipped returns the beginning of a response, for a message.
func clipped(body []byte) []byte { return body[:min(len(body), 500)] }

// objects returns the objects of a list.
func objects(t testing.TB, list any) (all []map[string]any) {
	t.Helper()
	entries, ok := list.([]any)
	if !ok {
		t.Fatalf("%v is no list", list)
	}
	for _, entry := range entries {
		all = append(all, entry.(map[string]any))
	}
	return all
}

func TestBatchContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := newWorld(t, p, "acme", "212")

		t.Run("a batch is reported with its tasks in the order they were sent", func(t *testing.T) {
			const n = 120
			items := make([]string, n)
			for i := range items {
				items[i] = goodItem(i)
			}
			report := submit(t, c.Client, items...)
			made := objects(t, report["newTasks"])
			delete(report, "newTasks")
			matches(t, report, fmt.Sprintf(`{"status":"succeeded","submitted":"Less than a minute ago.","tasksReceived":%d,"tasksCreated":%d,
				"tasksErrored":0,"errors":[],"failedTasks":[],"newTasksWithWarnings":[]}`, n, n))
			if len(made) != n {
				t.Fatalf("%d tasks are shown", len(made))
			}
			for i, task := range made {
				if got := task["metadata"].([]any)[0].(map[string]any)["value"]; got != float64(i) {
					t.Fatalf("task %d is that of item %v", i, got)
				}
			}
			matches(t, made[7], string(c.Call(t, "GET", "/tasks/"+fmt.Sprint(made[7]["id"]), nil).OK(t).Body))
			for field, want := range map[string]string{"state": `0`, "worker": `null`, "container": `{"type":"ORGANIZATION","organization":"` + string(c.Organization.ID) + `"}`} {
				matches(t, made[7][field], want)
			}
			c.Call(t, "DELETE", "/tasks/"+fmt.Sprint(made[7]["id"]), nil).OK(t)
		})

		t.Run("an invalid task does not affect the others", func(t *testing.T) {
			var (
				items []string
				names []string
				good  int
			)
			for name, bad := range badItems {
				names = append(names, name)
				items = append(items, goodItem(200+len(items)), bad.item, goodItem(200+len(items)))
				good += 2
			}
			report := submit(t, c.Client, items...)
			created := objects(t, report["newTasks"])
			if report["status"] != "completedWithErrors" || report["tasksCreated"] != float64(good) || report["tasksErrored"] != float64(len(names)) ||
				report["tasksReceived"] != float64(len(items)) || len(created) != good {
				t.Errorf("%v: %v created, %v rejected, %v received; %d shown", report["status"], report["tasksCreated"], report["tasksErrored"], report["tasksReceived"], len(created))
			}
			faults, failed := objects(t, report["errors"]), objects(t, report["failedTasks"])
			sync := send(t, c.Client, "POST", "/tasks/batch", batchOf(items...)).OK(t).Object(t)
			again := objects(t, sync["errors"])
			if len(faults) != len(names) || len(failed) != len(names) || len(again) != len(names) || len(objects(t, sync["tasks"])) != good {
				t.Fatalf("%d errors, %d failed, %d and %d at once", len(faults), len(failed), len(again), len(objects(t, sync["tasks"])))
			}
			for i, name := range names {
				bad := badItems[name]
				message, cause := fmt.Sprint(faults[i]["message"]), faults[i]["cause"]
				if !strings.Contains(message, bad.word) {
					t.Errorf("%s: the message does not say %q: %s", name, bad.word, message)
				}
				matches(t, faults[i], fmt.Sprintf(`{"statusCode":%d,"errorCode":%d,"message":%s,"cause":%s,"taskData":%s}`,
					bad.want.status, bad.want.subcode, text(message), text(fmt.Sprint(cause)), bad.item))
				matches(t, failed[i], bad.item)
				matches(t, again[i], fmt.Sprintf(`{"error":{"statusCode":%d,"error":%d,"message":%s,"cause":%s},"task":%s}`,
					bad.want.status, bad.want.subcode, text(message), text(fmt.Sprint(cause)), bad.item))
			}
		})

		t.Run("a batch that created no task has failed", func(t *testing.T) {
			report := submit(t, c.Client, `{}`, `{}`)
			matches(t, []any{report["status"], report["tasksCreated"], report["tasksErrored"], report["newTasks"]}, `["failed",0,2,[]]`)
		})

		t.Run("a rejected task leaves nothing behind", func(t *testing.T) {
			const item = `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2],"metadata":[{"name":"orphan","type":"boolean","value":true}]},
				"recipients":[{"name":"Orphan","phone":"+12125559999"}],"dependencies":["` + unknownID + `"]}`
			submit(t, c.Client, item, goodItem(300))
			send(t, c.Client, "POST", "/tasks/batch", batchOf(item, goodItem(301))).OK(t)
			notFound.check(t, c.Call(t, "GET", "/recipients/phone/+12125559999", nil))
			matches(t, c.Call(t, "POST", "/destinations/metadata", `[{"name":"orphan","type":"boolean","value":true}]`).OK(t).List(t), `[]`)
		})

		t.Run("tasks of a batch are created unassigned", func(t *testing.T) {
			place := `{"destination":"` + c.own["destination"] + `","recipients":[],"container":`
			report := submit(t, c.Client,
				place+`{"type":"ORGANIZATION","organization":"`+string(c.Organization.ID)+`"}}`,
				place+`{"type":"TEAM","team":"`+c.own["team"]+`"}}`,
				place+`{"type":"WORKER","worker":"`+c.own["worker"]+`"}}`)
			made := objects(t, report["newTasks"])
			matches(t, []any{report["status"], len(made), made[1]["state"], made[1]["container"], objects(t, report["errors"])[0]["errorCode"]},
				`["completedWithErrors",2,0,{"type":"TEAM","team":"`+c.own["team"]+`"},1000]`)

			// In a synchronous batch, a task may be assigned to a worker, as in POST /tasks.
			reply := send(t, c.Client, "POST", "/tasks/batch", batchOf(place+`{"type":"WORKER","worker":"`+c.own["worker"]+`"}}`)).OK(t).Object(t)
			assigned := objects(t, reply["tasks"])[0]
			matches(t, []any{assigned["state"], assigned["worker"]}, `[1,"`+c.own["worker"]+`"]`)
		})

		t.Run("tasks whose destination was found only approximately are also listed with warnings", func(t *testing.T) {
			report := submit(t, c.Client, goodItem(350), `{"destination":{"address":{"number":"350","street":"5th Avenue","city":"New York","country":"United States"}},"recipients":[]}`)
			made, warned := objects(t, report["newTasks"]), objects(t, report["newTasksWithWarnings"])
			if len(made) != 2 || len(warned) != 1 || warned[0]["id"] != made[1]["id"] {
				t.Errorf("%d tasks, %d of them with warnings: %v", len(made), len(warned), report["errors"])
			}
		})

		t.Run("the same recipient in several tasks is one", func(t *testing.T) {
			item := func(name string) string {
				return `{"destination":"` + c.own["destination"] + `","recipients":[{"name":"` + name + `","phone":"+12125558888"}]}`
			}
			made := objects(t, submit(t, c.Client, item("First"), item("Second"))["newTasks"])
			first, second := made[0]["recipients"].([]any)[0].(map[string]any), made[1]["recipients"].([]any)[0].(map[string]any)
			if first["id"] != second["id"] || first["name"] != "Second" {
				t.Errorf("the recipients are %v and %v", first, second)
			}
		})

		t.Run("an id of another organization is rejected for its task alone", func(t *testing.T) {
			zenith := newWorld(t, p, "zenith-canary", "646")
			before := zenith.everything(t)
			for _, at := range idPlaces() {
				if at.operation != "POST /tasks" || at.ignored || strings.HasPrefix(at.field, "autoAssign") {
					continue
				}
				own := rejection{}
				if at.field == "container.worker" {
					own = invalid // tasks are created unassigned
				}
				for id, want := range map[string]rejection{zenith.pick(at): outsideScope, unknownID: notFound, c.pick(at): own} {
					if own == invalid {
						want = invalid
					}
					c.made++
					item := c.fill(strings.ReplaceAll(at.body, `"ID"`, text(id)))
					report := submit(t, c.Client, item, goodItem(400))
					got := rejection{}
					for _, fault := range objects(t, report["errors"]) {
						got.status, got.subcode = int(fault["statusCode"].(float64)), int(fault["errorCode"].(float64))
					}
					if want.class = ""; got != want {
						t.Errorf("%s %s: %v, want %v", at.field, id, got, want)
					}
					if shown := fmt.Sprint(report); strings.Contains(shown, zenith.canary) {
						t.Errorf("%s: the report holds something of the other organization's: %s", at.field, shown)
					}
				}
			}
			if zenith.everything(t) != before {
				t.Error("the other organization changed")
			}
		})

		t.Run("a batch is shown to its organization alone", func(t *testing.T) {
			zenith := p.Organization(t, "Zenith")
			reply := c.Must(t, "POST", "/tasks/batch-async", batchOf(goodItem(500)))
			path := "/tasks/batch/" + fmt.Sprint(reply["jobId"])
			outsideScope.check(t, zenith.Call(t, "GET", path, nil), fmt.Sprint(reply["jobId"]))
			for _, id := range append([]string{unknownID, c.own["task"]}, malformedIDs...) {
				notFound.check(t, send(t, c.Client, "GET", "/tasks/batch/"+id, ""))
			}
			await(t, c.Client, fmt.Sprint(reply["jobId"]))
		})

		t.Run("a batch has at least one task and at most 500, or 100 if it is synchronous", func(t *testing.T) {
			item := `{"destination":"` + c.own["destination"] + `","recipients":[]}`
			for path, most := range map[string]int{"/tasks/batch": 100, "/tasks/batch-async": 500} {
				for name, body := range map[string]string{"none": `{"tasks":[]}`, "too many": batchOf(slices.Repeat([]string{item}, most+1)...)} {
					t.Run(path+" "+name, func(t *testing.T) {
						batchRejected(t, invalid, send(t, c.Client, "POST", path, body), "tasks", fmt.Sprint(most))
					})
				}
				for name, body := range map[string]string{
					"no tasks": `{}`, "no body": ``, "null": `null`, "tasks of null": `{"tasks":null}`, "not a list": `{"tasks":{}}`,
					"a number among the tasks": `{"tasks":[{},5]}`, "null among the tasks": `{"tasks":[null]}`, "a list among the tasks": `{"tasks":[[]]}`,
				} {
					t.Run(path+" "+name, func(t *testing.T) { batchRejected(t, malformed, send(t, c.Client, "POST", path, body), "tasks") })
				}
				for name, body := range map[string]string{
					"no JSON": `{"tasks":[`, "a key twice": `{"tasks":[{"notes":"a","notes":"b"}]}`, "NUL": `{"tasks":[{"notes":"\u0000"}]}`,
				} {
					t.Run(path+" "+name, func(t *testing.T) { batchRejected(t, invalid, send(t, c.Client, "POST", path, body)) })
				}
				t.Run(path+" with an unknown key", func(t *testing.T) {
					stranger := &apptest.Client{Platform: p, Key: "wrong"}
					unauthenticated.check(t, send(t, stranger, "POST", path, batchOf(item)))
				})
			}
			matches(t, submit(t, c.Client, slices.Repeat([]string{item}, 500)...)["tasksCreated"], `500`)
			reply := c.Must(t, "POST", "/tasks/batch", batchOf(slices.Repeat([]string{item}, 100)...))
			if len(objects(t, reply["tasks"])) != 100 {
				t.Errorf("%d tasks were created at once", len(objects(t, reply["tasks"])))
			}
		})

		t.Run("the body of a batch may be 32 MiB, and no more", func(t *testing.T) {
			item := `{"destination":"` + c.own["destination"] + `","recipients":[],"notes":"` + strings.Repeat("日", 10_000) + `"}`
			report := submit(t, c.Client, slices.Repeat([]string{item}, 500)...) // 15 MB
			matches(t, report["status"], `"succeeded"`)
			large := strings.Repeat(" ", edge.MaxBatchBody-len(batchOf(item))) + batchOf(item)
			send(t, c.Client, "POST", "/tasks/batch", large).OK(t)
			for _, path := range []string{"/tasks/batch", "/tasks/batch-async"} {
				batchRejected(t, tooLarge, send(t, c.Client, "POST", path, large+" "), fmt.Sprint(edge.MaxBatchBody))
			}
		})

		t.Run("requests with one idempotency key create one batch", func(t *testing.T) {
			const header, replayed = "Idempotency-Key", "Idempotent-Replayed"
			for path, wanted := range map[string]int{"/tasks/batch": 1, "/tasks/batch-async": 1} {
				name := fmt.Sprintf(`[{"name":"once","type":"string","value":"%s"}]`, path)
				body := batchOf(`{"destination":"`+c.own["destination"]+`","recipients":[],"metadata":`+name+`}`, `{}`)
				replies := make([]apptest.Response, 8)
				var group sync.WaitGroup
				for i := range replies {
					group.Go(func() { replies[i] = send(t, c.Client, "POST", path, body, header, "one") })
				}
				group.Wait()
				originals := 0
				for _, a := range replies {
					if string(a.OK(t).Body) != string(replies[0].Body) {
						t.Errorf("%s responded with %s and %s", path, clipped(replies[0].Body), clipped(a.Body))
					}
					if a.Header.Get(replayed) == "" {
						originals++
					}
				}
				batchRejected(t, invalid, send(t, c.Client, "POST", path, batchOf(`{}`), header, "one"), header)
				p.Settle(t)
				if made := c.Call(t, "POST", "/tasks/metadata", name).OK(t).List(t); len(made) != wanted || originals != 1 {
					t.Errorf("%s: %d tasks were made, and %d responses say they are the first", path, len(made), originals)
				}
			}
		})
	})
}

func TestBatchEvents(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "acme")
		reply := send(t, c, "POST", "/tasks/batch-async", batchOf(goodItem(1), `{}`, goodItem(2))).OK(t).Object(t)
		report := await(t, c, fmt.Sprint(reply["jobId"]))
		send(t, c, "POST", "/tasks/batch", batchOf(goodItem(3))).OK(t)

		var streamed []map[string]any
		for _, event := range p.Events(t, c.Organization.ID) {
			var body map[string]any
			if err := json.Unmarshal(event, &body); err != nil {
				t.Fatal(err)
			}
			streamed = append(streamed, body)
		}
		if len(streamed) != 1 {
			t.Fatalf("%d events were streamed, want one, of the batch: %v", len(streamed), streamed)
		}
		report["jobId"] = reply["jobId"]
		for key, want := range map[string]string{
			"triggerId": `19`, "triggerName": `"taskBatchCreateJobCompleted"`, "time": `"<now>"`, "data": `{}`,
			"taskId": `null`, "workerId": `null`, "adminId": `null`, "actionContext": `{"type":"API","id":"<id>"}`,
		} {
			matches(t, streamed[0][key], want)
			delete(streamed[0], key)
		}
		matches(t, streamed[0], string(encode(t, report)))
	})
}

func TestBatchOutlivesItsKey(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "acme")
		reply := c.Must(t, "POST", "/tasks/batch-async", batchOf(goodItem(1)))
		keys, err := p.APIKeys.List(t.Context(), c.Organization.ID)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := p.APIKeys.Create(t.Context(), c.Organization.ID, "second")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.APIKeys.Revoke(t.Context(), c.Organization.ID, keys[0].ID); err != nil {
			t.Fatal(err)
		}
		other := &apptest.Client{Platform: p, Key: second}
		report := await(t, other, fmt.Sprint(reply["jobId"]))
		matches(t, report["status"], `"succeeded"`)
		matches(t, objects(t, report["newTasks"])[0]["creator"], text(string(keys[0].ID)))
	})
}
