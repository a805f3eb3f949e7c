package openapi_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/adminapi"
	"dray/internal/audit"
	"dray/internal/auditapi"
	"dray/internal/board"
	"dray/internal/boardapi"
	"dray/internal/driverapi"

	"dray/internal/orderapi"

	"dray/internal/assignment"
	"dray/internal/codec"
	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/order"
	"dray/internal/planning"
	"dray/internal/report"
	"dray/internal/settings"
	"dray/internal/spec"
	"dray/internal/textmessage"
	"dray/internal/tracking"
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
	reflect.TypeFor[order.RatingType]():          order.RateDistance,
	reflect.TypeFor[order.Unit]():                order.Kilometers,
	reflect.TypeFor[order.Status]():              order.Active,
	reflect.TypeFor[order.Amount]():              order.Amount(1_250),
	reflect.TypeFor[order.Clock]():               order.Clock(90),
	reflect.TypeFor[time.Weekday]():              time.Friday,
	reflect.TypeFor[lastmile.VehicleType]():      lastmile.Truck,
	reflect.TypeFor[lastmile.AdminType]():        lastmile.AdminSuper,
	reflect.TypeFor[lastmile.AccountStatus]():    lastmile.AccountAccepted,
	reflect.TypeFor[lastmile.TaskState]():        lastmile.TaskActive,
	reflect.TypeFor[lastmile.Pin]():              lastmile.PinPosition,
	reflect.TypeFor[assignment.Mode]():           assignment.ByLoad,
	reflect.TypeFor[audit.AttemptKind]():         audit.AttemptKind("wrongCode"),
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
	FieldName: customfield.ConditionField, Comparison: customfield.ConditionComparison, TargetValue: true,
}

var sampleField = lastmile.CustomField{
	Key: "k", Name: "n", Type: lastmile.FieldDecimal, Visibility: customfield.Audiences, Editability: customfield.Audiences,
	Contexts: []lastmile.CustomFieldContext{{Name: customfield.SaveContext, Conditions: []lastmile.Condition{sampleCondition}}}, Value: 1.5,
}

// mayLack are the fields, of those in sampleValues, that can be zero.
var mayLack = map[string]bool{"Attempt": true, "Metadata": true, "LastSeen": true, "ActiveTask": true, "Hub": true, "RoutePlan": true, "Pin": true}

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

// samplesOf makes a record in every richness, as it is sent.
func samplesOf[T, W any](toWire func(T) W) []any {
	return []any{toWire(sampleOf[T](bare)), toWire(sampleOf[T](shells)), toWire(sampleOf[T](full))}
}

func sampleClient(status string, name *string) wire.Client {
	return wire.Client{ID: sampleID, TimeCreated: wire.Millis(sampleTime), TimeLastModified: wire.Millis(sampleTime), Organization: sampleID, Status: status, Name: name, ShowClientName: true}
}

// sampleService is a delivery service, which may have everything that can be missing.
func sampleService(whole bool) order.Service {
	s := order.Service{
		ID: sampleID, Organization: sampleID, Created: sampleTime, Modified: sampleTime, Currency: "USD",
		Rates: []order.Rate{{ID: sampleID, Type: order.RateFlat, IsBase: true, Amount: 1}},
	}
	if whole {
		s = sampleOf[order.Service](full)
		s.Limits.Weight.Unit, s.Limits.Quantity = order.Kilograms, new(1)
	}
	return s
}

// orderSamples are orders without and with everything that can be missing.
func orderSamples() (samples []any) {
	for _, r := range []richness{bare, full} {
		o := sampleOf[order.Order](r)
		o.Events = []order.Event{{Name: "created", At: sampleTime, Status: order.Unassigned}, {Name: "started", At: sampleTime, Task: sampleID, Status: order.Active}}
		if r == bare {
			o.Service = ""
		} else {
			o.Price.Entries[0].ID = ""
		}
		for _, task := range []lastmile.Task{leanTask(), sampleOf[lastmile.Task](r), sampleOf[lastmile.Task](full)} {
			samples = append(samples, orderapi.NewOrder(o, task, task))
		}
	}
	reserved := orderapi.NewOrder(sampleOf[order.Order](full), leanTask(), leanTask())
	reserved.Events, reserved.OrchestrationDetails, reserved.DeliveryServiceInvoice = []orderapi.OrderEvent{}, &struct{}{}, &struct{}{}
	return append(samples, reserved)
}

