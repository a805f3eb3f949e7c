package wire

import (
	"bytes"

	"dray/internal/customfield"
	"dray/internal/lastmile"
)

// CustomField is a custom field as the interface shows it: with its value on a
// task, with its default in a definition.
type CustomField struct {
	Description string                   `json:"description"`
	AsArray     bool                     `json:"asArray"`
	Visibility  []string                 `json:"visibility"`
	Editability []string                 `json:"editability"`
	Key         string                   `json:"key"`
	Name        string                   `json:"name"`
	Type        lastmile.CustomFieldType `json:"type"`
	Contexts    []CustomFieldContext     `json:"contexts"`
	Value       any                      `json:"value"`
}

// CustomFieldContext says where a custom field applies.
type CustomFieldContext struct {
	IsRequired bool        `json:"isRequired"`
	Conditions []Condition `json:"conditions"`
	Name       string      `json:"name"`
}

// Condition compares a field of the task with a value.
type Condition struct {
	FieldName   string `json:"fieldName"`
	Comparison  string `json:"comparison"`
	TargetValue any    `json:"targetValue"`
}

// CustomFields is the definitions of an organization.
type CustomFields struct {
	Fields []CustomField `json:"fields"`
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
		Contexts: each(f.Contexts, func(c lastmile.CustomFieldContext) CustomFieldContext {
			return CustomFieldContext{IsRequired: c.Required, Name: c.Name, Conditions: newConditions(c.Conditions)}
		}),
	}
}

func newConditions(list []lastmile.Condition) []Condition {
	return each(list, func(c lastmile.Condition) Condition { return Condition(c) })
}

func conditions(list []Condition) []lastmile.Condition {
	return each(list, func(c Condition) lastmile.Condition { return lastmile.Condition(c) })
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
	return each(list, func(c CustomFieldContext) lastmile.CustomFieldContext {
		return lastmile.CustomFieldContext{Required: c.IsRequired, Name: c.Name, Conditions: conditions(c.Conditions)}
	})
}

// CustomFieldsBody is a request to define custom fields, or to change some.
type CustomFieldsBody struct {
	Model       string            `json:"model"`
	Field       CustomFieldBodies `json:"field"`
	Integration *string           `json:"integration"`
}

// CustomFieldBodies is one definition, or an array of them.
type CustomFieldBodies []CustomFieldDefinitionBody

// CustomFieldDefinitionBody is a definition in a request.
type CustomFieldDefinitionBody struct {
	Key         string                    `json:"key"`
	Name        *string                   `json:"name"`
	Description *string                   `json:"description"`
	Type        *lastmile.CustomFieldType `json:"type"`
	AsArray     *bool                     `json:"asArray"`
	Visibility  *[]string                 `json:"visibility"`
	Editability *[]string                 `json:"editability"`
	Contexts    *[]CustomFieldContext     `json:"contexts"`
	Value       Optional[any]             `json:"value"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *CustomFieldBodies) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '{':
		*f = make(CustomFieldBodies, 1)
		return DecodePart(data, &(*f)[0])
	case '[', 'n':
		return DecodePart(data, (*[]CustomFieldDefinitionBody)(f))
	}
	return malformed("must be a custom field or an array of them, not %s", kindName(data[0]))
}

// Changes returns what the request asks for.
func (b CustomFieldsBody) Changes() []customfield.Change {
	return each(b.Field, func(f CustomFieldDefinitionBody) customfield.Change {
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

// CustomFieldKeysBody is a request to delete custom fields.
type CustomFieldKeysBody struct {
	Model string          `json:"model"`
	Field CustomFieldKeys `json:"field"`
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
		err := DecodePart(data, &all)
		*k = each(all, func(key customFieldKey) string { return string(key) })
		return err
	case 'n':
		*k = nil
		return nil
	}
	err := DecodePart(data, &one)
	*k = CustomFieldKeys{string(one)}
	return err
}

// customFieldKey is a key, or an object with one.
type customFieldKey string

// UnmarshalJSON implements json.Unmarshaler.
func (k *customFieldKey) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return DecodePart(data, (*string)(k))
	case '{':
		var named struct {
			Key string `json:"key"`
		}
		err := DecodePart(data, &named)
		*k = customFieldKey(named.Key)
		return err
	}
	return malformed("must be the key of a custom field or an object with its key, not %s", kindName(data[0]))
}
