package lastmile

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of custom fields.
const (
	MaxCustomFields     = 100      // that an organization defines
	MaxFieldKey         = 100      // characters
	MaxFieldContexts    = 10       // of one field
	MaxFieldElements    = 100      // of a value that is an array
	MaxFieldURL         = 2_000    // characters
	MaxCustomFieldBytes = 64 << 10 // values of one task together, as compact JSON
)

// CustomFieldType is the type of a custom field's value.
type CustomFieldType string

// The types of custom fields.
const (
	FieldLine    CustomFieldType = "single_line_text_field"
	FieldText    CustomFieldType = "multi_line_text_field"
	FieldBoolean CustomFieldType = "boolean"
	FieldInteger CustomFieldType = "integer"
	FieldDecimal CustomFieldType = "decimal"
	FieldDate    CustomFieldType = "date"
	FieldURL     CustomFieldType = "Url"
)

// CustomFieldTypes is all of them.
var CustomFieldTypes = []CustomFieldType{FieldLine, FieldText, FieldBoolean, FieldInteger, FieldDecimal, FieldDate, FieldURL}

// FieldForAdmin is the dashboard, among those that see and edit custom fields.
const FieldForAdmin = "admin"

// FieldAudiences is all who can see and edit custom fields.
var FieldAudiences = []string{FieldForAdmin, VisibleToAPI, VisibleToWorker}

// The one condition there is on a task: that it is, or is not, a pickup.
const (
	ConditionField      = "pickupTask"
	ConditionComparison = "equal_to"
)

// SaveContext is the one context there is: a task is saved.
const SaveContext = "save"

// CustomField defines a field that an organization adds to its tasks.
type CustomField struct {
	Key         string // unique in the organization, and never changed
	Name        string
	Description string
	Type        CustomFieldType
	AsArray     bool     // values are arrays of the type
	Visibility  []string // who is shown it
	Editability []string // who may give it a value
	Contexts    []CustomFieldContext
	Value       any // what new tasks have when they are sent no value; nil when none

	Organization OrganizationID
	Integration  string // that defined it; may be empty
	Position     int    // among the organization's fields
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

// CustomFieldChange is a custom field as sent, to define one or to change the
// one with the key: nil leaves as it is.
type CustomFieldChange struct {
	Key                     string
	Name, Description       *string
	Type                    *CustomFieldType
	AsArray                 *bool
	Visibility, Editability *[]string
	Contexts                *[]CustomFieldContext
	Value                   *any // points to nil to have none
	Integration             *string
}

// CustomFields are the fields that an organization defines, in the order it
// did.
type CustomFields []CustomField

// Find returns the field with the key.
func (fs CustomFields) Find(key string) (CustomField, bool) {
	at := slices.IndexFunc(fs, func(f CustomField) bool { return f.Key == key })
	if at < 0 {
		return CustomField{}, false
	}
	return fs[at], true
}

// Of returns the fields that an integration defined; "" is all.
func (fs CustomFields) Of(integration string) CustomFields {
	if integration == "" {
		return fs
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f CustomField) bool { return f.Integration != integration })
}

// Define adds a field, which messages call at, to those of an organization. A
// key that was not sent is made from the name.
func (fs *CustomFields) Define(at string, org OrganizationID, c CustomFieldChange) (CustomField, error) {
	f := CustomField{
		Key: c.Key, Organization: org,
		Visibility: slices.Clone(FieldAudiences), Editability: []string{FieldForAdmin, VisibleToAPI},
	}
	switch {
	case len(*fs) >= MaxCustomFields:
		return f, Invalid("an organization has at most %d custom fields", MaxCustomFields)
	case c.Name == nil:
		return f, Missing(at + ".name")
	case c.Type == nil:
		return f, Missing(at + ".type")
	}
	if f.Key == "" {
		f.Key = keyOf(*c.Name)
	}
	if n := len(*fs); n > 0 {
		f.Position = (*fs)[n-1].Position + 1
	}
	f.Type = *c.Type
	set(&f.AsArray, c.AsArray)
	if err := f.apply(at, c); err != nil {
		return f, err
	}
	if _, taken := fs.Find(f.Key); taken {
		return f, Duplicate("key", f.Key)
	}
	*fs = append(*fs, f)
	return f, nil
}

// Change changes the field, which messages call at, that has the key, and
// returns it. What its values look like stays: tasks have some.
func (fs CustomFields) Change(at string, c CustomFieldChange) (CustomField, error) {
	if c.Key == "" {
		return CustomField{}, Missing(at + ".key")
	}
	place := slices.IndexFunc(fs, func(f CustomField) bool { return f.Key == c.Key })
	if place < 0 {
		return CustomField{}, NotFound("custom field", c.Key)
	}
	err := fs[place].update(at, c)
	return fs[place], err
}

