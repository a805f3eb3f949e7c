package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

var millisType = reflect.TypeFor[wire.Millis]()

// describer makes the schema of a type that reflection cannot describe.
type describer func(*schemas, form) *schema

var (
	// special holds the types that read and write themselves, and those whose
	// values are of a known list.
	special map[reflect.Type]describer

	// fields holds the fields whose Go type says too little.
	fields map[string]func(*schemas) *schema
)

// init fills the tables, which the compiler cannot: what they hold describes
// its parts with the same tables.
func init() {
	special = specialTypes()
	fields = specialFields()
}

func specialTypes() map[reflect.Type]describer {
	return map[reflect.Type]describer{
		millisType:                               always(whole("Unix time in milliseconds")),
		reflect.TypeFor[wire.UnixSeconds]():      always(whole("Unix time in seconds")),
		reflect.TypeFor[wire.Seconds]():          always(whole("Seconds")),
		reflect.TypeFor[wire.Minutes]():          always(schema{Type: typeNames{"number"}, Description: "Minutes"}),
		reflect.TypeFor[wire.LonLat]():           always(lonLat()),
		reflect.TypeFor[wire.Flag]():             always(schema{Type: typeNames{"boolean", "string"}, Enum: []any{true, false, "true", "false"}}),
		reflect.TypeFor[wire.Text]():             always(*ofType("string", "number")),
		reflect.TypeFor[lastmile.VehicleType]():  always(*oneOfText(lastmile.VehicleTypes...)),
		reflect.TypeFor[lastmile.AdminType]():    always(*oneOfText(adminTypes...)),
		reflect.TypeFor[lastmile.MetadataType](): always(*oneOfText(metadataTypes...)),
		reflect.TypeFor[lastmile.AccountStatus](): always(*oneOfText(
			lastmile.AccountInvited, lastmile.AccountAccepted)),

		reflect.TypeFor[lastmile.CustomFieldType](): always(*oneOfText(lastmile.CustomFieldTypes...)),
		reflect.TypeFor[wire.CustomFieldBodies]():   customFieldBodies,
		reflect.TypeFor[wire.CustomFieldKeys]():     customFieldKeys,
		reflect.TypeFor[wire.BarcodeBodies]():       barcodeBodies,

		reflect.TypeFor[wire.OptionalMillis]():      always(whole("Unix time in milliseconds; 0 is none")),
		reflect.TypeFor[lastmile.RoutePoint]():      always(*oneOfText(lastmile.RoutePoints...)),
		reflect.TypeFor[lastmile.RoutePlanState]():  always(*oneOfText(lastmile.RoutePlanPending, lastmile.RoutePlanStarted, lastmile.RoutePlanCompleted)),
		reflect.TypeFor[lastmile.RoutePlanStatus](): always(*oneOfText(lastmile.RoutePlanOnTime, lastmile.RoutePlanLate)),

		reflect.TypeFor[json.RawMessage](): always(*ofType("object")),

		reflect.TypeFor[lastmile.BatchStatus](): always(*oneOfText(lastmile.BatchStatuses...)),
		reflect.TypeFor[wire.SentTask]():        sentTask,
		reflect.TypeFor[wire.ShownTask](): func(b *schemas, f form) *schema {
			return b.of(reflect.TypeFor[wire.Task](), f.inner())
		},

		reflect.TypeFor[lastmile.TaskState](): always(*oneOfNumber(
			int(lastmile.TaskUnassigned), int(lastmile.TaskAssigned), int(lastmile.TaskActive), int(lastmile.TaskCompleted))),
		reflect.TypeFor[lastmile.ContainerKind](): always(*oneOfText(lastmile.InOrganization, lastmile.InTeam, lastmile.InWorker)),
		reflect.TypeFor[assignment.Mode]():        always(*oneOfText(assignment.ByDistance, assignment.ByLoad)),
		reflect.TypeFor[lastmile.ActorType]():     always(*oneOfText(lastmile.ActorAPI, lastmile.ActorAdmin, lastmile.ActorWorker)),
		reflect.TypeFor[wire.TaskPlacement](): func(*schemas, form) *schema {
			return listOf(&schema{OneOf: []*schema{idSchema(), ofType("integer")}})
		},
		reflect.TypeFor[wire.RecipientRef](): func(b *schemas, f form) *schema {
			return &schema{OneOf: []*schema{idSchema(), b.of(reflect.TypeFor[wire.RecipientBody](), f.inner())}}
		},

		reflect.TypeFor[wire.Metadata]():       metadata,
		reflect.TypeFor[wire.MetadataUpdate](): metadataUpdate,
		reflect.TypeFor[wire.DestinationRef](): func(b *schemas, f form) *schema {
			return &schema{OneOf: []*schema{idSchema(), b.of(reflect.TypeFor[wire.DestinationBody](), f.inner())}}
		},
	}
}

