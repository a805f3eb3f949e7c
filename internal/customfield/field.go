package customfield

import (
	"cmp"
	"slices"
	"strings"

	"dray/internal/lastmile"
)

// Limits of custom fields.
const (
	MaxFields   = 100      // per organization
	MaxKey      = 100      // characters
	MaxContexts = 10       // per field
	MaxElements = 100      // elements of an array
	MaxURL      = 2_000    // characters
	MaxBytes    = 64 << 10 // all values of a task, and all defaults, as compact JSON

	// MaxDefinitions is the maximum size in bytes of the names, descriptions and contexts
	// of all fields of an organization. It is limited because every task stores the
	// definitions of its fields.
	MaxDefinitions = 64 << 10
)

// ForAdmin is the value for the dashboard in the visibility and editability of custom fields.
const ForAdmin = "admin"

// Audiences lists the possible values of the visibility and editability of custom fields.
var Audiences = []string{ForAdmin, lastmile.VisibleToAPI, lastmile.VisibleToWorker}

// The field and the comparison of the only possible condition: whether a task is a pickup.
const (
	ConditionField      = "pickupTask"
	ConditionComparison = "equal_to"
)

// SaveContext is the name of the only context: saving a task.
const SaveContext = "save"

// Change is the definition of a new custom field or an update of the one with the same key. Nil
// fields stay unchanged.
type Change struct {
	Key                     string
	Name, Description       *string
	Type                    *lastmile.CustomFieldType
	AsArray                 *bool
	Visibility, Editability *[]string
	Contexts                *[]lastmile.CustomFieldContext
	Value                   *any // a pointer to nil removes the default
	Integration             *string
}

// Fields are the custom fields of an organization, in the order in which
// they were defined.
type Fields []lastmile.CustomField

// Find returns the field with the key, and whether there is one.
func (fs Fields) Find(key string) (lastmile.CustomField, bool) {
	at := slices.IndexFunc(fs, func(f lastmile.CustomField) bool { return f.Key == key })
	if at < 0 {
		return lastmile.CustomField{}, false
	}
	return fs[at], true
}

// DefinedBy returns the fields that an integration defined, or all fields for "".
func (fs Fields) DefinedBy(integration string) Fields {
	if integration == "" {
		return fs
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f lastmile.CustomField) bool { return f.Integration != integration })
}

// Define adds a field to those of an organization and returns it. at is its name in error
// messages. If the change has no key, one is derived from the name.
func (fs *Fields) Define(at string, org lastmile.OrganizationID, c Change) (lastmile.CustomField, error) {
	f := lastmile.CustomField{
		Key: c.Key, Organization: org,
		Visibility: slices.Clone(Audiences), Editability: []string{ForAdmin, lastmile.VisibleToAPI},
	}
	switch {
	case len(*fs) >= MaxFields:
		return f, lastmile.Invalid("an organization has at most %d custom fields", MaxFields)
	case c.Name == nil:
		return f, lastmile.Missing(at + ".name")
	case c.Type == nil:
		return f, lastmile.Missing(at + ".type")
	}
	if f.Key == "" {
		f.Key = keyOf(*c.Name)
	}
	if n := len(*fs); n > 0 {
		f.Position = (*fs)[n-1].Position + 1
	}
	f.Type = *c.Type
	lastmile.Set(&f.AsArray, c.AsArray)
	if err := apply(&f, at, c); err != nil {
		return f, err
	}
	if _, taken := fs.Find(f.Key); taken {
		return f, lastmile.Duplicate("key", f.Key)
	}
	all := append(slices.Clip(*fs), f)
	if err := lastmile.FirstError(all.checkDefaults(at, c), all.checkDefinitions(at, definitionSize(*fs...))); err != nil {
		return f, err
	}
	*fs = all
	return f, nil
}

