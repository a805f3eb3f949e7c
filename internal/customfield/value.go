package customfield

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// CheckValue rejects a value that is not of the field's type. at is its name in error messages.
func CheckValue(f lastmile.CustomField, at string, value any) error {
	if !f.AsArray {
		return checkElement(f, at, value)
	}
	elements, ok := value.([]any)
	switch {
	case !ok:
		return lastmile.Invalid("%s must be an array: the field %q holds several values", at, f.Key)
	case len(elements) > MaxElements:
		return lastmile.Invalid("%s has %d elements; at most %d are allowed", at, len(elements), MaxElements)
	}
	for i, element := range elements {
		if err := checkElement(f, fmt.Sprintf("%s[%d]", at, i), element); err != nil {
			return err
		}
	}
	return nil
}

// checkElement rejects a single value that is not of the field's type.
func checkElement(f lastmile.CustomField, at string, value any) error {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	whole := isNumber && number == math.Trunc(number) && math.Abs(number) <= 1<<53
	var ok bool
	var want string
	switch f.Type {
	case lastmile.FieldSingleLine:
		ok, want = isText && !strings.ContainsAny(text, "\r\n"), "a text of one line"
	case lastmile.FieldMultiLine:
		ok, want = isText, "a text"
	case lastmile.FieldBoolean:
		_, ok = value.(bool)
		want = "true or false"
	case lastmile.FieldInteger:
		ok, want = whole, "a whole number"
	case lastmile.FieldDecimal:
		ok, want = isNumber && number-number == 0, "a number"
	case lastmile.FieldDate:
		ok, want = isText && isDate(text) || whole && isMillis(int64(number)),
			"a date: Unix milliseconds between the years 2000 and 2100, or a text such as 2026-01-31 or 2026-01-31T12:00:00Z"
	case lastmile.FieldURL:
		ok, want = isText && isWebAddress(text), "an address that begins with http:// or https://"
	}
	if !ok {
		return lastmile.Invalid("%s must be %s: the field %q is of the type %s", at, want, f.Key, f.Type)
	}
	return lastmile.CheckText(at, text, longest(f))
}

// longest returns the maximum length of a text of the field, in characters.
func longest(f lastmile.CustomField) int {
	switch f.Type {
	case lastmile.FieldMultiLine:
		return lastmile.MaxNotes
	case lastmile.FieldURL:
		return MaxURL
	default:
		return lastmile.MaxText
	}
}

// isDate reports whether a text is a date or a time in ISO 8601.
func isDate(text string) bool {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// isMillis reports whether a number is plausible as a time in milliseconds.
func isMillis(ms int64) bool {
	year := time.UnixMilli(ms).UTC().Year()
	return year >= 2000 && year < 2100
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && !strings.ContainsAny(text, " \t\r\n")
}

// TaskFields are the custom fields that pickups or drop-offs can have.
type TaskFields struct {
	fields   Fields
	template string // name of the template that selected the fields; empty for none
	pickup   bool
	admin    bool // values are set by an administrator; otherwise through the API
}

// ForTask returns the fields of a task without a template, whose values are set through the API.
func (fs Fields) ForTask(pickup bool) TaskFields { return TaskFields{fields: fs, pickup: pickup} }

// SetBy returns the fields with the rights of a caller that sets values.
func (s TaskFields) SetBy(who lastmile.Principal) TaskFields {
	s.admin = who.Admin != ""
	return s
}

// editor returns the value of the caller in the editability of fields.
func (s TaskFields) editor() string {
	if s.admin {
		return ForAdmin
	}
	return lastmile.VisibleToAPI
}

// Create returns the custom fields of a new task: the values that were sent, and defaults for
// other fields.
func (s TaskFields) Create(sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	values, err := s.merge(nil, sent)
	if err != nil {
		return nil, err
	}
	return s.applyDefaults(values)
}

// Update returns the custom fields of a task after an update. Fields that were not sent stay
// unchanged, and fields that were sent without a value are removed.
func (s TaskFields) Update(has []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	return s.merge(has, sent)
}

// Convert is like Update for a task that changes from pickup to drop-off or back. All fields
// must apply to the new kind, whose defaults are added.
func (s TaskFields) Convert(has []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	values, err := s.merge(has, sent)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if !AppliesTo(v.Field, s.pickup) {
			return nil, lastmile.Invalid("customFields: the field %q is not for %s tasks: remove it by sending null", v.Field.Key, kindName(s.pickup))
		}
	}
	if values, err = s.applyDefaults(values); err != nil {
		return nil, err
	}
	return values, checkDefinitions(has, values)
}

// Clone returns the custom fields of a clone of a task. Fields that do not
// apply to the clone are dropped.
func (s TaskFields) Clone(has []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	fit := slices.DeleteFunc(slices.Clone(has), func(v lastmile.CustomFieldValue) bool { return !AppliesTo(v.Field, s.pickup) })
	return s.merge(fit, sent)
}