// triggerSamples are all triggers.
func triggerSamples() (samples []any) {
	all, _ := adminapi.Triggers() // no samples fail the test
	for _, trigger := range all {
		samples = append(samples, trigger)
	}
	return samples
}

// replies are values of the types that handlers return.
var replies = map[reflect.Type][]any{
	reflect.TypeFor[wire.BatchJob]():       {wire.NewBatchJob(lastmile.CreatedRecord[lastmile.Batch]{Record: sampleBatch()})},
	reflect.TypeFor[wire.Batch]():          {wire.NewBatch(lastmile.Batch{}, wire.Millis(sampleTime)), wire.NewBatch(sampleBatch(), wire.Millis(sampleTime))},
	reflect.TypeFor[wire.TaskBatch]():      {wire.NewTaskBatch(lastmile.CreatedBatch{}), wire.NewTaskBatch(lastmile.CreatedBatch{Tasks: []lastmile.Task{sampleOf[lastmile.Task](full)}, Rejected: sampleBatch().Results[1:]})},
	reflect.TypeFor[wire.Greeting]():       {wire.Greeting{}},
	reflect.TypeFor[wire.NewWebhookBody](): {wire.NewCreatedWebhook(lastmile.CreatedRecord[lastmile.Webhook]{Record: sampleOf[lastmile.Webhook](full)})},
	reflect.TypeFor[wire.Webhook]():        {wire.NewWebhook(lastmile.Webhook{ID: sampleID}), wire.NewWebhook(sampleOf[lastmile.Webhook](full))},
	reflect.TypeFor[wire.Notification]():   notificationSamples(func(n lastmile.Notification) any { return wire.NewNotification(n) }),
	reflect.TypeFor[wire.TaskNotification](): notificationSamples(func(n lastmile.Notification) any {
		return wire.NewTaskNotification(n, "text", lastmile.Attempt{Number: int64(n.State), At: sampleTime})
	}),
	reflect.TypeFor[wire.DetailedNotification](): notificationSamples(func(n lastmile.Notification) any {
		return wire.NewDetailedNotification(lastmile.DetailedNotification{Notification: n, Attempts: []lastmile.Attempt{
			{Number: 1, At: sampleTime, Reason: "text", Response: "text"}, {Number: 2, At: sampleTime, Status: 200},
		}})
	}),
	reflect.TypeFor[adminapi.APIKey]():             {adminapi.NewKeyRecord(lastmile.APIKey{ID: sampleID, Created: sampleTime}), adminapi.NewKeyRecord(sampleOf[lastmile.APIKey](full))},
	reflect.TypeFor[adminapi.NewAPIKey]():          {adminapi.NewCreatedKey(access.NewKey{Record: lastmile.APIKey{ID: sampleID, Created: sampleTime}}), adminapi.NewCreatedKey(sampleOf[access.NewKey](full))},
	reflect.TypeFor[adminapi.Message]():            append(samplesOf(adminapi.NewMessage), adminapi.NewMessage(textmessage.Message{ID: sampleID, Created: sampleTime})),
	reflect.TypeFor[adminapi.SearchResult]():       {adminapi.NewSearchResult(report.Found{Tasks: []lastmile.Task{leanTask(), sampleOf[lastmile.Task](full)}, Workers: []lastmile.Worker{sampleOf[lastmile.Worker](full)}, Recipients: []lastmile.Recipient{sampleOf[lastmile.Recipient](full)}})},
	reflect.TypeFor[adminapi.WorkerPositions]():    {adminapi.NewWorkerPositions(report.Track{Positions: []lastmile.Position{{At: sampleTime}, sampleOf[lastmile.Position](full)}}), adminapi.NewWorkerPositions(report.Track{Next: sampleTime})},
	reflect.TypeFor[adminapi.WorkerStops]():        {adminapi.NewWorkerStops(report.Round{Stops: []report.Stop{{Task: leanTask()}, {Task: sampleOf[lastmile.Task](full), Promised: sampleTime}}}), adminapi.NewWorkerStops(report.Round{Next: sampleTime, Last: sampleID, Stops: stopSamples()})},
	reflect.TypeFor[adminapi.Analytics]():          {adminapi.NewAnalytics(report.Analytics{Window: lastmile.Window{From: sampleTime, To: sampleTime}, Groups: []report.Group{{}, sampleOf[report.Group](full)}})},
	reflect.TypeFor[adminapi.TriggerDescription](): triggerSamples(),
	reflect.TypeFor[adminapi.MessageReply]():       samplesOf(adminapi.NewMessageReply),
	reflect.TypeFor[adminapi.MessageOptOut]():      samplesOf(adminapi.NewMessageOptOut),
	reflect.TypeFor[adminapi.MessagePreview]():     {adminapi.NewMessagePreview("text")},
	reflect.TypeFor[adminapi.MessageTemplates]():   {adminapi.NewMessageTemplates(messaging.Templates{Language: "en", All: []messaging.Template{{Template: textmessage.Template{Occasion: textmessage.Occasion{Kind: textmessage.KindStarted}, Language: "en"}}}})},
	reflect.TypeFor[adminapi.OrganizationSettings](): {adminapi.NewOrganizationSettings(settings.All{Replanning: assignment.DefaultReplanning}), adminapi.NewOrganizationSettings(settings.All{
		Organization: sampleOf[lastmile.Organization](full), Page: sampleOf[lastmile.PageSettings](full), Messages: textmessage.Settings{From: "text"}, Replanning: assignment.DefaultReplanning,
	})},
	reflect.TypeFor[wire.Redelivered]():         {wire.NewRedelivered(1)},
	reflect.TypeFor[wire.PageSettings]():        samplesOf(wire.NewPageSettings),
	reflect.TypeFor[orderapi.DeliveryService](): {orderapi.NewDeliveryService(sampleService(false)), orderapi.NewDeliveryService(sampleService(true))},
	reflect.TypeFor[orderapi.Order]():           orderSamples(),
	reflect.TypeFor[orderapi.OrderPage]():       {orderapi.OrderPage{Orders: []orderapi.Order{orderSamples()[0].(orderapi.Order)}}, orderapi.OrderPage{Orders: []orderapi.Order{}, LastID: sampleID}},
	reflect.TypeFor[boardapi.Board]():           boardSamples(),
	reflect.TypeFor[boardapi.BoardHistory]():    historySamples(),
	reflect.TypeFor[boardapi.BoardPositions](): {
		boardapi.NewBoardPositions([]board.Moved{{Worker: sampleID, Position: lastmile.Position{At: sampleTime}}, sampleOf[board.Moved](full)}, sampleTime),
	},
	reflect.TypeFor[boardapi.EventLog](): {
		boardapi.EventLog{Events: []boardapi.LogEntry{}}, boardapi.EventLog{Events: []boardapi.LogEntry{{Number: 1, TimeStored: wire.Millis(sampleTime), Event: []byte(`{}`)}}, Next: new(int64(1))},
	},
	reflect.TypeFor[boardapi.RoutePreview](): {
		boardapi.NewRoutePreview(tracking.Preview{Worker: sampleID, Tasks: []tracking.PreviewedTask{{ID: sampleID}}}), boardapi.NewRoutePreview(sampleOf[tracking.Preview](full)),
	},
	reflect.TypeFor[auditapi.TaskHistory](): {auditapi.NewTaskHistory(nil, ""), auditapi.NewTaskHistory([]audit.Change{
		{ID: sampleID, Time: sampleTime, Recorded: sampleTime, ActorType: audit.BySystem},
		{ID: sampleID, Time: sampleTime, Recorded: sampleTime, ActorType: audit.ByKey, Worker: &audit.Named{ID: sampleID}},
		{
			ID: sampleID, Time: sampleTime, Recorded: sampleTime, Trigger: new(lastmile.TriggerTaskAssigned), ActorType: audit.ByAdmin, Actor: audit.Named{ID: sampleID, Name: "text"},
			Worker: &audit.Named{ID: sampleID, Name: "text"}, Step: "text", Changed: []string{"text"},
		},
	}, sampleID)},
	reflect.TypeFor[auditapi.AuditPage]():       {auditapi.NewAuditPage(nil, ""), auditapi.NewAuditPage([]audit.Entry{sampleOf[audit.Entry](bare), sampleOf[audit.Entry](full)}, sampleID)},
	reflect.TypeFor[orderapi.CancelledOrders](): {orderapi.CancelledOrders{Status: "success", TotalOrdersRemoved: 1}},
	reflect.TypeFor[orderapi.Quote]():           {orderapi.NewQuotes([]order.Quote{sampleOf[order.Quote](full)})[0]},
	reflect.TypeFor[wire.Organization]():        samplesOf(wire.NewOrganization),
	reflect.TypeFor[wire.Delegatee]():           samplesOf(wire.NewDelegatee),
	reflect.TypeFor[wire.Client]():              {sampleClient("pending", nil), sampleClient("active", new("text"))},
	reflect.TypeFor[wire.NewClient]():           {wire.NewClient{Client: sampleClient("pending", nil)}, wire.NewClient{Client: sampleClient("active", new("text")), APIKey: new("text")}},
	reflect.TypeFor[wire.Invitation]():          {wire.Invitation{ID: sampleID, TimeCreated: wire.Millis(sampleTime), TimeLastModified: wire.Millis(sampleTime), Courier: sampleID, Status: "pending"}},
	reflect.TypeFor[wire.Admin]():               samplesOf(wire.NewAdmin),
	reflect.TypeFor[wire.AdminLink]():           {wire.AdminLink{Expires: wire.Millis(sampleTime), Sent: true}, wire.AdminLink{Link: new("https://x"), Expires: wire.Millis(sampleTime)}},
	reflect.TypeFor[wire.Destination]():         samplesOf(wire.NewDestination),
	reflect.TypeFor[wire.Recipient]():           samplesOf(wire.NewRecipient),
	reflect.TypeFor[wire.Worker]():              samplesOf(wire.NewWorker),
	reflect.TypeFor[wire.Hub]():                 samplesOf(wire.NewHub),
	reflect.TypeFor[wire.Schedule]():            samplesOf(wire.NewSchedule),
	reflect.TypeFor[wire.WorkerInvitation](): {wire.WorkerInvitation{
		Link: "https://dray.example.com/driver#/invitation/+12125550142/h7Kq2mXw9RtB", Phone: "+12125550142", Password: "h7Kq2mXw9RtB", TimeExpires: wire.Millis(sampleTime),
	}},
	reflect.TypeFor[adminapi.WebhookSecret](): {adminapi.NewWebhookSecret("text")},
	reflect.TypeFor[wire.Team](): append(samplesOf(wire.NewTeam),
		wire.NewCreatedTeam(lastmile.CreatedRecord[lastmile.Team]{Record: sampleOf[lastmile.Team](full)})),
	reflect.TypeFor[wire.CustomFields](): {wire.NewCustomFields(nil), wire.NewCustomFields(customfield.Fields{sampleField, {Type: lastmile.FieldDate}})},
	reflect.TypeFor[wire.Template](): append(samplesOf(wire.NewTemplate), wire.Template{
		ID: sampleID, DeletedAt: wire.Millis(sampleTime), ContextSaveConditions: []wire.Condition{}, Fields: []string{},
	}),
	reflect.TypeFor[wire.RoutePlan]():       routePlanSamples(),
	reflect.TypeFor[wire.RoutePlanPage]():   {wire.NewRoutePlanPage(nil, ""), wire.NewRoutePlanPage([]lastmile.RoutePlan{sampleOf[lastmile.RoutePlan](full)}, sampleID)},
	reflect.TypeFor[wire.WorkerDetails]():   samplesOf(wire.NewWorkerDetails),
	reflect.TypeFor[wire.TeamEstimate]():    {wire.NewTeamEstimate(sampleOf[travel.Estimate](full)), wire.NewTeamEstimate(travel.Estimate{Worker: sampleID})},
	reflect.TypeFor[wire.Manifest]():        manifestSamples(),
	reflect.TypeFor[wire.Task]():            taskSamples(),
	reflect.TypeFor[driverapi.WorkTask]():   workTaskSamples(),
	reflect.TypeFor[wire.TaskPage]():        {wire.TaskPage{Tasks: []wire.Task{}}, wire.TaskPage{Tasks: []wire.Task{wire.NewTask(leanTask())}, LastID: sampleID}},
	reflect.TypeFor[wire.AutoAssigned]():    {wire.NewAutoAssigned(assignment.Assigned{}), wire.NewAutoAssigned(assignment.Assigned{sampleID: sampleID})},
	reflect.TypeFor[wire.DispatchStarted](): {wire.NewDispatchStarted(lastmile.CreatedRecord[lastmile.Dispatch]{Record: lastmile.Dispatch{ID: sampleID}})},
	reflect.TypeFor[wire.DispatchSummary](): dispatchSamples(func(d lastmile.Dispatch) any { return wire.NewDispatchSummary(d) }),
	reflect.TypeFor[wire.Replanning]():      {wire.NewReplanning(assignment.DefaultReplanning)},
	reflect.TypeFor[wire.TaskPin]():         append(samplesOf(wire.NewTaskPin), wire.NewTaskPin(planning.PinnedTask{Task: lastmile.Task{ID: sampleID}})),
	reflect.TypeFor[wire.Dispatch]():        dispatchSamples(func(d lastmile.Dispatch) any { return wire.NewDispatch(d) }),
	reflect.TypeFor[wire.ShownDispatch](): dispatchSamples(func(d lastmile.Dispatch) any {
		return wire.NewShownDispatch(d, []planning.Change{{What: planning.TaskAdded, Task: sampleID, Worker: sampleID}, {What: planning.WorkerOffDuty, Worker: sampleID}, {What: planning.TaskTeam, Task: sampleID}})
	}),
	reflect.TypeFor[*wire.Explanation](): append(samplesOf(wire.NewExplanation), wire.NewExplanation(&assignment.Explanation{
		Task: sampleID, At: sampleTime, Mode: assignment.ByLoad, Considered: []assignment.Consideration{{Worker: sampleID}},
	})),
	reflect.TypeFor[wire.ContainerRecord](): {
		sampleContainer(lastmile.InOrganization), sampleContainer(lastmile.InTeam), sampleContainer(lastmile.InWorker),
		wire.NewContainer(lastmile.Container{ContainerRef: lastmile.WorkerContainer(sampleID), Organization: sampleID, Created: sampleTime, Modified: sampleTime}),
	},
	reflect.TypeFor[driverapi.SignedIn]():          {driverapi.SignedIn{Worker: wire.NewWorker(sampleOf[lastmile.Worker](full))}},
	reflect.TypeFor[driverapi.WorkList]():          {driverapi.NewWorkList(1, "", nil), driverapi.NewWorkList(1, sampleID, []lastmile.Task{leanTask()})},
	reflect.TypeFor[driverapi.AppSettings]():       {driverapi.NewAppSettings(lastmile.Organization{}, lastmile.Settings{}, nil, ""), driverapi.NewAppSettings(sampleOf[lastmile.Organization](full), lastmile.Settings{HideBarcodes: true}, &lastmile.Point{}, "v1")},
	reflect.TypeFor[wire.Uploaded]():               {wire.Uploaded{UploadID: sampleID}},
	reflect.TypeFor[driverapi.TrackerToken]():      {driverapi.TrackerToken{Token: "text"}},
	reflect.TypeFor[driverapi.AcceptedPositions](): {driverapi.AcceptedPositions{Accepted: 1}},
	reflect.TypeFor[wire.FoundAddress]():           foundAddresses(),
	reflect.TypeFor[wire.Route]():                  {wire.NewRoute(travel.Route{Duration: time.Minute, Distance: 900, Line: []lastmile.Point{{Lon: 9, Lat: 45}, {Lon: 9.01, Lat: 45}}})},
	reflect.TypeFor[wire.NearbyWorkers](): {wire.NewNearbyWorkers([]lastmile.Worker{
		sampleOf[lastmile.Worker](bare), sampleOf[lastmile.Worker](shells), sampleOf[lastmile.Worker](full),
	}, sampleTime)},
}

