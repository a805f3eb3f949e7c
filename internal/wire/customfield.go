package wire

import "dray/internal/lastmile"

// CustomField is a custom field as the interface shows it, with its value.
type CustomField struct {
	Description string               `json:"description"`
	AsArray     bool                 `json:"asArray"`
	Visibility  []string             `json:"visibility"`
	Editability []string             `json:"editability"`
	Key         string               `json:"key"`
	Name        string               `json:"name"`
	Type        string               `json:"type"`
	Contexts    []CustomFieldContext `json:"contexts"`
	Value       any                  `json:"value"`
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

// NewCustomField returns a custom field of a task in the form that is sent.
func NewCustomField(v lastmile.CustomFieldValue) CustomField {
	shown := newCustomField(v.Field)
	shown.Value = v.Value
	return shown
}

func newCustomField(f lastmile.CustomField) CustomField {
	return CustomField{
		Description: f.Description, AsArray: f.AsArray, Visibility: orEmpty(f.Visibility), Editability: orEmpty(f.Editability),
		Key: f.Key, Name: f.Name, Type: f.Type, Value: f.Value,
		Contexts: each(f.Contexts, func(c lastmile.CustomFieldContext) CustomFieldContext {
			return CustomFieldContext{
				IsRequired: c.Required, Name: c.Name,
				Conditions: each(c.Conditions, func(c lastmile.Condition) Condition { return Condition(c) }),
			}
		}),
	}
}

// Domain returns the custom field of a task that the form shows.
func (c CustomField) Domain() lastmile.CustomFieldValue {
	return lastmile.CustomFieldValue{Field: c.field(), Value: c.Value}
}

func (c CustomField) field() lastmile.CustomField {
	return lastmile.CustomField{
		Description: c.Description, AsArray: c.AsArray, Visibility: c.Visibility, Editability: c.Editability,
		Key: c.Key, Name: c.Name, Type: c.Type,
		Contexts: each(c.Contexts, func(c CustomFieldContext) lastmile.CustomFieldContext {
			return lastmile.CustomFieldContext{
				Required: c.IsRequired, Name: c.Name,
				Conditions: each(c.Conditions, func(c Condition) lastmile.Condition { return lastmile.Condition(c) }),
			}
		}),
	}
}
