package api

import (
	"context"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// taskModel is the one sort of record that has custom fields.
const taskModel = "Task"

func (s *Server) customFieldRoutes() []route {
	return tagged("Custom fields",
		post("/customFields", "Define custom fields", wire.CustomFields{}, s.defineFields),
		get("/customFields/{model}", "List custom fields", wire.CustomFields{}, s.listFields,
			parameter{name: "integration", about: "only those that this integration defined"}),
		put("/customFields", "Update custom fields", wire.CustomFields{}, s.updateFields),
		removeWith("/customFields", "Delete custom fields", s.deleteFields),
	)
}

func (s *Server) templateRoutes() []route {
	return tagged("Task templates",
		post("/cfGroups/task", "Create a task template", wire.Template{}, s.createTemplate),
		get("/cfGroups/task", "List task templates", []wire.Template{}, s.listTemplates),
		get("/cfGroups/task/{id}", "Read a task template", wire.Template{}, s.showTemplate),
		put("/cfGroups/task/{id}", "Update a task template", wire.Template{}, s.updateTemplate),
		remove("/cfGroups/task/{id}", "Delete a task template", s.deleteTemplate).silent(),
	)
}

// checkModel refuses records that have no custom fields. Clients write the
// name in two ways.
func checkModel(model string) error {
	switch {
	case model == "":
		return lastmile.Missing("model")
	case !strings.EqualFold(model, taskModel):
		return lastmile.Invalid("model must be %s, not %q", taskModel, clip(model))
	}
	return nil
}

func (s *Server) defineFields(ctx context.Context, c *call, body wire.CustomFieldsBody) (any, error) {
	if err := checkModel(body.Model); err != nil {
		return nil, err
	}
	return s.Tasks.DefineFields(ctx, c.who, body.Changes())
}

func (s *Server) listFields(ctx context.Context, c *call) (any, error) {
	if err := checkModel(c.http.PathValue("model")); err != nil {
		return nil, err
	}
	return s.Tasks.Fields(ctx, c.who, c.query.Get("integration"))
}

func (s *Server) updateFields(ctx context.Context, c *call, body wire.CustomFieldsBody) (any, error) {
	if err := checkModel(body.Model); err != nil {
		return nil, err
	}
	return s.Tasks.UpdateFields(ctx, c.who, body.Changes())
}

func (s *Server) deleteFields(ctx context.Context, c *call, body wire.CustomFieldKeysBody) (any, error) {
	if err := checkModel(body.Model); err != nil {
		return nil, err
	}
	return nil, s.Tasks.DeleteFields(ctx, c.who, body.Field)
}

func (s *Server) createTemplate(ctx context.Context, c *call, body wire.TemplateBody) (any, error) {
	return s.Tasks.CreateTemplate(ctx, c.who, body.Change())
}

func (s *Server) listTemplates(ctx context.Context, c *call) (any, error) {
	return s.Tasks.Templates(ctx, c.who)
}

func (s *Server) showTemplate(ctx context.Context, c *call) (any, error) {
	return s.Tasks.ShowTemplate(ctx, c.who, lastmile.TemplateID(c.id()))
}

func (s *Server) updateTemplate(ctx context.Context, c *call, body wire.TemplateBody) (any, error) {
	return s.Tasks.UpdateTemplate(ctx, c.who, lastmile.TemplateID(c.id()), body.Change())
}

func (s *Server) deleteTemplate(ctx context.Context, c *call) (any, error) {
	return nil, s.Tasks.DeleteTemplate(ctx, c.who, lastmile.TemplateID(c.id()))
}