// Change updates the field with the key of the change and returns it. at is its name in error
// messages. The type of a field cannot change, because tasks may have values.
func (fs Fields) Change(at string, c Change) (lastmile.CustomField, error) {
	if c.Key == "" {
		return lastmile.CustomField{}, lastmile.Missing(at + ".key")
	}
	place := slices.IndexFunc(fs, func(f lastmile.CustomField) bool { return f.Key == c.Key })
	if place < 0 {
		return lastmile.CustomField{}, lastmile.NotFound("custom field", c.Key)
	}
	before := definitionSize(fs...)
	if err := update(&fs[place], at, c); err != nil {
		return fs[place], err
	}
	return fs[place], lastmile.FirstError(fs.checkDefaults(at, c), fs.checkDefinitions(at, before))
}

// checkDefinitions rejects a change after which the definitions are too large. before is their
// size before the change: what older versions accepted can become smaller.
func (fs Fields) checkDefinitions(at string, before int) error {
	if size := definitionSize(fs...); size > MaxDefinitions && size > before {
		return lastmile.Invalid("%s: the names, descriptions and contexts of all custom fields must be at most %d bytes in all, not %d", at, MaxDefinitions, size)
	}
	return nil
}

// contextSize is about the size of a context as JSON.
const contextSize = 120

// definitionSize returns the bytes that fields count towards MaxDefinitions.
func definitionSize(fields ...lastmile.CustomField) int {
	size := 0
	for _, f := range fields {
		size += len(f.Name) + len(f.Description) + contextSize*len(f.Contexts)
	}
	return size
}

// SizeFor returns about how many bytes of a new task the definitions and defaults of its fields
// take, if the task is sent with these values.
func (fs Fields) SizeFor(sent []lastmile.FieldValue) int {
	const others = 250 // the key, the type and names of members
	size := 0
	for _, f := range fs {
		if f.Value != nil || slices.ContainsFunc(sent, func(v lastmile.FieldValue) bool { return v.Key == f.Key }) {
			size += definitionSize(f) + len(lastmile.AppendCanonical(nil, f.Value)) + others
		}
	}
	return size
}

// checkDefaults rejects a change to a default with which all defaults exceed what a task can
// have, so that no task could be created without sending other values.
func (fs Fields) checkDefaults(at string, c Change) error {
	if c.Value == nil || *c.Value == nil {
		return nil
	}
	size := 0
	for _, f := range fs {
		if f.Value != nil {
			size += len(lastmile.AppendCanonical(nil, f.Value))
		}
	}
	if size > MaxBytes {
		return lastmile.Invalid("%s.value: the defaults of all custom fields must be at most %d bytes in all, not %d", at, MaxBytes, size)
	}
	return nil
}

// CheckKeys rejects a request to change or delete more fields than an organization can have, or
// one field twice.
func CheckKeys(keys []string) error {
	if len(keys) > MaxFields {
		return lastmile.Invalid("field has %d entries; at most %d are allowed", len(keys), MaxFields)
	}
	seen := make(map[string]bool, len(keys))
	for i, key := range keys {
		if seen[key] {
			return lastmile.Invalid("field[%d].key must be unique, and %q comes twice", i, lastmile.Truncate(key, MaxKey))
		}
		seen[key] = key != ""
	}
	return nil
}

func update(f *lastmile.CustomField, at string, c Change) error {
	switch {
	case c.Type != nil && *c.Type != f.Type:
		return lastmile.Invalid("%s.type is %s and cannot be changed: define another field", at, f.Type)
	case c.AsArray != nil && *c.AsArray != f.AsArray:
		return lastmile.Invalid("%s.asArray is %v and cannot be changed: define another field", at, f.AsArray)
	}
	return apply(f, at, c)
}

func apply(f *lastmile.CustomField, at string, c Change) error {
	lastmile.Set(&f.Name, c.Name)
	lastmile.Set(&f.Description, c.Description)
	lastmile.Set(&f.Value, c.Value)
	lastmile.Set(&f.Integration, c.Integration)
	if c.Visibility != nil {
		f.Visibility = lastmile.Unique(*c.Visibility)
	}
	if c.Editability != nil {
		f.Editability = lastmile.Unique(*c.Editability)
	}
	if c.Contexts != nil {
		f.Contexts = slices.Clone(*c.Contexts)
	}
	if len(f.Contexts) == 0 {
		f.Contexts = make([]lastmile.CustomFieldContext, 1) // an optional value for all tasks
	}
	for i := range f.Contexts {
		f.Contexts[i].Name = cmp.Or(f.Contexts[i].Name, SaveContext)
	}
	return check(f, at)
}

