package taskflow

import (
	"context"
	"errors"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// CreateTemplate creates a task template.
func (fs *Fields) CreateTemplate(ctx context.Context, who lastmile.Principal, change customfield.TemplateChange) (customfield.Template, error) {
	id, now := lastmile.TemplateID(fs.NewID()), fs.Now()
	return store.Idempotent(ctx, fs.Store, who, func(w FieldWriter) (customfield.Template, error) {
		fields, err := w.CustomFields(ctx, who.Organization)
		if err != nil {
			return customfield.Template{}, err
		}
		made, err := customfield.NewTemplate(id, who.Organization, change, fields, now)
		if err != nil {
			return made, err
		}
		return made, saveTemplate(ctx, w, made)
	})
}

// UpdateTemplate changes a task template. Tasks created from it do
// not change.
func (fs *Fields) UpdateTemplate(ctx context.Context, who lastmile.Principal, id lastmile.TemplateID, change customfield.TemplateChange) (changed customfield.Template, err error) {
	err = fs.Store.Write(ctx, func(w FieldWriter) (err error) {
		if changed, err = template(ctx, w, who.Organization, id); err != nil {
			return err
		}
		fields, err := w.CustomFields(ctx, who.Organization)
		if err != nil {
			return err
		}
		if err := changed.Update(change, fields); err != nil {
			return err
		}
		return saveTemplate(ctx, w, changed)
	})
	return changed, err
}

// DeleteTemplate deletes a task template. Tasks created from it do
// not change.
func (fs *Fields) DeleteTemplate(ctx context.Context, who lastmile.Principal, id lastmile.TemplateID) error {
	return fs.Store.Write(ctx, func(w FieldWriter) error {
		if _, err := template(ctx, w, who.Organization, id); err != nil {
			return err
		}
		return w.DeleteTemplate(ctx, who.Organization, id)
	})
}

// ShowTemplate returns a task template in the form of the API.
func (fs *Fields) ShowTemplate(ctx context.Context, who lastmile.Principal, id lastmile.TemplateID) ([]byte, error) {
	doc, err := fs.Documents.Show(ctx, store.Templates, who.Organization, string(id))
	return doc, templateNotFound(err)
}

// Templates lists the task templates of the organization.
func (fs *Fields) Templates(ctx context.Context, who lastmile.Principal) (templates []customfield.Template, err error) {
	err = fs.Store.Read(ctx, func(r FieldReader) (err error) {
		templates, err = r.Templates(ctx, who.Organization)
		return err
	})
	return templates, err
}

// saveTemplate saves a template and rejects a name that another template has.
func saveTemplate(ctx context.Context, w FieldWriter, t customfield.Template) error {
	all, err := w.Templates(ctx, t.Organization)
	if err != nil {
		return err
	}
	if err := t.CheckAmong(all); err != nil {
		return err
	}
	return w.SaveTemplate(ctx, t)
}

// template reads a template that must be the organization's.
func template(ctx context.Context, r fieldReader, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error) {
	found, err := r.Template(ctx, org, id)
	return found, templateNotFound(err)
}

// templateNotFound adds the cause that published clients expect to the error about
// a missing template.
func templateNotFound(err error) error {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if ok && lastmile.IsNotFound(err) {
		return rejected.Because("Custom fields group not found.")
	}
	return err
}
