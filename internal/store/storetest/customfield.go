package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func customField(org lastmile.OrganizationID, key string, position int) lastmile.CustomField {
	return lastmile.CustomField{
		Organization: org, Key: key, Name: key, Type: lastmile.FieldSingleLine, Position: position,
		Visibility: []string{"admin", "api", "worker"}, Editability: []string{"admin", "api"},
		Contexts: []lastmile.CustomFieldContext{{Name: customfield.SaveContext}},
	}
}

func template(org lastmile.OrganizationID, name string) customfield.Template {
	return customfield.Template{ID: id[lastmile.TemplateID](name), Organization: org, Created: now, Name: name}
}

func testCustomFields(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	pickups := []lastmile.Condition{{FieldName: customfield.ConditionField, Comparison: customfield.ConditionComparison, TargetValue: true}}
	full := customField(acme, "full", 7)
	full.Name, full.Description, full.Type, full.AsArray, full.Integration = "Füll <&>", "all there is", lastmile.FieldDecimal, true, "shop"
	full.Visibility, full.Editability, full.Value = []string{"worker"}, nil, []any{1.5, 2.0}
	full.Contexts = []lastmile.CustomFieldContext{{Name: customfield.SaveContext, Required: true, Conditions: pickups}}
	first, theirs := customField(acme, "zz", 0), customField(zenith, "full", 0)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveCustomField(ctx, full), w.SaveCustomField(ctx, first), w.SaveCustomField(ctx, theirs))
	})
	fields := func(org lastmile.OrganizationID) customfield.Fields {
		return read(t, s, func(r *sqlstore.Tx) (customfield.Fields, error) { return r.CustomFields(ctx, org) })
	}
	same(t, "custom fields, in their order", fields(acme), customfield.Fields{first, full})
	first.Description, first.Integration, first.Value = "changed", "other", "d"
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveCustomField(ctx, first) })
	same(t, "custom fields after a change", fields(acme), customfield.Fields{first, full})
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteCustomField(ctx, acme, full.Key) })
	same(t, "custom fields after one was deleted", fields(acme), customfield.Fields{first})
	same(t, "custom fields of another organization", fields(zenith), customfield.Fields{theirs})

	late, early := template(acme, "late"), template(acme, "early")
	late.Created, late.Conditions, late.Fields = now.Add(time.Second), pickups, []string{"b", "a"}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveTemplate(ctx, late), w.SaveTemplate(ctx, early), w.SaveTemplate(ctx, template(zenith, "other")))
	})
	templates := func() []customfield.Template {
		return read(t, s, func(r *sqlstore.Tx) ([]customfield.Template, error) { return r.Templates(ctx, acme) })
	}
	same(t, "templates, oldest first", templates(), []customfield.Template{early, late})
	late.Name, late.Fields, late.Conditions = "renamed", nil, nil
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTemplate(ctx, late) })
	same(t, "a changed template", read(t, s, func(r *sqlstore.Tx) (customfield.Template, error) { return r.Template(ctx, acme, late.ID) }), late)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.DeleteTemplate(ctx, zenith, late.ID), w.DeleteTemplate(ctx, acme, early.ID))
	})
	same(t, "templates after one was deleted", templates(), []customfield.Template{late})
}
