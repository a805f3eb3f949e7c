package customfield

import (
	"slices"
	"time"

	"dray/internal/lastmile"
)

// MaxTemplates is the maximum number of templates of an organization.
const MaxTemplates = 100

// Template is a selection of custom fields for pickups, drop-offs or both.
type Template struct {
	ID           lastmile.TemplateID
	Organization lastmile.OrganizationID
	Created      time.Time
	Name         string
	Conditions   []lastmile.Condition
	Fields       []string // keys
	Default      bool
}

// TemplateChange is an update of a template. Nil fields stay unchanged.
type TemplateChange struct {
	Name       *string
	Conditions *[]lastmile.Condition
	Fields     *[]string
}

// NewTemplate returns a new template. fields are all fields of the organization.
func NewTemplate(id lastmile.TemplateID, org lastmile.OrganizationID, c TemplateChange, fields Fields, now time.Time) (Template, error) {
	t := Template{ID: id, Organization: org, Created: now}
	switch {
	case c.Name == nil:
		return t, lastmile.Missing("name")
	case c.Conditions == nil:
		return t, lastmile.Missing("contextSaveConditions")
	}
	err := t.Update(c, fields)
	return t, err
}

// Update applies a change. The change must have fields, even if they stay the same.
func (t *Template) Update(c TemplateChange, fields Fields) error {
	if c.Fields == nil {
		return lastmile.Missing("fields").Because("an array of the keys of custom fields is required")
	}
	lastmile.Set(&t.Name, c.Name)
	lastmile.Set(&t.Conditions, c.Conditions)
	t.Fields = lastmile.Unique(*c.Fields)
	if err := lastmile.FirstError(lastmile.RequireText("name", t.Name), checkConditions("contextSaveConditions", t.Conditions)); err != nil {
		return err
	}
	return t.CheckFields(fields)
}

// CheckFields rejects a template with fields that do not exist or do not apply to all tasks
// that the template is for.
func (t *Template) CheckFields(fields Fields) error {
	for _, key := range t.Fields {
		field, ok := fields.Find(key)
		if !ok {
			return lastmile.Invalid("fields: the organization has no custom field %q", lastmile.Truncate(key, lastmile.MaxShown))
		}
		for _, pickup := range []bool{true, false} {
			if t.AppliesTo(pickup) && !AppliesTo(field, pickup) {
				also := ""
				if t.AppliesTo(!pickup) {
					also = "also "
				}
				return lastmile.Invalid("fields: the template %q is %sfor %s tasks, and the field %q is not", t.Name, also, kindName(pickup), key)
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
		return lastmile.Duplicate("name", t.Name)
	case len(others) >= MaxTemplates:
		return lastmile.Invalid("an organization has at most %d templates", MaxTemplates)
	}
	return nil
}

// AppliesTo reports whether the template is for pickups or, if pickup is false, drop-offs.
func (t *Template) AppliesTo(pickup bool) bool { return hold(t.Conditions, pickup) }

// ForTask returns the fields of a task with the template.
func (t *Template) ForTask(fields Fields, pickup bool) (TaskFields, error) {
	if !t.AppliesTo(pickup) {
		return TaskFields{}, lastmile.Invalid("customFieldGroup: the template %q is not for %s tasks", t.Name, kindName(pickup))
	}
	chosen := slices.DeleteFunc(slices.Clone(fields), func(f lastmile.CustomField) bool { return !slices.Contains(t.Fields, f.Key) })
	return TaskFields{fields: chosen, template: t.Name, pickup: pickup}, nil
}

// CheckDelete rejects deleting a field that a template uses.
func CheckDelete(f lastmile.CustomField, templates []Template) error {
	for _, t := range templates {
		if slices.Contains(t.Fields, f.Key) {
			return lastmile.Invalid("the custom field %q cannot be deleted: the template %q has it", f.Key, t.Name)
		}
	}
	return nil
}
