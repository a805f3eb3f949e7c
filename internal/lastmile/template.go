package lastmile

import (
	"slices"
	"time"
)

// MaxTemplates is the maximum number of templates of an organization.
const MaxTemplates = 100

// Template is a selection of custom fields for pickups, drop-offs or both.
type Template struct {
	ID           TemplateID
	Organization OrganizationID
	Created      time.Time
	Name         string
	Conditions   []Condition
	Fields       []string // keys
	Default      bool
}

// TemplateChange is an update of a template. Nil fields stay unchanged.
type TemplateChange struct {
	Name       *string
	Conditions *[]Condition
	Fields     *[]string
}

// NewTemplate returns a template with some of the organization's fields.
func NewTemplate(id TemplateID, org OrganizationID, c TemplateChange, fields CustomFields, now time.Time) (Template, error) {
	t := Template{ID: id, Organization: org, Created: now}
	switch {
	case c.Name == nil:
		return t, Missing("name")
	case c.Conditions == nil:
		return t, Missing("contextSaveConditions")
	}
	err := t.Update(c, fields)
	return t, err
}

// Update applies a change. Fields are required even if they stay the same.
func (t *Template) Update(c TemplateChange, fields CustomFields) error {
	if c.Fields == nil {
		return Missing("fields").Because("an array of the keys of custom fields is required")
	}
	set(&t.Name, c.Name)
	set(&t.Conditions, c.Conditions)
	t.Fields = unique(*c.Fields)
	if err := firstError(requireText("name", t.Name), checkConditions("contextSaveConditions", t.Conditions)); err != nil {
		return err
	}
	return t.CheckFields(fields)
}

// CheckFields rejects a template whose fields do not exist or do not apply to
// all of its tasks.
func (t *Template) CheckFields(fields CustomFields) error {
	for _, key := range t.Fields {
		field, ok := fields.Find(key)
		if !ok {
			return Invalid("fields: the organization has no custom field %q", key)
		}
		for _, pickup := range []bool{true, false} {
			if t.AppliesTo(pickup) && !field.AppliesTo(pickup) {
				also := ""
				if t.AppliesTo(!pickup) {
					also = "also "
				}
				return Invalid("fields: the template %q is %sfor %s tasks, and the field %q is not", t.Name, also, kindName(pickup), key)
			}
		}
	}
	return nil
}

// CheckAmong rejects a template with the name of another template, or one that
// exceeds the limit.
func (t *Template) CheckAmong(all []Template) error {
	others := slices.DeleteFunc(slices.Clone(all), func(o Template) bool { return o.ID == t.ID })
	switch {
	case slices.ContainsFunc(others, func(o Template) bool { return o.Name == t.Name }):
		return Duplicate("name", t.Name)
	case len(others) >= MaxTemplates:
		return Invalid("an organization has at most %d templates", MaxTemplates)
	}
	return nil
}

// AppliesTo reports whether the template is for pickups or drop-offs.
func (t *Template) AppliesTo(pickup bool) bool { return conditionsHold(t.Conditions, pickup) }

// ForTask returns the fields of a task with the template.
func (t *Template) ForTask(fields CustomFields, pickup bool) (TaskFields, error) {
	if !t.AppliesTo(pickup) {
		return TaskFields{}, Invalid("customFieldGroup: the template %q is not for %s tasks", t.Name, kindName(pickup))
	}
	chosen := slices.DeleteFunc(slices.Clone(fields), func(f CustomField) bool { return !slices.Contains(t.Fields, f.Key) })
	return TaskFields{fields: chosen, template: t.Name, pickup: pickup}, nil
}

// CheckFieldDelete rejects deleting a field that a template uses.
func CheckFieldDelete(f CustomField, templates []Template) error {
	for _, t := range templates {
		if slices.Contains(t.Fields, f.Key) {
			return Invalid("the custom field %q cannot be deleted: the template %q has it", f.Key, t.Name)
		}
	}
	return nil
}
