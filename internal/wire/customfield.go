package wire

import (
	"bytes"

	"dray/internal/codec"
	"dray/internal/customfield"
	"dray/internal/lastmile"
)

// CustomField is a custom field: its definition, and its value.
type CustomField struct {
	// What the field is for; empty when nothing was said.
	Description string `json:"description" example:"Number of the order in the shop"`
	// Values are arrays.
	AsArray bool `json:"asArray"`
	// Who sees the field.
	Visibility []string `json:"visibility" enum:"admin,api,worker" example:"admin,api,worker"`
	// Who may give the field a value.
	Editability []string `json:"editability" enum:"admin,api,worker" example:"admin,api"`
	// Names the field in requests. Unique in the organization; never changes.
	Key string `json:"key" example:"orderNumber"`
	// Name.
	Name string `json:"name" example:"Order number"`
	// Type of the value. Dates are Unix milliseconds, or texts such as 2026-01-31 or
	// 2026-01-31T12:00:00Z.
	Type lastmile.CustomFieldType `json:"type"`
	// Which tasks have the field.
	Contexts []CustomFieldContext `json:"contexts" example:"[{\"isRequired\": false, \"conditions\": [], \"name\": \"save\"}]"`
	// The value on a task. In a definition, what new tasks have that are sent no value; null when
	// none.
	Value any `json:"value" type:"boolean,number,string,array,null" example:"S-20771"`
}

// CustomFieldContext is some of the tasks that have a custom field.
type CustomFieldContext struct {
	// These tasks must have a value when they are created.
	IsRequired bool `json:"isRequired"`
	// Which tasks are meant; all when empty.
	Conditions []Condition `json:"conditions"`
	// When the field matters.
	Name string `json:"name" enum:"save"`
}

// Condition is chooses pickups or drop-offs.
type Condition struct {
	// The field of the task that is compared.
	FieldName string `json:"fieldName" enum:"pickupTask" required:"true"`
	// How it is compared.
	Comparison string `json:"comparison" enum:"equal_to" required:"true"`
	// true for pickups, false for drop-offs.
	TargetValue any `json:"targetValue" type:"boolean" required:"true"`
}

// CustomFields is the custom fields of an organization.
type CustomFields struct {
	// In the order they were defined.
	Fields []CustomField `json:"fields"`
}

// NewCustomFields returns definitions in the form that is sent.
func NewCustomFields(f customfield.Fields) CustomFields {
	return CustomFields{Fields: Each(f, NewCustomFieldDefinition)}
}

// NewCustomField returns a custom field of a task in the form that is sent.
func NewCustomField(v lastmile.CustomFieldValue) CustomField {
	shown := NewCustomFieldDefinition(v.Field)
	shown.Value = v.Value
	return shown
}

