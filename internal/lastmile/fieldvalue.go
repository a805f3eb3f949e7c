package lastmile

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// CustomFieldValue is a custom field of a task: the definition as it was when
// the value was given, and the value, which is a bool, float64, string or, of
// fields that are arrays, []any of those.
type CustomFieldValue struct {
	Field CustomField
	Value any
}

// FieldValue is the value of a custom field as sent; nil is none.
type FieldValue struct {
	Key   string
	Value any
}

// CheckValue refuses a value that is not of the field's type. The messages
// call it at.
func (f CustomField) CheckValue(at string, value any) error {
	if !f.AsArray {
		return f.checkElement(at, value)
	}
	elements, ok := value.([]any)
	switch {
	case !ok:
		return Invalid("%s must be an array: the field %q holds several values", at, f.Key)
	case len(elements) > MaxFieldElements:
		return Invalid("%s has %d elements; at most %d are allowed", at, len(elements), MaxFieldElements)
	}
	for i, element := range elements {
		if err := f.checkElement(fmt.Sprintf("%s[%d]", at, i), element); err != nil {
			return err
		}
	}
	return nil
}

// checkElement refuses what is not one value of the field's type.
func (f CustomField) checkElement(at string, value any) error {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	whole := isNumber && number == math.Trunc(number) && math.Abs(number) <= 1<<53
	var ok bool
	var want string
	switch f.Type {
	case FieldLine:
		ok, want = isText && !strings.ContainsAny(text, "\r\n"), "a text of one line"
	case FieldText:
		ok, want = isText, "a text"
	case FieldBoolean:
		_, ok = value.(bool)
		want = "true or false"
	case FieldInteger:
		ok, want = whole, "a whole number"
	case FieldDecimal:
		ok, want = isNumber && number-number == 0, "a number"
	case FieldDate:
		ok, want = isText && isDate(text) || whole && isMillis(int64(number)),
			"a date: Unix milliseconds between the years 2000 and 2100, or a text such as 2026-01-31 or 2026-01-31T12:00:00Z"
	case FieldURL:
		ok, want = isText && isWebAddress(text), "an address that begins with http:// or https://"
	}
	if !ok {
		return Invalid("%s must be %s: the field %q is of the type %s", at, want, f.Key, f.Type)
	}
	return CheckText(at, text, f.longest())
}

// longest is how many characters a text of the field may have.
func (f CustomField) longest() int {
	switch f.Type {
	case FieldText:
		return MaxNotes
	case FieldURL:
		return MaxFieldURL
	default:
		return MaxText
	}
}

// isDate tells whether a text is a day, or an instant, of ISO 8601.
func isDate(text string) bool {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// isMillis tells whether a number is a time in milliseconds, and not in
// another unit.
func isMillis(ms int64) bool {
	year := time.UnixMilli(ms).UTC().Year()
	return year >= 2000 && year < 2100
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && !strings.ContainsAny(text, " \t\r\n")
}

// FieldSheet is the custom fields that a task which is, or is not, a pickup
// can have.
type FieldSheet struct {
	fields   CustomFields
	template string // that chose them; empty when none did
	pickup   bool
}

// Sheet is the fields for a task without a template.
func (fs CustomFields) Sheet(pickup bool) FieldSheet { return FieldSheet{fields: fs, pickup: pickup} }

// Create returns the custom fields of a new task: what was sent, and the
// defaults of what was not.
func (s FieldSheet) Create(sent []FieldValue) ([]CustomFieldValue, error) {
	values, err := s.merge(nil, sent)
	if err != nil {
		return nil, err
	}
	return s.settle(values)
}

// Update returns the custom fields of a task after some were sent: the others
// stay, and what was sent without a value is removed.
func (s FieldSheet) Update(has []CustomFieldValue, sent []FieldValue) ([]CustomFieldValue, error) {
	return s.merge(has, sent)
}

// Convert is Update for a task that becomes a pickup, or stops being one: what
// it has must fit what it becomes.
func (s FieldSheet) Convert(has []CustomFieldValue, sent []FieldValue) ([]CustomFieldValue, error) {
	values, err := s.merge(has, sent)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if !v.Field.Fits(s.pickup) {
			return nil, Invalid("customFields: the field %q is not for %s tasks: remove it by sending null", v.Field.Key, kindName(s.pickup))
		}
	}
	return s.settle(values)
}

