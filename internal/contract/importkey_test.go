package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
)

// withKey returns the body of a task with an import key, which is JSON.
func withKey(key string, more ...string) string {
	return `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"importKey":` + key + strings.Join(more, "") + `}`
}

// marked returns a field with a metadata entry by which the tasks of a test are found.
func marked(mark string) string {
	return `,"metadata":[{"name":"mark","type":"string","value":"` + mark + `"}]`
}

// countMarked returns the number of tasks with a mark.
func countMarked(t testing.TB, c *apptest.Client, mark string) int {
	t.Helper()
	return len(c.Call(t, "POST", "/tasks/metadata", `[{"name":"mark","type":"string","value":"`+mark+`"}]`).OK(t).List(t))
}

// alreadyThere fails the test unless an error of a batch says that a task has the key.
func alreadyThere(t testing.TB, fault map[string]any, key, task string) {
	t.Helper()
	code := fault["errorCode"] // of an asynchronous batch
	if code == nil {
		code = fault["error"] // of a synchronous batch
	}
	if fault["statusCode"] != 400.0 || code != 1004.0 || fault["cause"] != "duplicateKey: importKey "+key+", id "+task ||
		!strings.Contains(fmt.Sprint(fault["message"]), task) {
		t.Errorf("the error of a key that has been used for %s is %v", task, fault)
	}
}