// foundAddresses are addresses with and without all of their parts.
func foundAddresses() (all []any) {
	rich := sampleOf[lastmile.GeocodedAddress](full)
	rich.Precision = lastmile.PrecisionCity
	for _, found := range wire.NewFoundAddresses([]lastmile.GeocodedAddress{rich, {Precision: lastmile.PrecisionHouse}}) {
		all = append(all, found)
	}
	return all
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

// stopSamples are a stop that failed and one that is open.
func stopSamples() []report.Stop {
	failed, open := leanTask(), leanTask()
	failed.Completion.FailureReason, failed.Completion.At = "NO_ACCESS", sampleTime
	failed.Completion.Events = append(failed.Completion.Events, lastmile.CompletionEvent{Name: "arrival", At: sampleTime})
	open.State = lastmile.TaskAssigned
	return []report.Stop{{Task: failed}, {Task: open}}
}

// historySamples are histories with and without stored events.
func historySamples() []any {
	bare := board.History{Board: board.Board{Date: "2026-01-02", Organization: sampleOf[lastmile.Organization](bare), Day: lastmile.Window{From: sampleTime, To: sampleTime}}}
	whole := bare
	whole.Stored, whole.Unlogged = sampleTime, []board.Task{sampleOf[board.Task](full)}
	return []any{boardapi.NewBoardHistory(bare), boardapi.NewBoardHistory(whole)}
}

// boardSamples are boards with everything and with nothing that can be missing.
func boardSamples() []any {
	lean := board.Board{Date: "2026-01-02", Organization: sampleOf[lastmile.Organization](bare), Day: lastmile.Window{From: sampleTime, To: sampleTime}}
	whole := sampleOf[board.Board](full)
	lean.Teams, lean.Hubs = []lastmile.Team{sampleOf[lastmile.Team](bare)}, whole.Hubs
	lean.Workers = []board.Worker{{Worker: sampleOf[lastmile.Worker](bare)}}
	lean.Tasks = []board.Task{{ID: sampleID, Destination: sampleID, Created: sampleTime, Modified: sampleTime}, {ID: sampleID, Destination: sampleID, Created: sampleTime, Modified: sampleTime, Completed: sampleTime, Success: true}, {ID: sampleID, Destination: sampleID, Created: sampleTime, Modified: sampleTime, Completed: sampleTime, FailureReason: "NONE"}}
	lean.Workers[0].Whereabouts.LocatedAt = time.Time{}
	return []any{boardapi.NewBoard(lean), boardapi.NewBoard(whole)}
}

// taskSamples are tasks in all the forms that they are shown in.
func taskSamples() []any {
	historic := wire.NewTask(sampleOf[lastmile.Task](full))
	historic.AssignmentHistory = wire.NewAssignments(lastmile.Task{Organization: sampleID, History: []lastmile.Assignment{
		{Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: sampleID}, Container: lastmile.OrganizationContainer(sampleID), At: sampleTime},
		{Container: lastmile.WorkerContainer(sampleID), At: sampleTime},
	}})
	proof := "text"
	historic.Identity.Checksum = &proof
	ofTeam, ofWorker := leanTask(), leanTask()
	ofTeam.Container = lastmile.ContainerRef{Kind: lastmile.InTeam, Owner: sampleID}
	ofWorker.Container = lastmile.WorkerContainer(sampleID)
	return append(samplesOf(wire.NewTask), wire.NewTask(leanTask()), wire.NewTask(ofTeam), wire.NewTask(ofWorker), wire.NewCreatedTask(lastmile.CreatedTask{Task: leanTask()}), historic)
}