// NewCustomFieldDefinition returns a definition in the form that is sent.
func NewCustomFieldDefinition(f lastmile.CustomField) CustomField {
	return CustomField{
		Description: f.Description, AsArray: f.AsArray, Visibility: orEmpty(f.Visibility), Editability: orEmpty(f.Editability),
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

// Domain returns the custom field of a task that the form shows.
func (c CustomField) Domain() lastmile.CustomFieldValue {
	field := c.Definition()
	field.Value = nil
	return lastmile.CustomFieldValue{Field: field, Value: c.Value}
}

// Definition returns the definition that the form shows.
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

// CustomFieldsBody is custom fields, as sent.
type CustomFieldsBody struct {
	// The sort of record that has the fields: Task.
	Model string `json:"model" required:"true"`
	// The fields.
	Field CustomFieldBodies `json:"field" required:"true"`
	// Name of the integration that defines the fields, to list them by.
	Integration *string `json:"integration"`
}

// CustomFieldBodies is one definition, or an array of them.
type CustomFieldBodies []CustomFieldDefinitionBody

// CustomFieldDefinitionBody is a custom field, as sent.
type CustomFieldDefinitionBody struct {
	// Letters, digits and underscores. A new field that is sent none gets one made of its name.
	Key string `json:"key"`
	// Name. Required for a new field.
	Name *string `json:"name"`
	// What the field is for.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// Type of the value. Required for a new field.
	Type *lastmile.CustomFieldType `json:"type"`
	// Values are arrays.
	AsArray *bool `json:"asArray"`
	// Who sees the field; default all.
	Visibility *[]string `json:"visibility" enum:"admin,api,worker"`
	// Who may set the value; default admin and api.
	Editability *[]string `json:"editability" enum:"admin,api,worker"`
	// Which tasks have the field; by default all, and it is optional.
	Contexts *[]CustomFieldContext `json:"contexts"`
	// What new tasks have that are sent no value.
	Value Optional[any] `json:"value" type:"boolean,number,string,array,null"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *CustomFieldBodies) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '{':
		*f = make(CustomFieldBodies, 1)
		return codec.DecodePart(data, &(*f)[0])
	case '[', 'n':
		return codec.DecodePart(data, (*[]CustomFieldDefinitionBody)(f))
	}
	return codec.Malformed("must be a custom field or an array of them, not %s", codec.KindName(data[0]))
}

// Changes returns what the request asks for.
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

// CustomFieldKeysBody is custom fields to delete.
type CustomFieldKeysBody struct {
	// The sort of record that has the fields: Task.
	Model string `json:"model" required:"true"`
	// The keys of the fields.
	Field CustomFieldKeys `json:"field" required:"true"`
}

// OneOf returns a value of each form, for documentation.
func (CustomFieldBodies) OneOf() []any {
	return []any{[]CustomFieldDefinitionBody{}, CustomFieldDefinitionBody{}}
}

// CustomFieldKeys is the keys of custom fields: a key, an object with one, or
// an array of either.
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

// customFieldKey is a key, or an object with one.
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
	// Id of the record.
	ID lastmile.TemplateID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name, unique in the organization.
	Name string `json:"name" example:"Groceries"`
	// Reserved; null.
	DeletedAt Millis `json:"deletedAt" nullable:"true" example:"null"`
	// Which tasks the template is for: all when empty, else pickups or drop-offs.
	ContextSaveConditions []Condition `json:"contextSaveConditions" example:"[{\"fieldName\": \"pickupTask\", \"comparison\": \"equal_to\", \"targetValue\": false}]"`
	// Keys of custom fields.
	Fields []string `json:"fields" example:"orderNumber"`
	// Reserved; false.
	IsDefault bool `json:"isDefault"`
}

// NewTemplate returns a template in the form that is sent.
func NewTemplate(t customfield.Template) Template {
	return Template{
		ID: t.ID, Name: t.Name, ContextSaveConditions: newConditions(t.Conditions), Fields: orEmpty(t.Fields), IsDefault: t.Default,
	}
}

// Domain returns the template that the form shows.
func (t Template) Domain(org lastmile.OrganizationID) customfield.Template {
	return customfield.Template{
		ID: t.ID, Organization: org, Name: t.Name, Conditions: conditions(t.ContextSaveConditions), Fields: t.Fields, Default: t.IsDefault,
	}
}

// NewTemplateBody is a task template, as sent.
type NewTemplateBody struct {
	_ struct{} `required:"name,contextSaveConditions,fields"`
	TemplateBody
}

// TemplateBody is a task template, as sent.
type TemplateBody struct {
	// Name.
	Name *string `json:"name"`
	// Which tasks the template is for: all when empty, else pickups or drop-offs.
	ContextSaveConditions *[]Condition `json:"contextSaveConditions" example:"[{\"fieldName\": \"pickupTask\", \"comparison\": \"equal_to\", \"targetValue\": false}]"`
	// Keys of custom fields.
	Fields *[]string `json:"fields" required:"true"`
}

// Change returns what the request asks for.
func (b TemplateBody) Change() customfield.TemplateChange {
	change := customfield.TemplateChange{Name: b.Name, Fields: b.Fields}
	if b.ContextSaveConditions != nil {
		sent := conditions(*b.ContextSaveConditions)
		change.Conditions = &sent
	}
	return change
}
