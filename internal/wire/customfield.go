package wire

import (
	"bytes"
	"slices"

	"dray/internal/codec"
	"dray/internal/customfield"
	"dray/internal/lastmile"
)

// CustomField is a custom field: its definition and its value.
type CustomField struct {
	// Description of the field; empty if there is none.
	Description string `json:"description" example:"Number of the order in the shop"`
	// Whether values of the field are arrays.
	AsArray bool `json:"asArray"`
	// Who can see the field.
	Visibility []string `json:"visibility" enum:"admin,api,worker" example:"admin,api,worker"`
	// Who may set the value of the field.
	Editability []string `json:"editability" enum:"admin,api,worker" example:"admin,api"`
	// Key that identifies the field in requests. Unique in the organization; never changes.
	Key string `json:"key" example:"orderNumber"`
	// Name of the field.
	Name string `json:"name" example:"Order number"`
	// Type of the value. Dates are Unix milliseconds, or strings such as 2026-01-31 or
	// 2026-01-31T12:00:00Z.
	Type lastmile.CustomFieldType `json:"type"`
	// Tasks that have the field.
	Contexts []CustomFieldContext `json:"contexts" example:"[{\"isRequired\": false, \"conditions\": [], \"name\": \"save\"}]"`
	// Value of the field on a task. In a definition, the default value for new tasks; null if there is
	// none.
	Value any `json:"value" type:"boolean,number,string,array,null" example:"S-20771"`
}

// CustomFieldContext is a set of tasks that have a custom field.
type CustomFieldContext struct {
	// Whether a value is required when such a task is created.
	IsRequired bool `json:"isRequired"`
	// Conditions that select the tasks. If empty, all tasks are selected.
	Conditions []Condition `json:"conditions"`
	// Operation to which the field applies.
	Name string `json:"name" enum:"save"`
}

// Condition is a condition that selects pickups or drop-offs.
type Condition struct {
	// Field of the task that is compared.
	FieldName string `json:"fieldName" enum:"pickupTask" required:"true"`
	// Comparison that is applied to the field.
	Comparison string `json:"comparison" enum:"equal_to" required:"true"`
	// true to select pickups, false to select drop-offs.
	TargetValue any `json:"targetValue" type:"boolean" required:"true"`
}

// CustomFields is the list of custom fields of an organization.
type CustomFields struct {
	// Custom fields, in the order in which they were defined.
	Fields []CustomField `json:"fields"`
}

// NewCustomFields returns definitions in their wire form.
func NewCustomFields(f customfield.Fields) CustomFields {
	return CustomFields{Fields: Each(f, NewCustomFieldDefinition)}
}

// NewCustomField returns a custom field of a task in its wire form.
func NewCustomField(v lastmile.CustomFieldValue) CustomField {
	shown := NewCustomFieldDefinition(v.Field)
	shown.Value = v.Value
	return shown
}

// NewCustomFieldDefinition returns a definition in its wire form.
func NewCustomFieldDefinition(f lastmile.CustomField) CustomField {
	return CustomField{
		Description: f.Description, AsArray: f.AsArray, Visibility: OrEmpty(f.Visibility), Editability: OrEmpty(f.Editability),
		Key: f.Key, Name: f.Name, Type: f.Type, Value: f.Value,
		Contexts: Each(f.Contexts, func(c lastmile.CustomFieldContext) CustomFieldContext {
			return CustomFieldContext{IsRequired: c.Required, Name: c.Name, Conditions: newConditions(c.Conditions)}
		}),
	}
}

func newConditions(list []lastmile.Condition) []Condition {
	return Each(list, func(c lastmile.Condition) Condition { return Condition(c) })
}

func conditions(list []Condition) []lastmile.Condition {
	return Each(list, func(c Condition) lastmile.Condition { return lastmile.Condition(c) })
}

// Domain returns the custom field of a task that the wire form represents.
func (c CustomField) Domain() lastmile.CustomFieldValue {
	field := c.Definition()
	field.Value = nil
	return lastmile.CustomFieldValue{Field: field, Value: c.Value}
}