// workTaskSamples are tasks in all the forms that workers see.
func workTaskSamples() []any {
	var samples []any
	for _, shown := range taskSamples() {
		task, _ := shown.(wire.Task)
		samples = append(samples, driverapi.WorkTask{TaskRecord: task.TaskRecord, TaskLive: task.TaskLive})
	}
	early := leanTask()
	early.CompleteAfter, early.Estimates.Arrival = sampleTime, sampleTime.Add(-time.Minute)
	return append(samples, driverapi.NewWorkTask(early))
}

func sampleContainer(kind lastmile.ContainerKind) wire.ContainerRecord {
	c := sampleOf[lastmile.Container](full)
	c.ContainerRef = lastmile.ContainerRef{Kind: kind, Owner: sampleID}
	return wire.NewContainer(c)
}

// routePlanSamples are route plans, also without all that a plan can lack.
func routePlanSamples() []any {
	lean := sampleOf[lastmile.RoutePlan](bare)
	lean.Worker, lean.Team, lean.VehicleType, lean.StartAt, lean.EndAt, lean.StartingHub, lean.EndingHub = "", "", "", "", "", "", ""
	lean.End, lean.ActualStart, lean.ActualEnd = time.Time{}, time.Time{}, time.Time{}
	return append(samplesOf(wire.NewRoutePlan), wire.NewRoutePlan(lean))
}