// check rejects an invalid custom field.
func check(f *lastmile.CustomField, at string) error {
	err := lastmile.FirstError(
		lastmile.RequireText(at+".name", f.Name),
		lastmile.CheckText(at+".description", f.Description, lastmile.MaxText),
		lastmile.CheckText("integration", f.Integration, lastmile.MaxText),
		checkAudience(at+".visibility", f.Visibility),
		checkAudience(at+".editability", f.Editability),
		checkContexts(f, at+".contexts"),
	)
	switch {
	case err != nil:
		return err
	case f.Key == "":
		return lastmile.Missing(at + ".key").Because("none can be made from the name")
	case len(f.Key) > MaxKey || strings.ContainsFunc(f.Key, func(r rune) bool { return !inKey(r) }):
		return lastmile.Invalid("%s.key must be 1 to %d letters, digits and underscores", at, MaxKey)
	case !slices.Contains(lastmile.CustomFieldTypes, f.Type):
		return lastmile.Invalid("%s.type must be one of %s", at, joinWords(lastmile.CustomFieldTypes))
	case f.Value != nil:
		return CheckValue(*f, at+".value", f.Value)
	}
	return nil
}

func checkAudience(at string, who []string) error {
	for i, one := range who {
		if !slices.Contains(Audiences, one) {
			return lastmile.Invalid("%s[%d] must be one of %s", at, i, joinWords(Audiences))
		}
	}
	return nil
}

func checkContexts(f *lastmile.CustomField, at string) error {
	if len(f.Contexts) > MaxContexts {
		return lastmile.Invalid("%s has %d entries; at most %d are allowed", at, len(f.Contexts), MaxContexts)
	}
	for _, c := range f.Contexts {
		if c.Name != SaveContext {
			return lastmile.Invalid("%s must have the name %q only", at, SaveContext)
		}
		if err := checkConditions(at+".conditions", c.Conditions); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions rejects all but the three possible lists of conditions (see POST
// /cfGroups/task): for all tasks, for pickups, and for drop-offs.
func checkConditions(at string, conditions []lastmile.Condition) error {
	for i, c := range conditions {
		_, ok := c.TargetValue.(bool)
		if i > 0 || !ok || c.FieldName != ConditionField || c.Comparison != ConditionComparison {
			return lastmile.Invalid("%s must be empty, or one condition with fieldName %s, comparison %s and targetValue true or false",
				at, ConditionField, ConditionComparison)
		}
	}
	return nil
}

// kindName returns the name of pickups or drop-offs in error messages.
func kindName(pickup bool) string {
	if pickup {
		return "pickup"
	}
	return "drop-off"
}

// keyOf derives a key from a name: it replaces each run of invalid characters with an
// underscore, and removes those at the ends.
func keyOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !inKey(r) })
	key := strings.Join(words, "_")
	return key[:min(len(key), MaxKey)]
}

func inKey(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// joinWords joins words for an error message.
func joinWords[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}

// AppliesTo reports whether pickups or, if pickup is false, drop-offs can have a field.
func AppliesTo(f lastmile.CustomField, pickup bool) bool {
	return slices.ContainsFunc(f.Contexts, func(c lastmile.CustomFieldContext) bool { return hold(c.Conditions, pickup) })
}

// RequiredFor reports whether pickups or drop-offs must have a value for a field.
func RequiredFor(f lastmile.CustomField, pickup bool) bool {
	return slices.ContainsFunc(f.Contexts, func(c lastmile.CustomFieldContext) bool {
		return c.Required && hold(c.Conditions, pickup)
	})
}

// hold reports whether pickups or, if pickup is false, drop-offs meet all conditions.
func hold(conditions []lastmile.Condition, pickup bool) bool {
	return !slices.ContainsFunc(conditions, func(c lastmile.Condition) bool { return c.TargetValue != pickup })
}
