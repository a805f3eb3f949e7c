package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"dray/internal/analytics"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/travel"
	"dray/internal/wire"
)

// richness is how much of a sample is there.
type richness int

const (
	bare   richness = iota // what every record has, and nothing else
	shells                 // and the parts that can be missing, bare themselves
	full                   // and everything
)

const sampleID = "abcdefghijklmnopqrstuvwx"

var sampleTime = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// sampleOf makes a record of the domain by reflection, so that a new field is
// in the samples from the day it is there.
func sampleOf[T any](r richness) T {
	var made T
	fillSample(reflect.ValueOf(&made).Elem(), r)
	return made
}

// sampleValues holds values that a record cannot be without.
var sampleValues = map[reflect.Type]any{
	reflect.TypeFor[lastmile.RoutePoint]():       lastmile.AtHub,
	reflect.TypeFor[lastmile.RoutePlanState]():   lastmile.RoutePlanStarted,
	reflect.TypeFor[lastmile.RoutePlanStatus]():  lastmile.RoutePlanLate,
	reflect.TypeFor[time.Time]():                 sampleTime,
	reflect.TypeFor[lastmile.VehicleType]():      lastmile.Truck,
	reflect.TypeFor[lastmile.AdminType]():        lastmile.AdminSuper,
	reflect.TypeFor[lastmile.AccountStatus]():    lastmile.AccountAccepted,
	reflect.TypeFor[lastmile.TaskState]():        lastmile.TaskActive,
	reflect.TypeFor[assignment.Mode]():           assignment.ByLoad,
	reflect.TypeFor[lastmile.ContainerRef]():     lastmile.OrganizationContainer(sampleID),
	reflect.TypeFor[*int]():                      new(int),
	reflect.TypeFor[lastmile.Point]():            lastmile.Point{Lon: 12.5, Lat: 55.7},
	reflect.TypeFor[lastmile.CustomField]():      sampleField,
	reflect.TypeFor[lastmile.CustomFieldValue](): lastmile.CustomFieldValue{Field: sampleField, Value: true},
	reflect.TypeFor[lastmile.Condition]():        sampleCondition,
	reflect.TypeFor[lastmile.Metadata](): lastmile.Metadata{
		{Name: "a", Type: lastmile.MetadataArray, Subtype: lastmile.MetadataNumber, Value: []any{1.0}},
		{Name: "b", Type: lastmile.MetadataObject, Value: map[string]any{"c": true}, Visibility: []string{lastmile.VisibleToWorker}},
	},
}

var sampleCondition = lastmile.Condition{
	FieldName: lastmile.ConditionField, Comparison: lastmile.ConditionComparison, TargetValue: true,
}

var sampleField = lastmile.CustomField{
	Key: "k", Name: "n", Type: lastmile.FieldDecimal, Visibility: lastmile.FieldAudiences, Editability: lastmile.FieldAudiences,
	Contexts: []lastmile.CustomFieldContext{{Name: lastmile.SaveContext, Conditions: []lastmile.Condition{sampleCondition}}}, Value: 1.5,
}

// mayLack are the fields, of those in sampleValues, that can be zero.
var mayLack = map[string]bool{"Metadata": true, "LastSeen": true, "ActiveTask": true, "Hub": true, "RoutePlan": true}

func fillSample(v reflect.Value, r richness) {
	if value, ok := sampleValues[v.Type()]; ok {
		v.Set(reflect.ValueOf(value))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && (r == full || !mayLack[field.Name]) {
				fillSample(v.Field(i), r)
			}
		}
	case reflect.String:
		switch {
		case strings.HasSuffix(v.Type().Name(), "ID"):
			v.SetString(sampleID)
		case r == full:
			v.SetString("text")
		}
	case reflect.Pointer:
		if r == full || r == shells && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			fillSample(v.Elem(), r)
		}
	case reflect.Slice:
		if r == full {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fillSample(v.Index(0), r)
			fillSample(v.Index(1), r)
		}
	case reflect.Bool:
		v.SetBool(r == full)
	default:
		if r == full && v.CanFloat() {
			v.SetFloat(1.5)
		} else if r == full && v.CanInt() {
			v.SetInt(int64(90 * time.Second))
		}
	}
}

// samplesOf makes a record in every richness, as it is answered.
func samplesOf[T any]() []any {
	return []any{sampleOf[T](bare), sampleOf[T](shells), sampleOf[T](full)}
}