var (
	adminTypes    = []lastmile.AdminType{lastmile.AdminSuper, lastmile.AdminStandard}
	elementTypes  = []lastmile.MetadataType{lastmile.MetadataBoolean, lastmile.MetadataNumber, lastmile.MetadataString, lastmile.MetadataObject}
	metadataTypes = append(slices.Clone(elementTypes), lastmile.MetadataArray)
)

func specialFields() map[string]func(*schemas) *schema {
	return map[string]func(*schemas) *schema{
		"BatchBody.tasks":           batchTasks,
		"VehicleBody.type":          func(*schemas) *schema { return oneOfText(lastmile.VehicleTypes...) },
		"AdminBody.type":            func(*schemas) *schema { return oneOfText(adminTypes...) },
		"Completion.photoUploadIds": func(*schemas) *schema { return nullable(listOf(ofType("string"))) },
		"MetadataEntry.subtype":     func(*schemas) *schema { return oneOfText(elementTypes...) },
		"MetadataEntry.value":       func(*schemas) *schema { return ofType("boolean", "number", "string", "object", "array") },
		"MetadataEntry.visibility": func(*schemas) *schema {
			return listOf(oneOfText(lastmile.VisibleToAPI, lastmile.VisibleToDashboard, lastmile.VisibleToWorker))
		},
		"CustomField.visibility":                func(*schemas) *schema { return listOf(oneOfText(lastmile.FieldAudiences...)) },
		"CustomField.editability":               func(*schemas) *schema { return listOf(oneOfText(lastmile.FieldAudiences...)) },
		"CustomField.value":                     func(*schemas) *schema { return fieldValue() },
		"CustomFieldBody.value":                 func(*schemas) *schema { return fieldValue() },
		"CustomFieldContext.name":               func(*schemas) *schema { return oneOfText(lastmile.SaveContext) },
		"CustomFieldDefinitionBody.editability": func(*schemas) *schema { return listOf(oneOfText(lastmile.FieldAudiences...)) },
		"CustomFieldDefinitionBody.value":       func(*schemas) *schema { return fieldValue() },
		"CustomFieldDefinitionBody.visibility":  func(*schemas) *schema { return listOf(oneOfText(lastmile.FieldAudiences...)) },
		"Condition.comparison":                  func(*schemas) *schema { return oneOfText(lastmile.ConditionComparison) },
		"Condition.fieldName":                   func(*schemas) *schema { return oneOfText(lastmile.ConditionField) },
		"Condition.targetValue":                 func(*schemas) *schema { return ofType("boolean") },

		"Appearance.triangleColor":   func(*schemas) *schema { return oneOfNumber(0, 1, 2) },
		"AutoAssigned.assignedTasks": func(*schemas) *schema { return ofType("object") },
		"Completion.actions":         func(*schemas) *schema { return listOf(ofType("object")) },
		"Task.type":                  func(*schemas) *schema { return oneOfNumber(0, 1) },

		"DutyEvent.action": func(*schemas) *schema { return oneOfText(wire.OnDutyAction, wire.OffDutyAction) },

		"LackCause.type":      func(*schemas) *schema { return oneOfText(lastmile.LackRequirements, lastmile.LackDependencies) },
		"DuplicateCause.type": func(*schemas) *schema { return oneOfText("duplicateKey") },
		"ErrorBody.code":      func(*schemas) *schema { return errorClasses() },
		"ErrorMessage.error":  func(*schemas) *schema { return errorNumbers() },
		"ErrorMessage.cause": func(b *schemas) *schema {
			return &schema{OneOf: []*schema{ofType("string"), b.of(reflect.TypeFor[DuplicateCause](), form{}), b.of(reflect.TypeFor[LackCause](), form{})}}
		},
	}
}