// Definition returns the definition that the wire form represents.
func (c CustomField) Definition() lastmile.CustomField {
	return lastmile.CustomField{
		Description: c.Description, AsArray: c.AsArray, Visibility: c.Visibility, Editability: c.Editability,
		Key: c.Key, Name: c.Name, Type: c.Type, Contexts: contexts(c.Contexts), Value: c.Value,
	}
}

func contexts(list []CustomFieldContext) []lastmile.CustomFieldContext {
	return Each(list, func(c CustomFieldContext) lastmile.CustomFieldContext {
		return lastmile.CustomFieldContext{Required: c.IsRequired, Name: c.Name, Conditions: conditions(c.Conditions)}
	})
}

// CustomFieldsBody is the body of a request to define or update custom fields.
type CustomFieldsBody struct {
	// Type of record that the fields belong to: Task.
	Model string `json:"model" required:"true"`
	// Definitions of the fields.
	Field CustomFieldBodies `json:"field" required:"true"`
	// Name of the integration that defines the fields. Fields can be listed by it.
	Integration *string `json:"integration"`
}

// CustomFieldBodies is one definition, or an array of them.
type CustomFieldBodies []CustomFieldDefinitionBody

// CustomFieldDefinitionBody is the definition of a custom field, in a request.
type CustomFieldDefinitionBody struct {
	// Key of the field, consisting of letters, digits and underscores. If absent for a new field, it
	// is derived from the name.
	Key string `json:"key"`
	// Name of the field. Required for a new field.
	Name *string `json:"name"`
	// Description of the field.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// Type of the value. Required for a new field.
	Type *lastmile.CustomFieldType `json:"type"`
	// Whether values of the field are arrays.
	AsArray *bool `json:"asArray"`
	// Who can see the field. Defaults to admin, api and worker.
	Visibility *[]string `json:"visibility" enum:"admin,api,worker"`
	// Who may set the value. Defaults to admin and api.
	Editability *[]string `json:"editability" enum:"admin,api,worker"`
	// Tasks that have the field. Defaults to all tasks, with an optional value.
	Contexts *[]CustomFieldContext `json:"contexts"`
	// Default value for new tasks.
	Value Optional[any] `json:"value" type:"boolean,number,string,array,null"`
}

// UnmarshalJSON implements json.Unmarshaler. It decodes one definition as an array of one, so
// that all errors name field[0].
func (f *CustomFieldBodies) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '{':
		return codec.DecodePart(slices.Concat([]byte("["), data, []byte("]")), (*[]CustomFieldDefinitionBody)(f))
	case '[', 'n':
		return codec.DecodePart(data, (*[]CustomFieldDefinitionBody)(f))
	}
	return codec.Malformed("must be a custom field or an array of them, not %s", codec.KindName(data[0]))
}

// Changes returns the requested changes.
func (b CustomFieldsBody) Changes() []customfield.Change {
	return Each(b.Field, func(f CustomFieldDefinitionBody) customfield.Change {
		change := customfield.Change{
			Key: f.Key, Name: f.Name, Description: f.Description, Type: f.Type, AsArray: f.AsArray,
			Visibility: f.Visibility, Editability: f.Editability, Value: f.Value.pointer(), Integration: b.Integration,
		}
		if f.Contexts != nil {
			sent := contexts(*f.Contexts)
			change.Contexts = &sent
		}
		return change
	})
}

// CustomFieldKeysBody is the body of a request to delete custom fields.
type CustomFieldKeysBody struct {
	// Type of record that the fields belong to: Task.
	Model string `json:"model" required:"true"`
	// Keys of the fields.
	Field CustomFieldKeys `json:"field" required:"true"`
}

// OneOf returns a value of each form, for documentation.
func (CustomFieldBodies) OneOf() []any {
	return []any{[]CustomFieldDefinitionBody{}, CustomFieldDefinitionBody{}}
}