// dispatchSamples are dispatches before and after they were carried out, of a team and
// of a worker.
func dispatchSamples(shown func(lastmile.Dispatch) any) []any {
	window := lastmile.Window{From: sampleTime, To: sampleTime}
	pending := lastmile.Dispatch{
		ID: sampleID, Organization: sampleID, Team: sampleID, Created: sampleTime, Status: lastmile.DispatchPending,
		Options: lastmile.DispatchOptions{TaskWindow: window, ScheduleWindow: window},
	}
	ended := sampleOf[lastmile.Dispatch](full)
	ended.Status, ended.Team, ended.Plan.Unplanned[0].Reasons[0].Worker = lastmile.DispatchSucceeded, "", ""
	ended.Plan.Routes[0].Stops[0].Pin, ended.Plan.Routes[0].Vehicle, ended.Tasks[0].Recipient, ended.Tasks[0].ServiceTime = "", "", "", nil
	ended.Replan.Cause = string(assignment.CauseLate)
	unasked := ended
	unasked.Replan = &lastmile.Replan{Cause: string(assignment.CauseAdded)}
	ended.Tasks[0].CompleteAfter, ended.Tasks[0].CompleteBefore, ended.Options.VehicleType = time.Time{}, time.Time{}, lastmile.Car
	for i := range ended.Plan.Unplanned {
		for j := range ended.Plan.Unplanned[i].Reasons {
			ended.Plan.Unplanned[i].Reasons[j].Rule = lastmile.RuleWindow
		}
	}
	begun := pending
	begun.Progress = lastmile.DispatchProgress{Phase: "improve"}
	return []any{shown(pending), shown(begun), shown(ended), shown(unasked)}
}