func (f *CustomField) update(at string, c CustomFieldChange) error {
	switch {
	case c.Type != nil && *c.Type != f.Type:
		return Invalid("%s.type is %s and cannot be changed: define another field", at, f.Type)
	case c.AsArray != nil && *c.AsArray != f.AsArray:
		return Invalid("%s.asArray is %v and cannot be changed: define another field", at, f.AsArray)
	}
	return f.apply(at, c)
}

func (f *CustomField) apply(at string, c CustomFieldChange) error {
	set(&f.Name, c.Name)
	set(&f.Description, c.Description)
	set(&f.Value, c.Value)
	set(&f.Integration, c.Integration)
	if c.Visibility != nil {
		f.Visibility = unique(*c.Visibility)
	}
	if c.Editability != nil {
		f.Editability = unique(*c.Editability)
	}
	if c.Contexts != nil {
		f.Contexts = slices.Clone(*c.Contexts)
	}
	if len(f.Contexts) == 0 {
		f.Contexts = make([]CustomFieldContext, 1) // for every task, not required
	}
	for i := range f.Contexts {
		f.Contexts[i].Name = cmp.Or(f.Contexts[i].Name, SaveContext)
	}
	return f.check(at)
}

// check refuses what no custom field can be.
func (f *CustomField) check(at string) error {
	err := firstError(
		requireText(at+".name", f.Name),
		CheckText(at+".description", f.Description, MaxText),
		CheckText("integration", f.Integration, MaxText),
		checkAudience(at+".visibility", f.Visibility),
		checkAudience(at+".editability", f.Editability),
		f.checkContexts(at+".contexts"),
	)
	switch {
	case err != nil:
		return err
	case f.Key == "":
		return Missing(at + ".key").Because("none can be made from the name")
	case len(f.Key) > MaxFieldKey || strings.ContainsFunc(f.Key, func(r rune) bool { return !inKey(r) }):
		return Invalid("%s.key must be 1 to %d letters, digits and underscores", at, MaxFieldKey)
	case !slices.Contains(CustomFieldTypes, f.Type):
		return Invalid("%s.type must be one of %s", at, joined(CustomFieldTypes))
	case f.Value != nil:
		return f.CheckValue(at+".value", f.Value)
	}
	return nil
}

func checkAudience(at string, who []string) error {
	for i, one := range who {
		if !slices.Contains(FieldAudiences, one) {
			return Invalid("%s[%d] must be one of %s", at, i, joined(FieldAudiences))
		}
	}
	return nil
}

func (f *CustomField) checkContexts(at string) error {
	if len(f.Contexts) > MaxFieldContexts {
		return Invalid("%s has %d entries; at most %d are allowed", at, len(f.Contexts), MaxFieldContexts)
	}
	for _, c := range f.Contexts {
		if c.Name != SaveContext {
			return Invalid("%s must have the name %q only", at, SaveContext)
		}
		if err := checkConditions(at+".conditions", c.Conditions); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions refuses all but the three lists of conditions there are (see
// POST /cfGroups/task): for any task, for pickups, for drop-offs.
func checkConditions(at string, conditions []Condition) error {
	for i, c := range conditions {
		_, ok := c.TargetValue.(bool)
		if i > 0 || !ok || c.FieldName != ConditionField || c.Comparison != ConditionComparison {
			return Invalid("%s must be empty, or one condition with fieldName %s, comparison %s and targetValue true or false",
				at, ConditionField, ConditionComparison)
		}
	}
	return nil
}

// hold tells whether conditions are met by a task that is, or is not, a
// pickup.
func hold(conditions []Condition, pickup bool) bool {
	return !slices.ContainsFunc(conditions, func(c Condition) bool { return c.TargetValue != pickup })
}

// Fits tells whether tasks that are, or are not, pickups have the field.
func (f CustomField) Fits(pickup bool) bool {
	return slices.ContainsFunc(f.Contexts, func(c CustomFieldContext) bool { return hold(c.Conditions, pickup) })
}

// RequiredFor tells whether such tasks must have a value.
func (f CustomField) RequiredFor(pickup bool) bool {
	return slices.ContainsFunc(f.Contexts, func(c CustomFieldContext) bool { return c.Required && hold(c.Conditions, pickup) })
}

// kindName is what messages call tasks that are, or are not, pickups.
func kindName(pickup bool) string {
	if pickup {
		return "pickup"
	}
	return "drop-off"
}

// keyOf makes a key of a name: what cannot be in a key becomes an underscore.
func keyOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !inKey(r) })
	key := strings.Join(words, "_")
	return key[:min(len(key), MaxFieldKey)]
}

func inKey(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// joined lists words for a message.
func joined[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}
