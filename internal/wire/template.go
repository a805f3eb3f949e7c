package wire

import (
	"dray/internal/customfield"
	"dray/internal/lastmile"
)

// Template is a task template as the interface shows it.
type Template struct {
	ID                    lastmile.TemplateID `json:"id"`
	Name                  string              `json:"name"`
	DeletedAt             Millis              `json:"deletedAt"` // null: what is deleted is not shown
	ContextSaveConditions []Condition         `json:"contextSaveConditions"`
	Fields                []string            `json:"fields"`
	IsDefault             bool                `json:"isDefault"`
}

// NewTemplate returns a template in the form that is sent.
func NewTemplate(t customfield.Template) Template {
	return Template{
		ID: t.ID, Name: t.Name, ContextSaveConditions: newConditions(t.Conditions), Fields: orEmpty(t.Fields), IsDefault: t.Default,
	}
}

// Domain returns the template that the form shows.
func (t Template) Domain(org lastmile.OrganizationID) customfield.Template {
	return customfield.Template{
		ID: t.ID, Organization: org, Name: t.Name, Conditions: conditions(t.ContextSaveConditions), Fields: t.Fields, Default: t.IsDefault,
	}
}

// TemplateBody is a task template in a request.
type TemplateBody struct {
	Name                  *string      `json:"name"`
	ContextSaveConditions *[]Condition `json:"contextSaveConditions"`
	Fields                *[]string    `json:"fields"`
}

// Change returns what the request asks for.
func (b TemplateBody) Change() customfield.TemplateChange {
	change := customfield.TemplateChange{Name: b.Name, Fields: b.Fields}
	if b.ContextSaveConditions != nil {
		sent := conditions(*b.ContextSaveConditions)
		change.Conditions = &sent
	}
	return change
}
