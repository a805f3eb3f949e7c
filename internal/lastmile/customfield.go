package lastmile

// CustomFieldType is the type of a custom field's value.
type CustomFieldType string

// The types of custom fields.
const (
	FieldSingleLine CustomFieldType = "single_line_text_field"
	FieldMultiLine  CustomFieldType = "multi_line_text_field"
	FieldBoolean    CustomFieldType = "boolean"
	FieldInteger    CustomFieldType = "integer"
	FieldDecimal    CustomFieldType = "decimal"
	FieldDate       CustomFieldType = "date"
	FieldURL        CustomFieldType = "Url"
)

// CustomFieldTypes lists every type.
var CustomFieldTypes = []CustomFieldType{FieldSingleLine, FieldMultiLine, FieldBoolean, FieldInteger, FieldDecimal, FieldDate, FieldURL}

// CustomField defines a field that an organization adds to its tasks.
type CustomField struct {
	Key         string // unique in the organization; immutable
	Name        string
	Description string
	Type        CustomFieldType
	AsArray     bool     // values are arrays of the type
	Visibility  []string // who can see it
	Editability []string // who can set it
	Contexts    []CustomFieldContext
	Value       any // default for new tasks; nil for none

	Organization OrganizationID
	Integration  string // integration that defined it; may be empty
	Position     int    // order among the organization's fields
}

// CustomFieldContext defines to which tasks a custom field applies.
type CustomFieldContext struct {
	Name       string
	Required   bool
	Conditions []Condition
}

// Condition compares a field of the task with a value.
type Condition struct {
	FieldName   string
	Comparison  string
	TargetValue any
}

// CustomFieldValue is a custom field of a task: its definition at the time when the value was
// set, and the value. The value is a bool, float64 or string or, for array fields, an []any
// of these.
type CustomFieldValue struct {
	Field CustomField
	Value any
}