// CustomFieldKeys are the keys of custom fields. In JSON, they are a key, an object with a
// key, or an array of either.
type CustomFieldKeys []string

// UnmarshalJSON implements json.Unmarshaler.
func (k *CustomFieldKeys) UnmarshalJSON(data []byte) error {
	var one customFieldKey
	switch data = bytes.TrimSpace(data); data[0] {
	case '[':
		var all []customFieldKey
		err := codec.DecodePart(data, &all)
		*k = Each(all, func(key customFieldKey) string { return string(key) })
		return err
	case 'n':
		*k = nil
		return nil
	}
	err := codec.DecodePart(data, &one)
	*k = CustomFieldKeys{string(one)}
	return err
}

// OneOf returns a value of each form, for documentation.
func (CustomFieldKeys) OneOf() []any {
	return append([]any{[]customFieldKey{}}, customFieldKey("").OneOf()...)
}

// customFieldKey is a key. In JSON, it is a string or an object with the key.
type customFieldKey string

// OneOf returns a value of each form, for documentation.
func (customFieldKey) OneOf() []any {
	return []any{"", struct {
		Key string `json:"key" required:"true"`
	}{}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *customFieldKey) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return codec.DecodePart(data, (*string)(k))
	case '{':
		var named struct {
			Key string `json:"key"`
		}
		err := codec.DecodePart(data, &named)
		*k = customFieldKey(named.Key)
		return err
	}
	return codec.Malformed("must be the key of a custom field or an object with its key, not %s", codec.KindName(data[0]))
}

// Template is a task template.
type Template struct {
	// ID of the template.
	ID lastmile.TemplateID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name of the template, unique in the organization.
	Name string `json:"name" example:"Groceries"`
	// Reserved; always null.
	DeletedAt Millis `json:"deletedAt" nullable:"true" example:"null"`
	// Conditions that select the tasks of the template, either pickups or drop-offs. If empty, all
	// tasks are selected.
	ContextSaveConditions []Condition `json:"contextSaveConditions" example:"[{\"fieldName\": \"pickupTask\", \"comparison\": \"equal_to\", \"targetValue\": false}]"`
	// Keys of the custom fields.
	Fields []string `json:"fields" example:"orderNumber"`
	// Reserved; always false.
	IsDefault bool `json:"isDefault"`
}

// NewTemplate returns a template in its wire form.
func NewTemplate(t customfield.Template) Template {
	return Template{
		ID: t.ID, Name: t.Name, ContextSaveConditions: newConditions(t.Conditions), Fields: OrEmpty(t.Fields), IsDefault: t.Default,
	}
}

// Domain returns the template that the wire form represents.
func (t Template) Domain(org lastmile.OrganizationID) customfield.Template {
	return customfield.Template{
		ID: t.ID, Organization: org, Name: t.Name, Conditions: conditions(t.ContextSaveConditions), Fields: t.Fields, Default: t.IsDefault,
	}
}

// NewTemplateBody is the body of a request to create a task template.
type NewTemplateBody struct {
	_ struct{} `required:"name,contextSaveConditions,fields"`
	TemplateBody
}

// TemplateBody is the body of a request to update a task template.
type TemplateBody struct {
	// Name of the template.
	Name *string `json:"name"`
	// Conditions that select the tasks of the template, either pickups or drop-offs. If empty, all
	// tasks are selected.
	ContextSaveConditions *[]Condition `json:"contextSaveConditions" example:"[{\"fieldName\": \"pickupTask\", \"comparison\": \"equal_to\", \"targetValue\": false}]"`
	// Keys of the custom fields.
	Fields *[]string `json:"fields" required:"true"`
}

// Change returns the requested change.
func (b TemplateBody) Change() customfield.TemplateChange {
	change := customfield.TemplateChange{Name: b.Name, Fields: b.Fields}
	if b.ContextSaveConditions != nil {
		sent := conditions(*b.ContextSaveConditions)
		change.Conditions = &sent
	}
	return change
}