// merge replaces the values of a task with those that were sent. Existing fields keep their
// position; new ones follow in the order of their definitions.
func (s TaskFields) merge(has []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	if len(sent) > MaxFields {
		return nil, lastmile.Invalid("customFields has %d entries; at most %d are allowed", len(sent), MaxFields)
	}
	values, added := slices.Clone(has), 0
	seen := make(map[string]bool, len(sent))
	for i, v := range sent {
		at := fmt.Sprintf("customFields[%d]", i)
		switch {
		case v.Key == "":
			return nil, lastmile.Missing(at + ".key")
		case seen[v.Key]:
			return nil, lastmile.Invalid("%s.key must be unique, and %q comes twice", at, lastmile.Truncate(v.Key, lastmile.MaxShown))
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
	return values, lastmile.FirstError(checkSize(values), checkDefinitions(has, values))
}

// checkDefinitions rejects an update of a task that has too many definitions after it. A task
// keeps the fields that its organization has deleted, so it may have more than can be defined.
func checkDefinitions(before, after []lastmile.CustomFieldValue) error {
	size := func(values []lastmile.CustomFieldValue) (n int) {
		for _, v := range values {
			n += definitionSize(v.Field)
		}
		return n
	}
	if n := size(after); len(before) > 0 && n > MaxDefinitions && n > size(before) {
		return lastmile.Invalid("customFields: the names, descriptions and contexts of the task's fields must be at most %d bytes in all, not %d: remove fields by sending null", MaxDefinitions, n)
	}
	return nil
}

// byPosition orders values by the position of their definitions, which is 0 for values from the
// store.
func byPosition(a, b lastmile.CustomFieldValue) int { return a.Field.Position - b.Field.Position }

// put sets the value of one field.
func (s TaskFields) put(at string, values []lastmile.CustomFieldValue, v lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
	place := slices.IndexFunc(values, func(has lastmile.CustomFieldValue) bool { return has.Field.Key == v.Key })
	if place >= 0 && reflect.DeepEqual(values[place].Value, v.Value) {
		return values, nil // clients that update other fields send back unchanged values
	}
	field, known := s.fields.Find(v.Key)
	editable := slices.Contains(field.Editability, s.editor())
	switch {
	case v.Value == nil && place < 0 && known:
		return values, nil
	case v.Value == nil && known && RequiredFor(field, s.pickup):
		return nil, s.missing(field)
	case v.Value == nil && place >= 0 && (editable || !known || !AppliesTo(field, s.pickup)):
		// A value that does not apply can always be removed. Otherwise the caller could not
		// change the kind of the task.
		return slices.Delete(values, place, place+1), nil
	case !known && s.template != "":
		return nil, lastmile.Invalid("%s.key: %q is not a field of the template %q", at, lastmile.Truncate(v.Key, lastmile.MaxShown), s.template)
	case !known:
		return nil, lastmile.Invalid("%s.key: the organization has no custom field %q", at, lastmile.Truncate(v.Key, lastmile.MaxShown))
	case !AppliesTo(field, s.pickup):
		return nil, lastmile.Invalid("%s.key: the field %q is not for %s tasks", at, v.Key, kindName(s.pickup))
	case !editable:
		return nil, lastmile.Invalid("%s.key: the editability of the field %q does not include %q", at, v.Key, s.editor())
	}
	if err := CheckValue(field, at+".value", v.Value); err != nil {
		return nil, err
	}
	if RequiredFor(field, s.pickup) && blank(v.Value) {
		return nil, s.missing(field)
	}
	entry := lastmile.CustomFieldValue{Field: field, Value: v.Value}
	if place < 0 {
		return append(values, entry), nil
	}
	values[place] = entry
	return values, nil
}

// applyDefaults adds the defaults of fields without a value, and rejects a
// required field that has neither.
func (s TaskFields) applyDefaults(values []lastmile.CustomFieldValue) ([]lastmile.CustomFieldValue, error) {
	for _, field := range s.fields {
		has := slices.ContainsFunc(values, func(v lastmile.CustomFieldValue) bool { return v.Field.Key == field.Key })
		switch {
		case has || !AppliesTo(field, s.pickup):
		case field.Value != nil:
			values = append(values, lastmile.CustomFieldValue{Field: field, Value: field.Value})
		case RequiredFor(field, s.pickup):
			return nil, s.missing(field)
		}
	}
	slices.SortStableFunc(values, byPosition)
	return values, checkSize(values)
}

func (s TaskFields) missing(f lastmile.CustomField) error {
	return lastmile.Malformed("customFields must have a value for %q, which is required for %s tasks", f.Key, kindName(s.pickup))
}

// blank reports whether a value is empty.
func blank(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	}
	return false
}

func checkSize(values []lastmile.CustomFieldValue) error {
	size := 0
	for _, v := range values {
		size += len(lastmile.AppendCanonical(nil, v.Value))
	}
	if size > MaxBytes {
		return lastmile.Invalid("customFields must be at most %d bytes of values in all, not %d", MaxBytes, size)
	}
	return nil
}
