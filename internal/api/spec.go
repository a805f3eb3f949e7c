package api

import (
	"slices"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// Revision is the revision of the API that the OpenAPI document describes.
const Revision = "2.6"

// Spec describes the API.
func (s *Server) Spec() edge.API {
	return edge.Document(edge.API{
		Base: Base, Title: "Dray", Version: Revision, Program: s.Version, Idempotent: true,
		Description: "The API of Dray, a self-hosted last-mile delivery platform. Every response and every error has the schema described here; fields that are not described are never sent. Unknown fields in requests are ignored.",
		Security:    edge.Security{Name: "apiKey", Scheme: "basic", Description: "The API key is the user name; the password is empty."},
		Tags:        slices.Concat(tags, s.More.Tags), Paths: pathParameters, Descriptions: wire.Descriptions(),
		Variables: variables, SampleIDs: wire.SampleIDs,
	}, s.routes())
}

// tags lists the resources in the order of the OpenAPI document.
var tags = []edge.Tag{
	{Name: "Organizations", Description: "The organization that the API key belongs to, and organizations connected to it."},
	{Name: "Administrators", Description: "People who use the dashboard and manage teams."},
	{Name: "Destinations", Description: "Locations where tasks are carried out. Destinations are immutable: a new location is a new destination."},
	{Name: "Recipients", Description: "People whom tasks are carried out for. Within an organization, the phone number identifies a recipient."},
	{Name: "Workers", Description: "People who carry out tasks, with their vehicles, duty status and schedules."},
	{Name: "Teams", Description: "Groups of workers and the administrators who manage them."},
	{Name: "Hubs", Description: "Locations where teams start and end their routes."},
	{Name: "Tasks", Description: "Pickups and drop-offs, from creation to completion."},
	{Name: "Route plans", Description: "Sequences of tasks for a worker or a team, which can be chosen later."},
	{Name: "Dispatch", Description: "Optimized routes: assigning the tasks of a team to its workers, and the best order for one worker."},
	{Name: "Containers", Description: "Ordered lists of tasks. Every organization, team and worker has a container, and every task that is not completed is in exactly one of them."},
	{Name: "Delivery manifest", Description: "Printable lists of a worker's tasks."},
	{Name: "Custom fields", Description: "Fields that an organization adds to its tasks. A task keeps the definition that a field had when its value was set."},
	{Name: "Task templates", Description: "Selections of custom fields for pickups, drop-offs or both."},
	{Name: "Webhooks", Description: "Servers of the organization that are notified of events, one trigger each, and the log of their notifications."},
	{Name: "Events", Description: "The stream of events of the organization."},
	{Name: "Addresses", Description: "Completing addresses, and finding the address at a location."},
	{Name: "Uploads", Description: "Signatures and photos uploaded by workers. Their IDs are in the completionDetails of tasks."},
}

// pathParameters describes the parameters in paths, by name.
var pathParameters = map[string]edge.PathParameter{
	"id":           {Description: "ID of the record."},
	"jobId":        {Description: "ID of the batch: the jobId of the response that accepted it."},
	"kind":         {Description: "Type of the container's owner: organizations, teams or workers.", Example: "workers"},
	"shortId":      {Description: "Short ID of the task: eight hexadecimal digits."},
	"model":        {Description: "Type of record that the fields belong to: Task.", Example: "Task"},
	"notification": {Description: "ID of the notification."},
	"name":         {Description: "Name of the recipient, percent-encoded and not case-sensitive. If several recipients match, the newest is returned.", Example: "mary%20seacole"},
	"phone":        {Description: "Phone number, percent-encoded. Without a leading +, it is interpreted as a number of the organization's country.", Example: "%2B12125550142"},
}

// variables names the shell variables of ids in the reference, by the segment before them.
var variables = map[string]string{
	"cfGroups": "TEMPLATE", "task": "TEMPLATE", "containers": "WORKER", "deliveryServices": "SERVICE", "taskOrders": "ORDER",
}

// Limits are the limits that the documentation mentions.
func Limits() edge.Limits {
	return edge.Limits{
		MaxBodyMB: edge.MaxBody >> 20, MaxEntries: lastmile.MaxMetadataEntries,
		MaxMetadataKB: lastmile.MaxMetadataBytes >> 10, MaxNotes: lastmile.MaxNotes,
	}
}
