package api

import (
	"net/http"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// Revision is the revision of the API that the document describes.
const Revision = "2.6"

// Spec describes the API.
func (s *Server) Spec() edge.API {
	return edge.Document(edge.API{
		Base: Base, Title: "Dray", Version: Revision, Program: s.Version, Idempotent: true,
		Description: "The API of Dray, a self-hosted last-mile delivery platform. Every response and every error has the shape described here; fields that are not described are never sent. Unknown fields in requests are ignored.",
		Security:    edge.Security{Name: "apiKey", Scheme: "basic", Description: "The API key is the user name; the password is empty."},
		Tags:        tags, Paths: pathParameters, Descriptions: wire.Descriptions(),
	}, s.routes())
}

// tags are the resources, in the order of the document.
var tags = []edge.Tag{
	{Name: "Organizations", Description: "The organization that the API key belongs to, and those connected to it."},
	{Name: "Administrators", Description: "People who work with the dashboard and manage teams."},
	{Name: "Destinations", Description: "Places where tasks are done. A destination never changes: a new place is a new destination."},
	{Name: "Recipients", Description: "People tasks are done for. Within an organization the phone number is the person."},
	{Name: "Workers", Description: "The people who do the tasks, their vehicles, their duty and their schedules."},
	{Name: "Teams", Description: "Groups of workers with the administrators who manage them."},
	{Name: "Hubs", Description: "Places where teams start and end their routes."},
	{Name: "Tasks", Description: "Pickups and drop-offs, from their creation to their completion."},
	{Name: "Route plans", Description: "Tasks to be done one after the other, by a worker or a team that may be chosen later."},
	{Name: "Containers", Description: "The ordered lists that tasks are in. Every organization, team and worker has one, and a task that is not completed is in exactly one of them."},
	{Name: "Delivery manifest", Description: "What a worker has to do, for the papers that go along."},
	{Name: "Custom fields", Description: "Fields that an organization adds to its tasks. Tasks keep them as they were when they got their values."},
	{Name: "Task templates", Description: "Choices of custom fields for pickups, for drop-offs or for both."},
	{Name: "Webhooks", Description: "Servers of the organization that are notified of events, one trigger each, and the log of what they were sent."},
	{Name: "Events", Description: "What happens, as it happens."},
	{Name: "Text messages", Description: "What became of invitations of workers and messages to recipients."},
	{Name: "Uploads", Description: "The signatures and photos that workers uploaded. The ids are in completionDetails of tasks."},
}

// pathParameters are the parameters in the paths of routes.
var pathParameters = map[string]edge.PathParameter{
	"id":           {Description: "Id of the record."},
	"jobId":        {Description: "The jobId of the batch."},
	"kind":         {Description: "Whose container it is: organizations, teams or workers.", Example: "workers"},
	"shortId":      {Description: "Short id of the task, eight hexadecimal digits.", Example: "8f2a61c4"},
	"model":        {Description: "The sort of record that has the fields: Task.", Example: "Task"},
	"notification": {Description: "Id of the notification."},
	"name":         {Description: "The name, percent-encoded. Letter case does not matter; of several with the name, the newest is found.", Example: "mary%20seacole"},
	"phone":        {Description: "The phone number, percent-encoded. Without a leading + it is read as a number of the organization's country.", Example: "%2B12125550142"},
}

// DocsHandler serves the reference of the API for people, at /docs.
func (s *Server) DocsHandler() http.Handler {
	return s.PageHandler(s.Spec(), edge.Limits{
		MaxBodyMB: edge.MaxBody >> 20, MaxEntries: lastmile.MaxMetadataEntries,
		MaxMetadataKB: lastmile.MaxMetadataBytes >> 10, MaxNotes: lastmile.MaxNotes,
	})
}
