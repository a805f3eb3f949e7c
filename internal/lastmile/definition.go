package lastmile

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of custom fields.
const (
	MaxCustomFields     = 100      // per organization
	MaxFieldKey         = 100      // characters
	MaxFieldContexts    = 10       // per field
	MaxFieldElements    = 100      // of an array value
	MaxFieldURL         = 2_000    // characters
	MaxCustomFieldBytes = 64 << 10 // all values of a task, as compact JSON
)

// FieldForAdmin stands for the dashboard in the visibility and editability of
// custom fields.
const FieldForAdmin = "admin"

// FieldAudiences lists everything that can see or edit custom fields.
var FieldAudiences = []string{FieldForAdmin, VisibleToAPI, VisibleToWorker}

// The only condition that a task can be tested for: whether it is a pickup.
const (
	ConditionField      = "pickupTask"
	ConditionComparison = "equal_to"
)

// SaveContext is the only context there is: saving a task.
const SaveContext = "save"

// CustomFieldChange defines a custom field, or updates the one with the same
// key. Nil fields stay unchanged.
type CustomFieldChange struct {
	Key                     string
	Name, Description       *string
	Type                    *CustomFieldType
	AsArray                 *bool
	Visibility, Editability *[]string
	Contexts                *[]CustomFieldContext
	Value                   *any // points to nil to remove the default
	Integration             *string
}

// CustomFields are the custom fields of an organization, in the order in which
// they were defined.
type CustomFields []CustomField

// Find returns the field with the key.
func (fs CustomFields) Find(key string) (CustomField, bool) {
	at := slices.IndexFunc(fs, func(f CustomField) bool { return f.Key == key })
	if at < 0 {
		return CustomField{}, false
	}
	return fs[at], true
}

// DefinedBy returns the fields defined by an integration; all for "".
func (fs CustomFields) DefinedBy(integration string) CustomFields {
	if integration == "" {
		return fs
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f CustomField) bool { return f.Integration != integration })
}

// Define adds a field to those of an organization. Error messages call it at. A
// missing key is derived from the name.
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
	if err := apply(&f, at, c); err != nil {
		return f, err
	}
	if _, taken := fs.Find(f.Key); taken {
		return f, Duplicate("key", f.Key)
	}
	*fs = append(*fs, f)
	return f, nil
}

// Change updates the field with the key of the change and returns it. Error
// messages call it at. The type of its values cannot change, because tasks may
// have values.
func (fs CustomFields) Change(at string, c CustomFieldChange) (CustomField, error) {
	if c.Key == "" {
		return CustomField{}, Missing(at + ".key")
	}
	place := slices.IndexFunc(fs, func(f CustomField) bool { return f.Key == c.Key })
	if place < 0 {
		return CustomField{}, NotFound("custom field", c.Key)
	}
	err := update(&fs[place], at, c)
	return fs[place], err
}

func update(f *CustomField, at string, c CustomFieldChange) error {
	switch {
	case c.Type != nil && *c.Type != f.Type:
		return Invalid("%s.type is %s and cannot be changed: define another field", at, f.Type)
	case c.AsArray != nil && *c.AsArray != f.AsArray:
		return Invalid("%s.asArray is %v and cannot be changed: define another field", at, f.AsArray)
	}
	return apply(f, at, c)
}

func apply(f *CustomField, at string, c CustomFieldChange) error {
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
		f.Contexts = make([]CustomFieldContext, 1) // for every task, optional
	}
	for i := range f.Contexts {
		f.Contexts[i].Name = cmp.Or(f.Contexts[i].Name, SaveContext)
	}
	return check(f, at)
}

// check rejects an invalid custom field.
func check(f *CustomField, at string) error {
	err := firstError(
		requireText(at+".name", f.Name),
		CheckText(at+".description", f.Description, MaxText),
		CheckText("integration", f.Integration, MaxText),
		checkAudience(at+".visibility", f.Visibility),
		checkAudience(at+".editability", f.Editability),
		checkContexts(f, at+".contexts"),
	)
	switch {
	case err != nil:
		return err
	case f.Key == "":
		return Missing(at + ".key").Because("none can be made from the name")
	case len(f.Key) > MaxFieldKey || strings.ContainsFunc(f.Key, func(r rune) bool { return !inKey(r) }):
		return Invalid("%s.key must be 1 to %d letters, digits and underscores", at, MaxFieldKey)
	case !slices.Contains(CustomFieldTypes, f.Type):
		return Invalid("%s.type must be one of %s", at, joinWords(CustomFieldTypes))
	case f.Value != nil:
		return CheckFieldValue(*f, at+".value", f.Value)
	}
	return nil
}

func checkAudience(at string, who []string) error {
	for i, one := range who {
		if !slices.Contains(FieldAudiences, one) {
			return Invalid("%s[%d] must be one of %s", at, i, joinWords(FieldAudiences))
		}
	}
	return nil
}

func checkContexts(f *CustomField, at string) error {
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

// checkConditions accepts only the three possible lists of conditions (see POST
// /cfGroups/task): for any task, for pickups, for drop-offs.
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

// kindName returns what error messages call pickups and drop-offs.
func kindName(pickup bool) string {
	if pickup {
		return "pickup"
	}
	return "drop-off"
}

// keyOf derives a key from a name by replacing invalid characters with
// underscores.
func keyOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !inKey(r) })
	key := strings.Join(words, "_")
	return key[:min(len(key), MaxFieldKey)]
}

func inKey(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// joinWords lists words for an error message.
func joinWords[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}