func TestImportKeys(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")

		t.Run("a key creates one task, in one batch and in later ones", func(t *testing.T) {
			items := []string{withKey(`"a"`, marked("a")), withKey(`"b"`, marked("a")), withKey(`"a"`, marked("a")), goodItem(1)}
			report := submit(t, c, items...)
			made := objects(t, report["newTasks"])
			faults := objects(t, report["errors"])
			if len(made) != 3 || len(faults) != 1 || report["status"] != "completedWithErrors" || report["tasksErrored"] != 1.0 {
				t.Fatalf("the batch ended with %d tasks and %d errors: %v", len(made), len(faults), report)
			}
			first, second := fmt.Sprint(made[0]["id"]), fmt.Sprint(made[1]["id"])
			alreadyThere(t, faults[0], "a", first)
			matches(t, faults[0]["taskData"], items[2])

			report = submit(t, c, items[:3]...)
			faults = objects(t, report["errors"])
			if report["status"] != "failed" || report["tasksCreated"] != 0.0 || len(faults) != 3 {
				t.Fatalf("the second batch is %v", report)
			}
			for i, task := range []string{first, second, first} {
				alreadyThere(t, faults[i], []string{"a", "b", "a"}[i], task)
			}

			// Next to an item that is rejected in the transaction, each has its own result.
			report = submit(t, c, `{"destination":"`+unknownID+`","recipients":[],"importKey":"bad"}`, items[0], withKey(`"c"`), withKey(`"c"`))
			made, faults = objects(t, report["newTasks"]), objects(t, report["errors"])
			if len(made) != 1 || len(faults) != 3 || faults[0]["errorCode"] != 1402.0 {
				t.Fatalf("the third batch is %v", report)
			}
			alreadyThere(t, faults[1], "a", first)
			alreadyThere(t, faults[2], "c", fmt.Sprint(made[0]["id"]))
			// A rejected task does not use its key up.
			matches(t, submit(t, c, withKey(`"bad"`))["tasksCreated"], `1`)
			if n := countMarked(t, c, "a"); n != 2 {
				t.Errorf("there are %d tasks, want 2", n)
			}
		})

		t.Run("single tasks and synchronous batches have keys too", func(t *testing.T) {
			one := c.Must(t, "POST", "/tasks", withKey(`"one"`))
			if _, shown := one["importKey"]; shown {
				t.Error("the key is shown")
			}
			again := c.Call(t, "POST", "/tasks", withKey(`"one"`))
			duplicate.check(t, again, fmt.Sprint(one["id"]))
			matches(t, again.Object(t)["message"].(map[string]any)["cause"],
				fmt.Sprintf(`{"type":"duplicateKey","key":"importKey","value":"one","id":"%s"}`, one["id"]))
			response := c.Must(t, "POST", "/tasks/batch", batchOf(withKey(`"one"`), withKey(`"two"`), withKey(`"two"`)))
			made, faults := objects(t, response["tasks"]), objects(t, response["errors"])
			if len(made) != 1 || len(faults) != 2 {
				t.Fatalf("the batch is %v", response)
			}
			alreadyThere(t, faults[0]["error"].(map[string]any), "one", fmt.Sprint(one["id"]))
			alreadyThere(t, faults[1]["error"].(map[string]any), "two", fmt.Sprint(made[0]["id"]))
			// Updates and clones ignore keys.
			for _, path := range []string{"/tasks/" + fmt.Sprint(one["id"]), "/tasks/" + fmt.Sprint(made[0]["id"])} {
				send(t, c, "PUT", path, `{"importKey":"one","notes":"n"}`).OK(t)
			}
			send(t, c, "POST", "/tasks/"+fmt.Sprint(one["id"])+"/clone", `{"options":{"overrides":{"importKey":"one"}}}`).OK(t)
		})

		t.Run("a deleted task frees its key", func(t *testing.T) {
			one := c.Must(t, "POST", "/tasks", withKey(`"freed"`))
			c.Call(t, "DELETE", "/tasks/"+fmt.Sprint(one["id"]), nil).OK(t)
			matches(t, submit(t, c, withKey(`"freed"`))["tasksCreated"], `1`)
			duplicate.check(t, c.Call(t, "POST", "/tasks", withKey(`"freed"`)))
		})

		t.Run("concurrent batches create one task for each key", func(t *testing.T) {
			const keys, requests = 60, 6
			var items []string
			for i := range keys {
				items = append(items, withKey(fmt.Sprintf(`"many %d"`, i), marked("many")))
			}
			var (
				group   sync.WaitGroup
				mu      sync.Mutex
				jobs    []string
				created int
			)
			for i := range requests {
				group.Go(func() {
					mine := slices.Clone(items)
					if i%2 == 1 {
						slices.Reverse(mine)
					}
					if i < 4 {
						response := send(t, c, "POST", "/tasks/batch-async", batchOf(mine...)).OK(t).Object(t)
						mu.Lock()
						defer mu.Unlock()
						jobs = append(jobs, fmt.Sprint(response["jobId"]))
						return
					}
					for range 20 { // until it is not rejected with 503
						response := send(t, c, "POST", "/tasks/batch", batchOf(mine...))
						if response.Status == 503 {
							continue
						}
						mu.Lock()
						defer mu.Unlock()
						created += len(objects(t, response.OK(t).Object(t)["tasks"]))
						return
					}
				})
			}
			group.Wait()
			for _, job := range jobs {
				report := await(t, c, job)
				created += int(report["tasksCreated"].(float64))
				for _, fault := range objects(t, report["errors"]) {
					if fault["errorCode"] != 1004.0 {
						t.Errorf("an error is %v", fault)
					}
				}
			}
			if n := countMarked(t, c, "many"); n != keys || created != keys {
				t.Errorf("%d tasks exist and %d were reported, want %d", n, created, keys)
			}
		})

		t.Run("another organization's keys are its own", func(t *testing.T) {
			zenith := p.Organization(t, "Zenith")
			matches(t, submit(t, zenith, withKey(`"a"`), withKey(`"one"`))["tasksCreated"], `2`)
			matches(t, submit(t, c, withKey(`"a"`))["tasksCreated"], `0`)
		})

		t.Run("the key of a task that another organization executes is the caller's", func(t *testing.T) {
			client := keyed(p, c.Must(t, "POST", "/clients", `{"name":"Client"}`))
			executor := `,"executor":"` + string(c.Organization.ID) + `"`
			made := objects(t, submit(t, client, withKey(`"a"`, executor))["newTasks"])
			if len(made) != 1 {
				t.Fatal("the client has no task under a key of its courier")
			}
			matches(t, submit(t, client, withKey(`"a"`, executor))["tasksCreated"], `0`)
			c.Call(t, "DELETE", "/tasks/"+fmt.Sprint(made[0]["id"]), nil).OK(t)
			matches(t, submit(t, client, withKey(`"a"`, executor))["tasksCreated"], `1`)
		})

		t.Run("invalid keys are rejected", func(t *testing.T) {
			long := strings.Repeat("é", 100)
			matches(t, submit(t, c, withKey(text(long)))["tasksCreated"], `1`)
			for _, bad := range []struct {
				key  string
				want rejection
			}{{`""`, invalid}, {text(long + "x"), invalid}, {`5`, malformed}, {`true`, malformed}, {`{}`, malformed}, {`["a"]`, malformed}} {
				bad.want.check(t, send(t, c, "POST", "/tasks", withKey(bad.key)), "importKey")
				fault := objects(t, submit(t, c, withKey(bad.key))["errors"])
				if len(fault) != 1 || fault[0]["errorCode"] != float64(bad.want.subcode) || !strings.Contains(fmt.Sprint(fault[0]["message"]), "importKey") {
					t.Errorf("%s: the error is %v", bad.key, fault)
				}
			}
			// null is no key.
			for range 2 {
				matches(t, submit(t, c, withKey(`null`))["tasksCreated"], `1`)
			}
		})
	})
}
