package lastmile

// CustomFieldValue is a custom field of a task: the definition as it was when
// the value was given, and the value.
type CustomFieldValue struct {
	Field CustomField
	Value any
}

// CustomField defines a field that an organization adds to its tasks.
type CustomField struct {
	Key         string
	Name        string
	Description string
	Type        string
	AsArray     bool
	Visibility  []string
	Editability []string
	Contexts    []CustomFieldContext
	Value       any // default
}

// CustomFieldContext says where a custom field applies.
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
