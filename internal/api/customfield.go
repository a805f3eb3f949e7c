package api

import (
	"context"
	"strings"

	"dray/internal/customfield"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// customFields serves the endpoints of custom fields and task templates.
type customFields struct{ *Server }

// taskModel is the only type of record that has custom fields.
const taskModel = "Task"

func (s customFields) routes() []edge.Route {
	return edge.Tagged("Custom fields",
		edge.Create("/customFields", "Define custom fields", s.defineFields, wire.NewCustomFields).
			Describe("Either all fields of the request are defined or none. An organization can have at most 100 custom fields, and their default values can be at most 64 KiB in all.").
			Example(`{
				"model": "Task",
				"field": [
					{
						"key": "orderNumber",
						"name": "Order number",
						"type": "single_line_text_field",
						"contexts": [
							{
								"name": "save",
								"isRequired": true,
								"conditions": []
							}
						]
					}
				]
			}`),
		edge.Get("/customFields/{model}", "List custom fields", s.listFields,
			edge.Parameter{Name: "integration", Description: "name of an integration; only its fields are listed"}),
		edge.Put("/customFields", "Update custom fields", s.updateFields).
			Describe("Fields are identified by their keys; only properties that are sent change. type and asArray cannot change. Existing tasks keep their fields. A request can have each field only once.").
			Example(`{"model": "Task", "field": [{"key": "orderNumber", "name": "Order"}]}`),
		edge.DeleteWith("/customFields", "Delete custom fields", s.deleteFields).
			Describe("A field that is part of a template cannot be deleted. Existing tasks keep their fields.").
			Example(`{"model": "Task", "field": [{"key": "orderNumber"}]}`),
	)
}

func (s customFields) templateRoutes() []edge.Route {
	return edge.Tagged("Task templates",
		edge.Create("/cfGroups/task", "Create a task template", s.createTemplate, wire.NewTemplate).
			Describe("The name must be unique in the organization. The fields must apply to all tasks that the template applies to.").
			Example(`{
				"name": "Groceries",
				"contextSaveConditions": [
					{
						"fieldName": "pickupTask",
						"comparison": "equal_to",
						"targetValue": false
					}
				],
				"fields": ["orderNumber"]
			}`),
		edge.Get("/cfGroups/task", "List task templates", s.listTemplates),
		edge.Get("/cfGroups/task/{id}", "Read a task template", s.showTemplate),
		edge.Put("/cfGroups/task/{id}", "Update a task template", s.updateTemplate).
			Describe("Only the fields that are sent change, but the list of fields must always be sent.").
			Example(`{"name": "Groceries", "fields": ["orderNumber"]}`),
		edge.Delete("/cfGroups/task/{id}", "Delete a task template", s.deleteTemplate).NoContent().
			Describe("Tasks created from the template do not change."),
	)
}

// checkModel rejects types of records that have no custom fields. Clients write the
// name in two ways.
func checkModel(model string) error {
	switch {
	case model == "":
		return lastmile.Missing("model")
	case !strings.EqualFold(model, taskModel):
		return lastmile.Invalid("model must be %s, not %q", taskModel, edge.Clip(model))
	}
	return nil
}

func (s customFields) defineFields(ctx context.Context, c *edge.Call, body wire.CustomFieldsBody) (customfield.Fields, error) {
	if err := checkModel(body.Model); err != nil {
		return nil, err
	}
	return s.Fields.Define(ctx, c.Who, body.Changes())
}

func (s customFields) listFields(ctx context.Context, c *edge.Call) (wire.CustomFields, error) {
	if err := checkModel(c.Path("model")); err != nil {
		return wire.CustomFields{}, err
	}
	fields, err := s.Fields.List(ctx, c.Who, c.Query.Get("integration"))
	return wire.NewCustomFields(fields), err
}

func (s customFields) updateFields(ctx context.Context, c *edge.Call, body wire.CustomFieldsBody) (wire.CustomFields, error) {
	if err := checkModel(body.Model); err != nil {
		return wire.CustomFields{}, err
	}
	fields, err := s.Fields.Update(ctx, c.Who, body.Changes())
	return wire.NewCustomFields(fields), err
}

func (s customFields) deleteFields(ctx context.Context, c *edge.Call, body wire.CustomFieldKeysBody) error {
	if err := checkModel(body.Model); err != nil {
		return err
	}
	return s.Fields.Delete(ctx, c.Who, body.Field)
}

func (s customFields) createTemplate(ctx context.Context, c *edge.Call, body wire.NewTemplateBody) (customfield.Template, error) {
	return s.Fields.CreateTemplate(ctx, c.Who, body.Change())
}

func (s customFields) listTemplates(ctx context.Context, c *edge.Call) ([]wire.Template, error) {
	templates, err := s.Fields.Templates(ctx, c.Who)
	return wire.Each(templates, wire.NewTemplate), err
}

func (s customFields) showTemplate(ctx context.Context, c *edge.Call) (wire.Raw[wire.Template], error) {
	return s.Fields.ShowTemplate(ctx, c.Who, lastmile.TemplateID(c.ID()))
}

func (s customFields) updateTemplate(ctx context.Context, c *edge.Call, body wire.TemplateBody) (wire.Template, error) {
	template, err := s.Fields.UpdateTemplate(ctx, c.Who, lastmile.TemplateID(c.ID()), body.Change())
	return wire.NewTemplate(template), err
}

func (s customFields) deleteTemplate(ctx context.Context, c *edge.Call) error {
	return s.Fields.DeleteTemplate(ctx, c.Who, lastmile.TemplateID(c.ID()))
}
