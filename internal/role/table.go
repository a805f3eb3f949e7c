package role

// A rule of each level, to which places can be added.
var (
	manage  = Rule{Level: Manage}
	inspect = Rule{Level: Inspect}
	change  = Rule{Level: Change}
	view    = Rule{Level: View}
)

// task adds the places of a task in a body, such as body.tasks[]. for prefix.
func (r Rule) task(prefix string) Rule {
	return r.
		at(Worker, prefix+"container.worker", prefix+"autoAssign.excludedWorkerIds[]").
		at(Team, prefix+"container.team", prefix+"autoAssign.team", prefix+"autoAssign.teams[]").
		at(Task, prefix+"dependencies[]")
}

// Table has the rule of every route of the API, by method and path.
var Table = map[string]Rule{
	"GET /auth/test":                 view,
	"GET /organization":              view,
	"GET /organizations/{id}":        view,
	"GET /organization/trackingPage": inspect,
	"PUT /organization/trackingPage": manage,
	"GET /organization/replanning":   inspect,
	"PUT /organization/replanning":   manage,
	"GET /organization/settings":     inspect,
	"PUT /organization/settings":     manage,
	"PUT /organization/logo":         manage,
	"DELETE /organization/logo":      manage,

	"POST /admins":          manage,
	"GET /admins":           inspect,
	"PUT /admins/{id}":      manage,
	"DELETE /admins/{id}":   manage,
	"POST /admins/metadata": inspect,

	"POST /admins/{id}/invitation": manage,
	"POST /admins/{id}/reset":      manage,
	"DELETE /admins/{id}/sessions": manage,

	"GET /apiKeys":         inspect,
	"POST /apiKeys":        manage,
	"PUT /apiKeys/{id}":    manage,
	"DELETE /apiKeys/{id}": manage,

	"POST /organization/webhookSecret": manage,

	"GET /board":           view.filtered().at(Team, "query.teams[]"),
	"GET /board/history":   view.filtered().at(Team, "query.teams[]"),
	"GET /board/positions": view.filtered(),
	"GET /analytics":       view.filtered(),
	"GET /search":          view.filtered(),

	"POST /destinations":            change,
	"GET /destinations/{id}":        view,
	"POST /destinations/metadata":   view,
	"POST /recipients":              change,
	"GET /recipients/{id}":          view,
	"GET /recipients/name/{name}":   view,
	"GET /recipients/phone/{phone}": view,
	"PUT /recipients/{id}":          change,
	"POST /recipients/metadata":     view,
	"GET /geocode":                  view,
	"GET /route":                    view,
	"GET /hubs":                     view,
	"POST /hubs":                    manage,
	"PUT /hubs/{id}":                manage,
	"POST /customFields":            manage,
	"GET /customFields/{model}":     view,
	"PUT /customFields":             manage,
	"DELETE /customFields":          manage,
	"POST /cfGroups/task":           manage,
	"GET /cfGroups/task":            view,
	"GET /cfGroups/task/{id}":       view,
	"PUT /cfGroups/task/{id}":       manage,
	"DELETE /cfGroups/task/{id}":    manage,
	"GET /messages":                 view.filtered(),

	"GET /messages/replies":            inspect,
	"GET /messages/optOuts":            inspect,
	"DELETE /messages/optOuts/{phone}": manage,
	"GET /messages/templates":          view,
	"PUT /messages/templates":          manage,
	"POST /messages/templates/preview": view,

	"GET /uploads/{id}": view.at(Upload, "path.id"),
	"GET /events":       view.filtered(),
	"GET /events/log":   view.filtered(),

	"POST /workers":                 change.at(Team, "body.teams[]"),
	"GET /workers":                  view.filtered().at(Team, "query.teams[]"),
	"GET /workers/location":         view.filtered(),
	"GET /workers/{id}":             view.at(Worker, "path.id"),
	"PUT /workers/{id}":             change.at(Worker, "path.id").at(TeamsOfWorker, "body.teams[]"),
	"DELETE /workers/{id}":          change.at(AllOfWorker, "path.id"),
	"PUT /workers/{id}/image":       change.at(Worker, "path.id"),
	"DELETE /workers/{id}/image":    change.at(Worker, "path.id"),
	"POST /workers/{id}/invite":     change.at(Worker, "path.id"),
	"POST /workers/{id}/invitation": change.at(Worker, "path.id"),
	"DELETE /workers/{id}/sessions": change.at(Worker, "path.id"),
	"GET /workers/{id}/schedule":    view.at(Worker, "path.id"),
	"POST /workers/{id}/schedule":   change.at(Worker, "path.id"),
	"GET /workers/{id}/tasks":       view.at(Worker, "path.id"),
	"GET /workers/{id}/positions":   view.at(Worker, "path.id"),
	"GET /workers/{id}/stops":       view.at(Worker, "path.id"),
	"POST /workers/metadata":        view.filtered(),
	"POST /workers/{id}/dispatch":   change.at(Worker, "path.id"),
	"POST /workers/{id}/preview":    view.at(Worker, "path.id").at(Task, "body.tasks[]"),

	"POST /teams":                manage,
	"GET /teams":                 view.filtered(),
	"GET /teams/{id}":            view.at(Team, "path.id"),
	"PUT /teams/{id}":            change.at(Team, "path.id").at(Worker, "body.workers[]").at(ManagersOfTeam, "body.managers[]"),
	"DELETE /teams/{id}":         manage,
	"GET /teams/{id}/tasks":      view.at(Team, "path.id"),
	"GET /teams/{id}/estimate":   view.at(Team, "path.id"),
	"POST /teams/metadata":       view.filtered(),
	"POST /teams/{id}/dispatch":  change.at(Team, "path.id"),
	"GET /teams/{id}/dispatches": view.at(Team, "path.id"),

	"GET /dispatches/{id}":          view.at(Dispatch, "path.id"),
	"POST /dispatches/{id}/stop":    change.at(Dispatch, "path.id"),
	"POST /dispatches/{id}/apply":   change.at(Dispatch, "path.id"),
	"POST /dispatches/{id}/discard": change.at(Dispatch, "path.id"),
	"POST /dispatches/{id}/undone":  change.at(Dispatch, "path.id"),

	"POST /tasks":                  change.task("body."),
	"GET /tasks":                   view.filtered().at(Worker, "query.worker").at(Container, "query.containers[]"),
	"GET /tasks/all":               view.filtered().at(Worker, "query.worker").at(Container, "query.containers[]"),
	"GET /tasks/{id}":              view.at(Task, "path.id"),
	"GET /tasks/shortId/{shortId}": view.at(ShortID, "path.shortId"),
	"PUT /tasks/{id}":              change.at(Task, "path.id").task("body."),
	"DELETE /tasks/{id}":           change.at(Task, "path.id"),
	"POST /tasks/{id}/complete":    change.at(Task, "path.id"),
	"POST /tasks/{id}/clone":       change.at(Task, "path.id").task("body.overrides.").task("body.options.overrides."),
	"GET /tasks/{id}/explanation":  view.at(Task, "path.id"),
	"GET /tasks/{id}/history":      view.at(Task, "path.id"),
	"GET /tasks/{id}/pin":          view.at(Task, "path.id"),
	"PUT /tasks/{id}/pin":          change.at(Task, "path.id"),
	"DELETE /tasks/{id}/pin":       change.at(Task, "path.id"),
	"POST /tasks/autoAssign": change.at(Task, "body.tasks[]").at(Team, "body.options.team", "body.options.teams[]").
		at(Worker, "body.options.excludedWorkerIds[]"),
	"POST /tasks/metadata":     view.filtered(),
	"POST /tasks/batch":        change.task("body.tasks[]."),
	"POST /tasks/batch-async":  change.task("body.tasks[]."),
	"GET /tasks/batch/{jobId}": view.at(Batch, "path.jobId"),

	"POST /routePlans":           change.at(Worker, "body.worker").at(Team, "body.team").at(Task, "body.tasks[]", "body.taskIds[]"),
	"GET /routePlans":            view.filtered().at(Worker, "query.workerId"),
	"GET /routePlans/all":        view.filtered().at(Worker, "query.workerId"),
	"GET /routePlans/{id}":       view.at(Plan, "path.id"),
	"PUT /routePlans/{id}":       change.at(Plan, "path.id").at(Worker, "body.worker").at(Team, "body.team").at(Task, "body.tasks[]", "body.taskIds[]"),
	"PUT /routePlans/{id}/tasks": change.at(Plan, "path.id").at(Task, "body.tasks[]", "body.taskIds[]"),
	"DELETE /routePlans/{id}":    change.at(Plan, "path.id"),

	"GET /containers/{kind}/{id}": view.at(Container, "path.id"),
	"PUT /containers/{kind}/{id}": change.at(Container, "path.id").at(Task, "body.tasks[]"),
	"PUT /containers/{id}":        change.at(Container, "path.id").at(Task, "body.tasks[]"),

	"GET /integrations/manifest/generate": view.at(Worker, "query.workerId"),
	"POST /integrations/marketplace":      view.at(Worker, "body.path?workerId"),

	"GET /audit":    inspect,
	"GET /triggers": view,

	"POST /webhooks":        manage,
	"GET /webhooks":         inspect,
	"PUT /webhooks/{id}":    manage,
	"DELETE /webhooks/{id}": manage,

	"POST /webhooks/{id}/redeliver":    manage,
	"POST /webhooks/{id}/test":         manage,
	"GET /webhooks/{id}/notifications": inspect,
	"GET /tasks/{id}/notifications":    inspect,

	"GET /webhooks/{id}/notifications/{notification}":            inspect,
	"POST /webhooks/{id}/notifications/{notification}/redeliver": manage,

	"POST /clients":                         manage,
	"GET /clients":                          inspect,
	"GET /clients/{id}":                     inspect,
	"PUT /clients/{id}":                     manage,
	"DELETE /clients/{id}":                  manage,
	"GET /clients/invitations":              inspect,
	"POST /clients/invitations/{id}/accept": manage,
	"PUT /clients/invitations/{id}":         manage,
	"DELETE /clients/invitations/{id}":      manage,
	"POST /deliveryServices":                manage,
	"GET /deliveryServices":                 inspect,
	"GET /deliveryServices/{id}":            inspect,
	"PUT /deliveryServices/{id}":            manage,
	"DELETE /deliveryServices/{id}":         manage,
	"POST /deliveryServices/quote":          manage,
	"GET /deliveryServices/quote":           manage,
	"POST /taskOrders":                      manage,
	"GET /taskOrders":                       inspect,
	"GET /taskOrders/{id}":                  inspect,
	"PUT /taskOrders/{id}":                  manage,
	"POST /taskOrders/cancel":               manage,
	"POST /taskOrders/{id}/clone":           manage,
	"POST /taskOrders/{id}/reject":          manage,
}