// answers are the values that handlers return, by the type that the route says
// they are shown as.
var answers = map[reflect.Type][]any{
	reflect.TypeFor[wire.BatchJob]():       {lastmile.NewlyMade[lastmile.Batch]{Record: sampleBatch()}},
	reflect.TypeFor[wire.Batch]():          {wire.NewBatch(lastmile.Batch{}, wire.Millis(sampleTime)), wire.NewBatch(sampleBatch(), wire.Millis(sampleTime))},
	reflect.TypeFor[wire.TaskBatch]():      {lastmile.CreatedBatch{}, lastmile.CreatedBatch{Tasks: []lastmile.Task{sampleOf[lastmile.Task](full)}, Faults: sampleBatch().Results[1:]}},
	reflect.TypeFor[wire.Greeting]():       {wire.Greeting{}},
	reflect.TypeFor[wire.NewWebhookBody](): {lastmile.NewlyMade[lastmile.Webhook]{Record: sampleOf[lastmile.Webhook](full)}},
	reflect.TypeFor[wire.Webhook]():        {lastmile.Webhook{ID: sampleID}, sampleOf[lastmile.Webhook](full)},
	reflect.TypeFor[wire.Notification]():   notificationSamples(func(n lastmile.Notification) any { return wire.NewNotification(n) }),
	reflect.TypeFor[wire.DetailedNotification](): notificationSamples(func(n lastmile.Notification) any {
		return lastmile.DetailedNotification{Notification: n, Attempts: []lastmile.Attempt{
			{Number: 1, At: sampleTime, Reason: "text"}, {Number: 2, At: sampleTime, Status: 200},
		}}
	}),
	reflect.TypeFor[wire.Redelivered]():  {lastmile.Redelivered(1)},
	reflect.TypeFor[wire.Organization](): samplesOf[lastmile.Organization](),
	reflect.TypeFor[wire.Delegatee]():    samplesOf[lastmile.Delegatee](),
	reflect.TypeFor[wire.Admin]():        samplesOf[lastmile.Admin](),
	reflect.TypeFor[wire.Destination]():  samplesOf[lastmile.Destination](),
	reflect.TypeFor[wire.Recipient]():    samplesOf[lastmile.Recipient](),
	reflect.TypeFor[wire.Worker]():       samplesOf[lastmile.Worker](),
	reflect.TypeFor[wire.Hub]():          samplesOf[lastmile.Hub](),
	reflect.TypeFor[wire.Schedule]():     samplesOf[lastmile.Schedule](),
	reflect.TypeFor[wire.Team](): append(samplesOf[lastmile.Team](),
		lastmile.NewlyMade[lastmile.Team]{Record: sampleOf[lastmile.Team](full)}),
	reflect.TypeFor[wire.CustomFields](): {lastmile.CustomFields{}, lastmile.CustomFields{sampleField, {Type: lastmile.FieldDate}}},
	reflect.TypeFor[wire.Template](): append(samplesOf[lastmile.Template](), wire.Template{
		ID: sampleID, DeletedAt: wire.Millis(sampleTime), ContextSaveConditions: []wire.Condition{}, Fields: []string{},
	}),
	reflect.TypeFor[wire.RoutePlan]():     routePlanSamples(),
	reflect.TypeFor[wire.RoutePlanPage](): {wire.NewRoutePlanPage(nil, ""), wire.NewRoutePlanPage([]lastmile.RoutePlan{sampleOf[lastmile.RoutePlan](full)}, sampleID)},
	reflect.TypeFor[wire.WorkerDetails](): samplesOf[analytics.WorkerDetails](),
	reflect.TypeFor[wire.TeamEstimate]():  {sampleOf[travel.Estimate](full), travel.Estimate{Worker: sampleID}},
	reflect.TypeFor[wire.Manifest]():      manifestSamples(),
	reflect.TypeFor[wire.Task]():          taskSamples(),
	reflect.TypeFor[wire.TaskPage]():      {wire.TaskPage{Tasks: []wire.Task{}}, wire.TaskPage{Tasks: []wire.Task{wire.NewTask(leanTask())}, LastID: sampleID}},
	reflect.TypeFor[wire.AutoAssigned]():  {assignment.Assigned{}, assignment.Assigned{sampleID: sampleID}},
	reflect.TypeFor[wire.Explanation](): append(samplesOf[assignment.Explanation](), assignment.Explanation{
		Task: sampleID, At: sampleTime, Mode: assignment.ByLoad, Considered: []assignment.Consideration{{Worker: sampleID}},
	}),
	reflect.TypeFor[wire.ContainerRecord](): {
		sampleContainer(lastmile.InOrganization), sampleContainer(lastmile.InTeam), sampleContainer(lastmile.InWorker),
		lastmile.Container{ContainerRef: lastmile.WorkerContainer(sampleID), Organization: sampleID, Created: sampleTime, Modified: sampleTime},
	},
	reflect.TypeFor[wire.SignedIn]():     {wire.SignedIn{Worker: wire.NewWorker(sampleOf[lastmile.Worker](full))}},
	reflect.TypeFor[wire.WorkList]():     {wire.NewWorkList(1, "", nil), wire.NewWorkList(1, sampleID, []lastmile.Task{leanTask()})},
	reflect.TypeFor[wire.Uploaded]():     {wire.Uploaded{UploadID: sampleID}},
	reflect.TypeFor[wire.TrackerToken](): {wire.TrackerToken{Token: "text"}},
	reflect.TypeFor[wire.Believed]():     {wire.Believed{Accepted: 1}},
	reflect.TypeFor[wire.NearbyWorkers](): {wire.NewNearbyWorkers([]lastmile.Worker{
		sampleOf[lastmile.Worker](bare), sampleOf[lastmile.Worker](shells), sampleOf[lastmile.Worker](full),
	}, sampleTime)},
}

