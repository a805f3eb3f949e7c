// Package gonfleet_test uses the unmodified published client for Go against the
// built program. `make test-clients` runs it.
package gonfleet_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	onfleet "github.com/onfleet/gonfleet"
	"github.com/onfleet/gonfleet/client"
)

// dial returns a new client for each test, because a client limits itself to one
// call a second after 18 calls.
func dial(t *testing.T) *client.API {
	t.Helper()
	url := os.Getenv("DRAY_TEST_URL")
	if url == "" {
		t.Skip("SKIPPED: DRAY_TEST_URL is not set; run `make test-clients`")
	}
	api, err := client.New(os.Getenv("DRAY_TEST_KEY"), &client.InitParams{BaseUrl: url, Path: "/api", ApiVersion: "/v2"})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// must fails the test if a call of the client failed.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var howard = onfleet.DestinationCreateParams{
	Address:  onfleet.DestinationAddress{Number: "543", Street: "Howard St", City: "San Francisco", State: "CA", PostalCode: "94105", Country: "USA"},
	Location: onfleet.DestinationLocation{-122.39703, 37.78808},
}

func TestOrganizationAndAdministrators(t *testing.T) {
	api := dial(t)
	own := must(api.Organizations.Get())(t)
	if own.ID != os.Getenv("DRAY_TEST_ORG") {
		t.Errorf("organization %s", own.ID)
	}
	if same := must(api.Organizations.GetDelegate(own.ID))(t); same.ID != own.ID {
		t.Errorf("delegate %+v", same)
	}
	entry := onfleet.Metadata{Name: "badge", Type: "string", Value: "7"}
	admin := must(api.Administrators.Create(onfleet.AdminCreateParams{Name: "Lin", Email: "lin@example.com", Metadata: []onfleet.Metadata{entry}}))(t)
	if changed := must(api.Administrators.Update(admin.ID, onfleet.AdminUpdateParams{Name: "Lin B."}))(t); changed.Name != "Lin B." {
		t.Errorf("changed to %q", changed.Name)
	}
	if found := must(api.Administrators.ListWithMetadataQuery([]onfleet.Metadata{entry}))(t); len(found) != 1 {
		t.Errorf("%d found by metadata", len(found))
	}
	if all := must(api.Administrators.List())(t); !slices.ContainsFunc(all, func(a onfleet.Admin) bool { return a.ID == admin.ID }) {
		t.Error("not listed")
	}
	if err := api.Administrators.Delete(admin.ID); err != nil {
		t.Error(err)
	}
	if err := api.Administrators.Delete(admin.ID); err == nil || !strings.Contains(err.Error(), "exist") {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestTasks(t *testing.T) {
	api := dial(t)
	team := must(api.Teams.Create(onfleet.TeamCreateParams{Name: "South"}))(t) // workers and managers are sent as null
	worker := must(api.Workers.Create(onfleet.WorkerCreateParams{
		Name: "Barbara", Phone: "+14155550142", Teams: []string{team.ID}, Capacity: 20,
		Vehicle: &onfleet.WorkerVehicleParam{Type: onfleet.WorkerVehicleTypeBicycle},
	}))(t)
	if renamed := must(api.Teams.Update(team.ID, onfleet.TeamUpdateParams{EnableSelfAssignment: true}))(t); renamed.Name != "South" || len(renamed.Workers) != 1 {
		t.Errorf("an update of one field changed others: %+v", renamed)
	}
	destination := must(api.Destinations.Create(howard))(t)
	recipient := must(api.Recipients.Create(onfleet.RecipientCreateParams{Name: "Karen", Phone: "+14155550143"}))(t)
	if found := must(api.Recipients.Find("karen", onfleet.RecipientQueryKeyName))(t); found.ID != recipient.ID {
		t.Errorf("found %+v by name", found)
	}
	if found := must(api.Recipients.Find("+14155550143", onfleet.RecipientQueryKeyPhone))(t); found.ID != recipient.ID {
		t.Errorf("found %+v by phone", found)
	}
	task := must(api.Tasks.Create(onfleet.TaskParams{
		Destination: destination.ID, Recipients: []string{recipient.ID}, Notes: "fragile", Quantity: 2, ServiceTime: 3,
		Metadata: []onfleet.Metadata{{Name: "order", Type: "string", Value: "A1"}},
	}))(t)
	if len(task.Recipients) != 1 || task.Recipients[0].ID != recipient.ID || task.Destination.ID != destination.ID {
		t.Errorf("task %+v", task)
	}
	inline := must(api.Tasks.Create(onfleet.TaskParams{
		Destination: howard, Recipients: []onfleet.RecipientCreateParams{{Name: "Karen B.", Phone: "+14155550143"}},
	}))(t)
	if inline.Recipients[0].ID != recipient.ID || inline.Recipients[0].Name != "Karen B." {
		t.Errorf("a known phone number created a second recipient: %+v", inline.Recipients[0])
	}
	if same := must(api.Tasks.GetByShortId(task.ShortId))(t); same.ID != task.ID {
		t.Errorf("by short id: %+v", same)
	}
	page := must(api.Tasks.List(onfleet.TaskListQueryParams{From: time.Now().Add(-time.Hour).UnixMilli()}))(t)
	if !slices.ContainsFunc(page.Tasks, func(other onfleet.Task) bool { return other.ID == task.ID }) {
		t.Error("not listed")
	}
	dependent := must(api.Tasks.Create(onfleet.TaskParams{Destination: destination.ID, Recipients: []string{}, Dependencies: []string{task.ID}}))(t)
	// This client writes a list in a query as [a b].
	depending := must(api.Tasks.List(onfleet.TaskListQueryParams{From: 1, Dependencies: []string{task.ID}}))(t)
	if len(depending.Tasks) != 1 || depending.Tasks[0].ID != dependent.ID {
		t.Errorf("%d tasks depend on it", len(depending.Tasks))
	}
	box := must(api.Containers.InsertTasks(worker.ID, onfleet.ContainerQueryKeyWorkers, onfleet.ContainerTaskInsertParams{
		Tasks: []any{-1, task.ID}, ConsiderDependencies: true,
	}))(t)
	if !slices.Equal(box.Tasks, []string{task.ID, dependent.ID}) {
		t.Errorf("container holds %v", box.Tasks)
	}
	if again := must(api.Containers.Get(worker.ID, onfleet.ContainerQueryKeyWorkers))(t); !slices.Equal(again.Tasks, box.Tasks) {
		t.Errorf("container holds %v", again.Tasks)
	}
	// This client sends the options of a clone without the object around them.
	clone := must(api.Tasks.Clone(task.ID, &onfleet.TaskCloneParams{IncludeMetadata: true, Overrides: &onfleet.TaskCloneOverridesParam{Notes: "again"}}))(t)
	if clone.Notes != "again" || len(clone.Metadata) != 1 {
		t.Errorf("clone %+v", clone)
	}
	must(api.Tasks.Clone(task.ID, nil))(t) // the body is null
	if err := api.Tasks.Delete(clone.ID); err != nil {
		t.Error(err)
	}
	// This client cannot decode the response of automatic assignment: it expects a
	// list of tasks where the API has an object. Only decoding may fail.
	if _, err := api.Tasks.AutoAssignMulti(onfleet.TaskAutoAssignMultiParams{
		Tasks: []string{inline.ID}, Options: onfleet.TaskAutoAssignMultiOptionsParam{Mode: onfleet.TaskAutoAssignModeDistance},
	}); err != nil && !strings.Contains(err.Error(), "unmarshal") {
		t.Error(err)
	}
}

func TestBatchesAndLists(t *testing.T) {
	api := dial(t)
	good := onfleet.TaskParams{Destination: howard, Recipients: []string{}}
	now := must(api.Tasks.BatchCreate(onfleet.TaskBatchCreateParams{Tasks: []onfleet.TaskParams{good, {Recipients: []string{}}}}))(t)
	if len(now.Tasks) != 1 || len(now.Errors) != 1 {
		t.Errorf("%d created, %d errors", len(now.Tasks), len(now.Errors))
	}
	job := must(api.Tasks.BatchCreateAsync(onfleet.TaskBatchCreateParams{Tasks: []onfleet.TaskParams{good, good, good}}))(t)
	var state onfleet.TaskBatchStatusResponseAsync
	for range 300 {
		if state = must(api.Tasks.GetBatchJobStatus(job.JobID))(t); state.Status == "succeeded" {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if state.TasksReceived != 3 || state.TasksCreated != 3 {
		t.Errorf("batch ended as %+v", state)
	}
	if found := must(api.Workers.ListWithQuery(onfleet.WorkerListQueryParams{Filter: "name", States: "0"}))(t); len(found) > 0 {
		if _, ok := found[0]["phone"]; ok {
			t.Error("a filter kept a field it does not name")
		}
	}
	must(api.Workers.ListWorkersByLocation(onfleet.WorkersByLocationListQueryParams{Longitude: -122.4, Latitude: 37.8}))(t)
	must(api.Webhooks.List())(t)
	must(api.Hubs.List())(t)
	must(api.RoutePlans.List(onfleet.RoutePlanListQueryParams{StartTimeFrom: time.Now().UnixMilli()}))(t) // sent with an exponent
}

func TestRoutePlans(t *testing.T) {
	api := dial(t)
	first := must(api.Tasks.Create(onfleet.TaskParams{Destination: howard, Recipients: []string{}}))(t)
	second := must(api.Tasks.Create(onfleet.TaskParams{Destination: howard, Recipients: []string{}}))(t)
	plan := must(api.RoutePlans.Create(onfleet.RoutePlanParams{Name: "Loop", StartTime: time.Now().Add(time.Hour).UnixMilli(), TaskIds: []string{first.ID}}))(t)
	grown := must(api.RoutePlans.AddTasks(plan.Id, onfleet.RoutePlanAddTasksParams{Tasks: []string{second.ID}}))(t)
	if len(grown.Tasks) != 2 {
		t.Errorf("plan holds %v", grown.Tasks)
	}
	if err := api.RoutePlans.Delete(plan.Id); err != nil {
		t.Error(err)
	}
}

func TestAutoDispatch(t *testing.T) {
	api := dial(t)
	team := must(api.Teams.Create(onfleet.TeamCreateParams{Name: "Dispatched", Workers: []string{}, Managers: []string{}}))(t)
	now := time.Now().Unix()
	for _, params := range []*onfleet.TeamAutoDispatchParams{nil, {
		MaxAllowedDelay: 5, MaxTasksPerRoute: 10, ServiceTime: 3, ScheduleTimeWindow: []int64{now, now + 3600}, TaskTimeWindow: []int64{now - 60, now + 3600},
	}} {
		var started onfleet.TeamAutoDispatch
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // the first may still be in progress
			var err error
			if started, err = api.Teams.AutoDispatch(team.ID, params); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if len(started.DispatchId) != 24 {
			t.Errorf("the dispatch is %+v", started)
		}
	}
}

// TestConnectedOrganizations places a task of one organization with another, with the
// published client on both sides.
func TestConnectedOrganizations(t *testing.T) {
	courier := dial(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, os.Getenv("DRAY_TEST_URL")+"/api/v2/clients", strings.NewReader(`{"name":"Shop"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(os.Getenv("DRAY_TEST_KEY"), "")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var made struct{ Organization, APIKey string }
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil || made.APIKey == "" {
		t.Fatalf("status %s, %+v: %v", response.Status, made, err)
	}
	shop, err := client.New(made.APIKey, &client.InitParams{BaseUrl: os.Getenv("DRAY_TEST_URL"), Path: "/api", ApiVersion: "/v2"})
	if err != nil {
		t.Fatal(err)
	}
	executor := os.Getenv("DRAY_TEST_ORG")
	if own := must(shop.Organizations.Get())(t); own.ID != made.Organization || !slices.Equal(own.Delegatees, []string{executor}) {
		t.Errorf("organization %+v", own)
	}
	if seen := must(shop.Organizations.GetDelegate(executor))(t); seen.Name != "Clients" {
		t.Errorf("the courier is %+v", seen)
	}
	if seen := must(courier.Organizations.GetDelegate(made.Organization))(t); seen.Name != "Shop" {
		t.Errorf("the client is %+v", seen)
	}
	task := must(shop.Tasks.Create(onfleet.TaskParams{
		Destination: howard, Recipients: []onfleet.RecipientCreateParams{{Name: "Ann", Phone: "+14155550144"}}, Executor: executor,
	}))(t)
	if task.Organization != made.Organization || task.Executor != executor || task.Merchant != made.Organization {
		t.Errorf("placed %+v", task)
	}
	if list := must(courier.Containers.Get(executor, onfleet.ContainerQueryKeyOrganizations))(t); !slices.Contains(list.Tasks, task.ID) {
		t.Errorf("the courier's container has %v", list.Tasks)
	}
	team := must(courier.Teams.Create(onfleet.TeamCreateParams{Name: "Connected"}))(t)
	worker := must(courier.Workers.Create(onfleet.WorkerCreateParams{Name: "Kay", Phone: "+14155550145", Teams: []string{team.ID}}))(t)
	hub := must(courier.Hubs.Create(onfleet.HubCreateParams{Name: "Market", Address: howard.Address}))(t)
	must(courier.Containers.InsertTasks(worker.ID, onfleet.ContainerQueryKeyWorkers, onfleet.ContainerTaskInsertParams{Tasks: []any{-1, task.ID}}))(t)
	if seen := must(shop.Tasks.Get(task.ID))(t); seen.Worker == nil || *seen.Worker != worker.ID {
		t.Errorf("assigned to %v", seen.Worker)
	}
	manifest := must(courier.ManifestProvider.Generate(&onfleet.ManifestGenerateParams{HubId: hub.ID, WorkerId: worker.ID}, ""))(t)
	if len(manifest.Tasks) != 1 || manifest.Tasks[0].ID != task.ID {
		t.Errorf("the manifest has %+v", manifest.Tasks)
	}
	if _, err := shop.ManifestProvider.Generate(&onfleet.ManifestGenerateParams{HubId: hub.ID, WorkerId: worker.ID}, ""); err == nil {
		t.Error("the client made a manifest of the courier's worker")
	}
	if _, err := shop.Workers.Get(worker.ID); err == nil {
		t.Error("the client read the courier's worker")
	}
	if err := shop.Tasks.Delete(task.ID); err != nil {
		t.Error(err)
	}
}