// Clone returns the custom fields of a task that is made like one which has
// some. Those that do not fit what it becomes are left out.
func (s FieldSheet) Clone(has []CustomFieldValue, sent []FieldValue) ([]CustomFieldValue, error) {
	fit := slices.DeleteFunc(slices.Clone(has), func(v CustomFieldValue) bool { return !v.Field.Fits(s.pickup) })
	return s.merge(fit, sent)
}

// merge puts what was sent over what a task has. What is there keeps its
// place; what is new comes after it, in the order of the definitions.
func (s FieldSheet) merge(has []CustomFieldValue, sent []FieldValue) ([]CustomFieldValue, error) {
	if len(sent) > MaxCustomFields {
		return nil, Invalid("customFields has %d entries; at most %d are allowed", len(sent), MaxCustomFields)
	}
	values, added := slices.Clone(has), 0
	seen := make(map[string]bool, len(sent))
	for i, v := range sent {
		at := fmt.Sprintf("customFields[%d]", i)
		switch {
		case v.Key == "":
			return nil, Missing(at + ".key")
		case seen[v.Key]:
			return nil, Invalid("%s.key must be unique, and %q comes twice", at, v.Key)
		}
		seen[v.Key] = true
		before := len(values)
		var err error
		if values, err = s.put(at, values, v); err != nil {
			return nil, err
		}
		added += max(0, len(values)-before)
	}
	slices.SortStableFunc(values[len(values)-added:], byPosition)
	return values, checkSize(values)
}

// byPosition compares values that were just given: those a task had before do
// not tell where their fields were defined.
func byPosition(a, b CustomFieldValue) int { return a.Field.Position - b.Field.Position }

// put gives one field its value.
func (s FieldSheet) put(at string, values []CustomFieldValue, v FieldValue) ([]CustomFieldValue, error) {
	place := slices.IndexFunc(values, func(has CustomFieldValue) bool { return has.Field.Key == v.Key })
	if place >= 0 && reflect.DeepEqual(values[place].Value, v.Value) {
		return values, nil // as a client sends that changes something else
	}
	field, known := s.fields.Find(v.Key)
	switch {
	case v.Value == nil && place < 0 && known:
		return values, nil
	case v.Value == nil && known && field.RequiredFor(s.pickup):
		return nil, s.missing(field)
	case v.Value == nil && place >= 0:
		return slices.Delete(values, place, place+1), nil
	case !known && s.template != "":
		return nil, Invalid("%s.key: %q is not a field of the template %q", at, v.Key, s.template)
	case !known:
		return nil, Invalid("%s.key: the organization has no custom field %q", at, v.Key)
	case !field.Fits(s.pickup):
		return nil, Invalid("%s.key: the field %q is not for %s tasks", at, v.Key, kindName(s.pickup))
	case !slices.Contains(field.Editability, VisibleToAPI):
		return nil, Invalid("%s.key: the field %q cannot be edited through the API", at, v.Key)
	}
	if err := field.CheckValue(at+".value", v.Value); err != nil {
		return nil, err
	}
	if field.RequiredFor(s.pickup) && blank(v.Value) {
		return nil, s.missing(field)
	}
	entry := CustomFieldValue{Field: field, Value: v.Value}
	if place < 0 {
		return append(values, entry), nil
	}
	values[place] = entry
	return values, nil
}

// settle adds the defaults of fields that have no value, and refuses when one
// that is required has neither.
func (s FieldSheet) settle(values []CustomFieldValue) ([]CustomFieldValue, error) {
	for _, field := range s.fields {
		has := slices.ContainsFunc(values, func(v CustomFieldValue) bool { return v.Field.Key == field.Key })
		switch {
		case has || !field.Fits(s.pickup):
		case field.Value != nil:
			values = append(values, CustomFieldValue{Field: field, Value: field.Value})
		case field.RequiredFor(s.pickup):
			return nil, s.missing(field)
		}
	}
	slices.SortStableFunc(values, byPosition)
	return values, checkSize(values)
}

func (s FieldSheet) missing(f CustomField) error {
	return Malformed("customFields must have a value for %q, which is required for %s tasks", f.Key, kindName(s.pickup))
}

// blank tells whether a value is there only in form.
func blank(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	}
	return false
}

func checkSize(values []CustomFieldValue) error {
	size := 0
	for _, v := range values {
		size += len(appendCanonical(nil, v.Value))
	}
	if size > MaxCustomFieldBytes {
		return Invalid("customFields must be at most %d bytes of values in all, not %d", MaxCustomFieldBytes, size)
	}
	return nil
}