// notificationSamples are notifications before and after they were sent.
func notificationSamples(shown func(lastmile.Notification) any) []any {
	body := []byte(`{}`)
	return []any{
		shown(lastmile.Notification{ID: sampleID, Webhook: sampleID, Due: sampleTime, Next: sampleTime, Task: sampleID, Body: body}),
		shown(lastmile.Notification{ID: sampleID, Webhook: sampleID, Due: sampleTime, State: lastmile.NotificationDelivered, Body: body}),
	}
}

// leanTask is a task that lacks all that one can lack.
func leanTask() lastmile.Task {
	return lastmile.Task{
		ID: sampleID, Organization: sampleID, Merchant: sampleID, Executor: sampleID, Created: sampleTime, Modified: sampleTime,
		Destination: sampleOf[lastmile.Destination](bare), State: lastmile.TaskCompleted,
		Barcodes:   lastmile.Barcodes{Required: []lastmile.Barcode{{ID: sampleID}}},
		Completion: lastmile.Completion{Events: []lastmile.CompletionEvent{{Name: "start", At: sampleTime}}},
	}
}

// taskSamples are tasks in all the forms that they are shown in.
func taskSamples() []any {
	historic := wire.NewTask(sampleOf[lastmile.Task](full))
	historic.AssignmentHistory = wire.NewAssignments([]lastmile.Assignment{{
		Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: sampleID}, Container: lastmile.OrganizationContainer(sampleID), At: sampleTime,
	}})
	proof := "text"
	historic.Identity.Checksum = &proof
	ofTeam, ofWorker := leanTask(), leanTask()
	ofTeam.Container = lastmile.ContainerRef{Kind: lastmile.InTeam, Owner: sampleID}
	ofWorker.Container = lastmile.WorkerContainer(sampleID)
	return append(samplesOf[lastmile.Task](), leanTask(), ofTeam, ofWorker, lastmile.CreatedTask{Task: leanTask()}, historic)
}

func sampleContainer(kind lastmile.ContainerKind) lastmile.Container {
	c := sampleOf[lastmile.Container](full)
	c.ContainerRef = lastmile.ContainerRef{Kind: kind, Owner: sampleID}
	return c
}

// routePlanSamples are route plans, also without all that a plan can lack.
func routePlanSamples() []any {
	lean := sampleOf[lastmile.RoutePlan](bare)
	lean.Worker, lean.Team, lean.VehicleType, lean.StartAt, lean.EndAt, lean.StartingHub, lean.EndingHub = "", "", "", "", "", "", ""
	lean.End, lean.ActualStart, lean.ActualEnd = time.Time{}, time.Time{}, time.Time{}
	return append(samplesOf[lastmile.RoutePlan](), lean)
}

// manifestSamples are manifests, also with the directions that no server has.
func manifestSamples() []any {
	directed := wire.NewManifest(sampleOf[travel.Manifest](full))
	distance := "30.6 mi"
	directed.TotalDistance = &distance
	directed.TurnByTurn = []wire.ManifestLeg{{ETA: wire.Millis(sampleTime), Steps: []string{"Turn left."}}}
	return append(samplesOf[travel.Manifest](), directed)
}

// sampleBatch is a batch of two tasks, one of which was created.
func sampleBatch() lastmile.Batch {
	task, err := wire.Encode(sampleOf[lastmile.Task](full))
	if err != nil {
		task = []byte(err.Error())
	}
	return lastmile.Batch{ID: sampleID, Received: 2, Created: sampleTime, Completed: sampleTime, Results: []lastmile.BatchResult{
		{TaskID: sampleID, Warned: true, Shown: task},
		{Fault: &lastmile.BatchFault{Status: 400, Number: 1000, Message: "text", Cause: "text"}, Sent: []byte(`{"notes":"text"}`)},
	}}
}

