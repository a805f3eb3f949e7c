package taskflow

import (
	"context"
	"fmt"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Fields manages the custom fields and the templates of tasks.
type Fields struct {
	Store     FieldStore
	Documents store.Documents
	Now       func() time.Time
	NewID     func() string
}

// Define adds custom fields to the organization's tasks: all of them, or
// none.
func (fs *Fields) Define(ctx context.Context, who lastmile.Principal, changes []customfield.Change) (customfield.Fields, error) {
	if len(changes) == 0 {
		return nil, lastmile.Missing("field")
	}
	return store.Idempotent(ctx, fs.Store, who, func(w FieldWriter) (customfield.Fields, error) {
		fields, err := w.CustomFields(ctx, who.Organization)
		if err != nil {
			return nil, err
		}
		made := customfield.Fields{}
		for i, change := range changes {
			field, err := fields.Define(fieldName(i), who.Organization, change)
			if err != nil {
				return nil, err
			}
			if err := w.SaveCustomField(ctx, field); err != nil {
				return nil, err
			}
			made = append(made, field)
		}
		return made, nil
	})
}

// Update changes the custom fields with the given keys: all of them, or
// none. Tasks keep their values.
func (fs *Fields) Update(ctx context.Context, who lastmile.Principal, changes []customfield.Change) (changed customfield.Fields, err error) {
	if len(changes) == 0 {
		return nil, lastmile.Missing("field")
	}
	keys := make([]string, len(changes))
	for i, change := range changes {
		keys[i] = change.Key
	}
	if err := customfield.CheckKeys(keys); err != nil {
		return nil, err
	}
	err = fs.Store.Write(ctx, func(w FieldWriter) error {
		fields, err := w.CustomFields(ctx, who.Organization)
		if err != nil {
			return err
		}
		changed = customfield.Fields{}
		for i, change := range changes {
			field, err := fields.Change(fieldName(i), change)
			if err != nil {
				return err
			}
			if err := w.SaveCustomField(ctx, field); err != nil {
				return err
			}
			changed = append(changed, field)
		}
		templates, err := w.Templates(ctx, who.Organization)
		if err != nil {
			return err
		}
		for _, template := range templates {
			if err := template.CheckFields(fields); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

// Delete deletes custom fields: all of them, or none. Tasks keep their
// values.
func (fs *Fields) Delete(ctx context.Context, who lastmile.Principal, keys []string) error {
	if len(keys) == 0 {
		return lastmile.Missing("field")
	}
	if err := customfield.CheckKeys(keys); err != nil {
		return err
	}
	return fs.Store.Write(ctx, func(w FieldWriter) error {
		fields, err := w.CustomFields(ctx, who.Organization)
		if err != nil {
			return err
		}
		templates, err := w.Templates(ctx, who.Organization)
		if err != nil {
			return err
		}
		for _, key := range keys {
			field, ok := fields.Find(key)
			if !ok {
				return lastmile.NotFound("custom field", key)
			}
			if err := customfield.CheckDelete(field, templates); err != nil {
				return err
			}
			if err := w.DeleteCustomField(ctx, who.Organization, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// List returns the organization's custom fields: those of an integration, or all
// if integration is empty.
func (fs *Fields) List(ctx context.Context, who lastmile.Principal, integration string) (fields customfield.Fields, err error) {
	err = fs.Store.Read(ctx, func(r FieldReader) (err error) {
		fields, err = r.CustomFields(ctx, who.Organization)
		return err
	})
	return fields.DefinedBy(integration), err
}

// fieldName returns the name of a field definition in error messages.
func fieldName(i int) string { return fmt.Sprintf("field[%d]", i) }

// customFields checks the custom fields of a draft against the organization's
// definitions and puts them into the change.
func (p prepared) customFields(ctx context.Context, r fieldReader, who lastmile.Principal, change *lastmile.TaskChange) error {
	var sent []lastmile.FieldValue
	if p.draft.Fields != nil {
		sent = *p.draft.Fields
	}
	pickup, converts := p.pickup(*change)
	touched := p.draft.Fields != nil || p.draft.Template != "" || converts
	if p.of != nil && (!touched || !p.clones && !p.of.CustomFieldsEditable()) {
		return nil
	}
	fields, err := r.CustomFields(ctx, who.Organization)
	if err != nil {
		return err
	}
	sheet := fields.ForTask(pickup)
	if p.draft.Template != "" {
		chosen, err := template(ctx, r, who.Organization, p.draft.Template)
		if err != nil {
			return err
		}
		if sheet, err = chosen.ForTask(fields, pickup); err != nil {
			return err
		}
	}
	sheet = sheet.SetBy(who)
	var values []lastmile.CustomFieldValue
	switch {
	case p.of == nil:
		values, err = sheet.Create(sent)
	case p.clones:
		values, err = sheet.Clone(p.of.CustomFields, sent)
	case converts:
		values, err = sheet.Convert(p.of.CustomFields, sent)
	default:
		values, err = sheet.Update(p.of.CustomFields, sent)
	}
	change.CustomFields = &values
	return err
}

// pickup reports whether the task will be a pickup, and whether that differs from
// the task that is changed or cloned.
func (p prepared) pickup(change lastmile.TaskChange) (pickup, converts bool) {
	sent := change.Pickup
	switch {
	case p.of == nil:
		return sent != nil && *sent, false
	case sent == nil || !p.clones && !p.of.Pending():
		return p.of.Pickup, false
	}
	return *sent, *sent != p.of.Pickup
}