// manifestSamples are manifests, also with the directions that no server has.
func manifestSamples() []any {
	directed := wire.NewManifest(sampleOf[travel.Manifest](full))
	distance := "30.6 mi"
	directed.TotalDistance = &distance
	directed.TurnByTurn = []wire.ManifestLeg{{ETA: wire.Millis(sampleTime), Steps: []string{"Turn left."}}}
	return append(samplesOf(wire.NewManifest), directed)
}

// sampleBatch is a batch of two tasks, one of which was created.
func sampleBatch() lastmile.Batch {
	task, err := codec.Marshal(wire.NewTask(sampleOf[lastmile.Task](full)))
	if err != nil {
		task = []byte(err.Error())
	}
	return lastmile.Batch{ID: sampleID, Received: 2, Created: sampleTime, Completed: sampleTime, Results: []lastmile.BatchResult{
		{TaskID: sampleID, Warned: true, Shown: task},
		{Err: &lastmile.Error{Code: lastmile.CodeInvalid, Message: "text", Cause: "text"}, Sent: []byte(`{"notes":"text"}`)},
	}}
}

func TestResponsesMatchTheirSchemas(t *testing.T) {
	all := map[string]*occurrence{}
	eachAPI(t, func(t *testing.T, api spec.API) { testResponses(t, api, occurrences{doc: parsed(t, api), of: all}) })
	eachAPI(t, func(t *testing.T, api spec.API) { occurrences{doc: parsed(t, api), of: all}.check(t) })
}