func TestAnswersMatchTheirSchemas(t *testing.T) {
	all := map[string]*sighting{}
	seen := func(f face, routes []route) sightings {
		return sightings{v: viewer{spec: bareServer().describe(f, routes)}, of: all}
	}
	eachFace(t, func(t *testing.T, f face, routes []route) { testAnswers(t, f, routes, seen(f, routes)) })
	eachFace(t, func(t *testing.T, f face, routes []route) {
		shown := seen(f, routes)
		shown.check(t)
	})
}

func testAnswers(t *testing.T, f face, routes []route, seen sightings) {
	t.Helper()
	doc := readFace(t, f, routes)
	for _, rt := range routes {
		if rt.reply == nil {
			continue
		}
		key, shape := rt.method+" "+rt.path, reflect.TypeOf(rt.reply)
		list := shape.Kind() == reflect.Slice
		if list {
			shape = shape.Elem()
		}
		values, ok := answers[shape]
		if !ok {
			t.Errorf("%s shows a %s: add its samples to answers", key, shape)
			continue
		}
		schema := doc.Paths.Value(rt.path).GetOperation(rt.method).Responses.Status(200).Value.Content.Get(jsonType).Schema
		for _, value := range values {
			data, err := wire.Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			if list {
				data = append(append([]byte("["), data...), ']')
			}
			fits(t, key, schema, data)
			seen.add(t, seen.v.Paths.get(rt.path).get(strings.ToLower(rt.method)).Responses.get("200").Content[jsonType].Schema, data)
		}
	}
}

func TestFilteredAnswersMatchTheirSchemas(t *testing.T) {
	doc := readDocument(t)
	one, err := pick(sampleOf[lastmile.Worker](full), []string{"name", "vehicle"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := wire.Encode(one)
	if err != nil {
		t.Fatal(err)
	}
	fits(t, "a worker with few fields", doc.Paths.Value("/workers/{id}").Get.Responses.Status(200).Value.Content.Get(jsonType).Schema, data)
}

func TestErrorsMatchTheirSchema(t *testing.T) {
	schema := readDocument(t).Components.Schemas["ErrorBody"]
	for name, cause := range map[string]any{"without a cause": nil, "a sentence": "because", "a key": DuplicateCause{Type: "duplicateKey"}, "a list": LackCause{Type: lastmile.LackRequirements, Missing: []string{"photo"}}} {
		for _, row := range errorTable(prose{}) {
			data, err := json.Marshal(ErrorBody{Code: row.Class, Message: ErrorMessage{Error: row.Number, Cause: cause}})
			if err != nil {
				t.Fatal(err)
			}
			fits(t, "an error with "+name, schema, data)
		}
	}
}

// sighting is how a field has been seen in answers.
type sighting struct{ value, null, absent bool }

// sightings proves that the document says no more than answers show: what may
// be null is null in some answer, what may be absent is absent in some, and
// every field is in one.
type sightings struct {
	v  viewer
	of map[string]*sighting
}

func (s *sightings) add(t *testing.T, of *schema, data []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	s.walk(of, value)
}

func (s *sightings) walk(of *schema, value any) {
	for len(of.AnyOf) > 0 {
		of = of.AnyOf[0]
	}
	if value == nil {
		return
	}
	if len(of.OneOf) > 0 {
		of = of.OneOf[0]
	}
	if list, ok := value.([]any); ok && of.Items != nil {
		for _, item := range list {
			s.walk(of.Items, item)
		}
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, p := range s.v.resolve(of).Properties {
		key := strings.TrimPrefix(of.Ref, refPrefix) + "." + p.name
		at := s.of[key]
		if at == nil {
			at = &sighting{}
			s.of[key] = at
		}
		member, present := object[p.name]
		at.value = at.value || member != nil
		at.null = at.null || present && member == nil
		at.absent = at.absent || !present
		s.walk(p.value, member)
	}
}

func (s *sightings) check(t *testing.T) {
	t.Helper()
	for name, component := range s.v.Components.Schemas {
		if component.AdditionalProperties == nil || strings.HasPrefix(name, "Error") || name == "DuplicateCause" || name == "LackCause" || strings.HasSuffix(name, "Fields") {
			continue // of requests, or checked elsewhere
		}
		for _, row := range s.v.fields(component) {
			at := s.of[name+"."+row.Name]
			switch {
			case at == nil || !at.value:
				t.Errorf("%s.%s is in no answer", name, row.Name)
			case row.Nullable && !at.null:
				t.Errorf("%s.%s is said to be null at times, and never is", name, row.Name)
			case !row.Required && !at.absent:
				t.Errorf("%s.%s is said to be absent at times, and never is", name, row.Name)
			}
		}
	}
}