// needed holds the fields that a request, or a part of one, must have, by
// type. Where that differs from one operation to another, see requires.
var needed = map[string][]string{
	"AutoAssignBody":      {"mode"},
	"AutoAssignTasksBody": {"tasks"},
	"BatchBody":           {"tasks"},
	"CompleteBody":        {"completionDetails"},
	"ContainerBody":       {"tasks"},
	"ContainerRefBody":    {"type"},
	"DestinationBody":     {"address"},
	"Condition":           {"fieldName", "comparison", "targetValue"},
	"CustomFieldBody":     {"key"},
	"CustomFieldKeysBody": {"model", "field"},
	"CustomFieldsBody":    {"model", "field"},
	"TemplateBody":        {"fields"},
	"MetadataEntry":       {"name", "type", "value"},
	"RecipientBody":       {"name", "phone"},
	"MarketplaceBody":     {"path"},
	"ScheduleBody":        {"entries"},
	"ScheduleEntry":       {"date", "timezone"},
	"WorkerBody":          {"name", "phone", "teams"},

	"SignInBody":     {"phone", "password"},
	"PasswordBody":   {"password"},
	"DutyBody":       {"onDuty"},
	"ActionBody":     {"actionId"},
	"FinishBody":     {"actionId", "success"},
	"ScannedBarcode": {"data"},
	"PositionsBody":  {"positions"},
	"PositionBody":   {"location", "time"},
}

// certainTimes holds the times of answers that are never null, by field.
var certainTimes = map[string]bool{
	".timeCreated": true, ".timeLastModified": true, "Assignment.time": true, "Explanation.time": true,
	"CompletionEvent.time": true, "CapturedBarcode.time": true, "Feedback.time": true,
	"GeofenceAttempt.timestamp": true,
	"Notification.time":         true, "DetailedNotification.time": true, "Attempt.time": true,
	"RoutePlan.startTime": true, "DutyEvent.time": true,
	"Manifest.manifestDate": true, "Manifest.departureTime": true, "ManifestLeg.eta": true,
}

// always describes a type alike in every place. Each place gets its own copy,
// because places add to it.
func always(s schema) describer {
	return func(*schemas, form) *schema {
		mine := s
		mine.Type, mine.Enum = slices.Clone(s.Type), slices.Clone(s.Enum)
		return &mine
	}
}

func whole(about string) schema {
	return schema{Type: typeNames{"integer"}, Format: "int64", Description: about}
}

func lonLat() schema {
	return schema{
		Type: typeNames{"array"}, MinItems: 2, MaxItems: 2, Description: "[longitude, latitude] in degrees",
		PrefixItems: []*schema{between(-180, 180), between(-90, 90)}, Items: ofType("number"),
	}
}

// fieldValue is what a custom field can hold.
func fieldValue() *schema { return ofType("boolean", "number", "string", "array", "null") }

func customFieldBodies(b *schemas, f form) *schema {
	one := reflect.TypeFor[wire.CustomFieldDefinitionBody]()
	return &schema{OneOf: []*schema{listOf(b.of(one, f.inner())), b.of(one, f.inner())}}
}

func customFieldKeys(*schemas, form) *schema {
	one := func() []*schema {
		return []*schema{ofType("string"), {
			Type: typeNames{"object"}, Properties: members[*schema]{{"key", ofType("string")}}, Required: []string{"key"},
		}}
	}
	return &schema{OneOf: append([]*schema{listOf(&schema{OneOf: one()})}, one()...)}
}

func barcodeBodies(b *schemas, f form) *schema {
	list := func() *schema { return listOf(b.of(reflect.TypeFor[wire.BarcodeBody](), f.inner())) }
	return &schema{OneOf: []*schema{list(), {
		Type: typeNames{"object"}, Properties: members[*schema]{{"required", list()}}, Required: []string{"required"},
	}}}
}

func metadata(b *schemas, f form) *schema {
	list := listOf(b.of(reflect.TypeFor[wire.MetadataEntry](), f.inner()))
	list.MaxItems = lastmile.MaxMetadataEntries
	return list
}

func metadataUpdate(b *schemas, f form) *schema {
	return &schema{OneOf: []*schema{metadata(b, f), {
		Type: typeNames{"object"},
		Properties: members[*schema]{
			{"$set", nullable(metadata(b, f))},
			{"$pop", nullable(listOf(ofType("string")))},
		},
	}}}
}

// errorClasses is every code of an error.
func errorClasses() *schema {
	classes := map[string]bool{internalClass: true}
	for _, e := range wireErrors {
		classes[e.class] = true
	}
	return oneOfText(slices.Sorted(maps.Keys(classes))...)
}

// errorNumbers is every number of an error.
func errorNumbers() *schema {
	numbers := []int{internalSubcode}
	for _, e := range wireErrors {
		numbers = append(numbers, e.subcode)
	}
	slices.Sort(numbers)
	s := ofType("integer")
	for _, n := range slices.Compact(numbers) {
		s.Enum = append(s.Enum, n)
	}
	return s
}
