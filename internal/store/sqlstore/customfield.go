package sqlstore

import (
	"context"
	"fmt"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/wire"
)

const selectCustomFields = `SELECT doc, position, integration FROM custom_field WHERE org = $1 ORDER BY position, id`

// CustomFields lists the custom fields of an organization in the order of their
// definition.
func (t customFieldTx) CustomFields(ctx context.Context, org lastmile.OrganizationID) (customfield.Fields, error) {
	found, err := collect(ctx, t, func(r rows) (lastmile.CustomField, error) {
		var (
			doc         []byte
			position    int64
			integration string
			form        wire.CustomField
		)
		if err := r.Scan(&doc, &position, &integration); err != nil {
			return lastmile.CustomField{}, err
		}
		err := wire.Unmarshal(doc, &form)
		field := form.Definition()
		field.Organization, field.Position, field.Integration = org, int(position), integration
		return field, err
	}, selectCustomFields, org)
	if err != nil {
		return nil, fmt.Errorf("read custom fields: %w", err)
	}
	return found, nil
}

// SaveCustomField saves the definition of a custom field.
func (t customFieldTx) SaveCustomField(ctx context.Context, f lastmile.CustomField) error {
	doc, err := wire.Marshal(wire.NewCustomFieldDefinition(f))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO custom_field (org, id, doc, v, position, integration) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, integration = excluded.integration`
	if _, err := t.exec(ctx, query, f.Organization, f.Key, doc, documentVersion, f.Position, f.Integration); err != nil {
		return fmt.Errorf("save custom field %s: %w", f.Key, err)
	}
	return nil
}

// DeleteCustomField deletes the definition of a custom field.
func (t customFieldTx) DeleteCustomField(ctx context.Context, org lastmile.OrganizationID, key string) error {
	return t.erase(ctx, org, key, [2]string{"custom_field", "id"})
}

// Template returns a task template.
func (t customFieldTx) Template(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error) {
	found, err := t.templates(ctx, org, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Templates, string(id), found, err)
}

// Templates lists templates, oldest first.
func (t customFieldTx) Templates(ctx context.Context, org lastmile.OrganizationID) ([]customfield.Template, error) {
	return t.templates(ctx, org, within(org))
}

func (t customFieldTx) templates(ctx context.Context, org lastmile.OrganizationID, where *condition) ([]customfield.Template, error) {
	found, err := collect(ctx, t, func(r rows) (customfield.Template, error) {
		var (
			doc     []byte
			created int64
			form    wire.Template
		)
		if err := r.Scan(&doc, &created); err != nil {
			return customfield.Template{}, err
		}
		err := wire.Unmarshal(doc, &form)
		template := form.Domain(org)
		template.Created = time.UnixMilli(created).UTC()
		return template, err
	}, `SELECT t.doc, t.created FROM template t WHERE `+where.text+` ORDER BY t.created, t.id`, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	return found, nil
}

// SaveTemplate saves a task template.
func (t customFieldTx) SaveTemplate(ctx context.Context, template customfield.Template) error {
	doc, err := wire.Marshal(wire.NewTemplate(template))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO template (org, id, doc, v, name, created) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, name = excluded.name`
	_, err = t.exec(ctx, query, template.Organization, template.ID, doc, documentVersion, template.Name, template.Created.UnixMilli())
	if err != nil {
		return fmt.Errorf("save template %s: %w", template.ID, err)
	}
	return nil
}

// DeleteTemplate deletes a task template.
func (t customFieldTx) DeleteTemplate(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) error {
	return t.erase(ctx, org, string(id), [2]string{"template", "id"})
}