// replyType is the type of a reply, or of the items of a list; an encoded reply
// has the type that it is an encoding of.
func replyType(t reflect.Type) (item reflect.Type, list bool) {
	if raw, ok := reflect.TypeAssert[interface{ SchemaOf() any }](reflect.Zero(t)); ok {
		t = reflect.TypeOf(raw.SchemaOf())
	}
	if t.Kind() == reflect.Slice {
		return t.Elem(), true
	}
	return t, false
}

func testResponses(t *testing.T, api spec.API, seen occurrences) {
	t.Helper()
	doc := document(t, api)
	for _, op := range api.Operations {
		if op.Reply == nil {
			continue
		}
		key := op.Method + " " + op.Path
		shape, list := replyType(op.Reply)
		values, ok := replies[shape]
		if !ok {
			t.Errorf("%s returns a %s: add its samples to replies", key, shape)
			continue
		}
		schema := doc.Paths.Value(op.Path).GetOperation(op.Method).Responses.Status(200).Value.Content.Get(jsonType).Schema
		for _, value := range values {
			if reflect.TypeOf(value) != shape {
				t.Errorf("%s: the sample is a %T, want a %s", key, value, shape)
			}
			data, err := codec.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if list {
				data = append(append([]byte("["), data...), ']')
			}
			fits(t, key, schema, data)
			seen.add(t, seen.doc.reply(op), data)
		}
	}
}

