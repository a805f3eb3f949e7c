package store

import (
	"context"

	"dray/internal/customfield"
	"dray/internal/lastmile"
)

// Templates is the kind of task templates.
const Templates Kind = "template"

// CustomFieldReader reads custom fields and task templates.
type CustomFieldReader interface {
	// CustomFields lists the fields that an organization defines, in the order
	// it did.
	CustomFields(ctx context.Context, org lastmile.OrganizationID) (customfield.Fields, error)

	Template(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error)
	// Templates lists templates, oldest first.
	Templates(ctx context.Context, org lastmile.OrganizationID) ([]customfield.Template, error)
}

// CustomFieldWriter saves custom fields and task templates. What tasks have of
// them is saved with the task.
type CustomFieldWriter interface {
	SaveCustomField(ctx context.Context, f lastmile.CustomField) error
	DeleteCustomField(ctx context.Context, org lastmile.OrganizationID, key string) error
	SaveTemplate(ctx context.Context, t customfield.Template) error
	DeleteTemplate(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) error
}