func TestFilteredResponsesMatchTheirSchemas(t *testing.T) {
	doc := document(t, bareServer().Spec())
	data, err := wire.MarshalFields(wire.NewWorker(sampleOf[lastmile.Worker](full)), []string{"name", "vehicle"})
	if err != nil {
		t.Fatal(err)
	}
	fits(t, "a worker with few fields", doc.Paths.Value("/workers/{id}").Get.Responses.Status(200).Value.Content.Get(jsonType).Schema, data)
}

func TestErrorsMatchTheirSchema(t *testing.T) {
	schema := document(t, bareServer().Spec()).Components.Schemas["ErrorBody"]
	for name, cause := range map[string]codec.ErrorCause{
		"without a cause": {}, "a sentence": {Text: "because"}, "a key": {Duplicate: &codec.DuplicateCause{Type: "duplicateKey"}},
		"a list": {Missing: &codec.MissingCause{Type: lastmile.MissingRequirements, Missing: []string{"photo"}}},
	} {
		for _, e := range codec.Errors() {
			data, err := json.Marshal(codec.ErrorBody{Code: e.Class, Message: codec.ErrorMessage{Error: e.Number, Cause: cause}})
			if err != nil {
				t.Fatal(err)
			}
			fits(t, "an error with "+name, schema, data)
		}
	}
}

// occurrence is how a field has been seen in responses.
type occurrence struct{ value, null, absent bool }

// occurrences proves that the OpenAPI spec says no more than responses show: what may
// be null is null in some response, what may be absent is absent in some, and
// every field is in one.
type occurrences struct {
	doc documentJSON
	of  map[string]*occurrence
}

func (s occurrences) add(t *testing.T, of node, data []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	s.walk(of, value)
}

func (s occurrences) walk(of node, value any) {
	for len(of.list("anyOf")) > 0 {
		of = of.list("anyOf")[0]
	}
	if value == nil {
		return
	}
	if len(of.list("oneOf")) > 0 {
		of = of.list("oneOf")[0]
	}
	if list, ok := value.([]any); ok && of.child("items") != nil {
		for _, item := range list {
			s.walk(of.child("items"), item)
		}
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for name, p := range s.doc.resolve(of).children("properties") {
		key := strings.TrimPrefix(of.text("$ref"), refPrefix) + "." + name
		at := s.of[key]
		if at == nil {
			at = &occurrence{}
			s.of[key] = at
		}
		member, present := object[name]
		at.value = at.value || member != nil
		at.null = at.null || present && member == nil
		at.absent = at.absent || !present
		s.walk(p, member)
	}
}

func (s occurrences) check(t *testing.T) {
	t.Helper()
	for name, component := range s.doc.schemas() {
		if component["additionalProperties"] == nil || strings.HasPrefix(name, "Error") || name == "DuplicateCause" || name == "MissingCause" || strings.HasSuffix(name, "Fields") {
			continue // of requests, or checked elsewhere
		}
		for field, p := range component.children("properties") {
			at := s.of[name+"."+field]
			switch {
			case at == nil || !at.value:
				t.Errorf("%s.%s is in no response", name, field)
			case p.nullable() && !at.null:
				t.Errorf("%s.%s is said to be null at times, and never is", name, field)
			case !component.requires(field) && !at.absent:
				t.Errorf("%s.%s is said to be absent at times, and never is", name, field)
			}
		}
	}
}
