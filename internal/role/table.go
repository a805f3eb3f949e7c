package role

// Rules to which places can be added.
var (
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

// Table has the rules of routes of the API, by method and path. Routes that are not in it
// require Manage.
var Table = map[string]Rule{
	"GET /auth/test":                 view,
	"GET /organization":              view,
	"GET /organizations/{id}":        view,
	"GET /organization/trackingPage": inspect,
	"GET /organization/replanning":   inspect,
	"GET /organization/settings":     inspect,

	"GET /admins":           inspect,
	"POST /admins/metadata": inspect,

	"GET /apiKeys": inspect,

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
	"GET /customFields/{model}":     view,
	"GET /cfGroups/task":            view,
	"GET /cfGroups/task/{id}":       view,
	"GET /messages":                 view.filtered(),

	"GET /messages/replies":            inspect,
	"GET /messages/optOuts":            inspect,
	"GET /messages/templates":          view,
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

	"GET /teams":                 view.filtered(),
	"GET /teams/{id}":            view.at(Team, "path.id"),
	"PUT /teams/{id}":            change.at(Team, "path.id").at(Worker, "body.workers[]").at(ManagersOfTeam, "body.managers[]"),
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

	"GET /webhooks": inspect,

	"GET /webhooks/{id}/notifications": inspect,
	"GET /tasks/{id}/notifications":    inspect,

	"GET /webhooks/{id}/notifications/{notification}": inspect,

	"GET /clients":               inspect,
	"GET /clients/{id}":          inspect,
	"GET /clients/invitations":   inspect,
	"GET /deliveryServices":      inspect,
	"GET /deliveryServices/{id}": inspect,
	"GET /taskOrders":            inspect,
	"GET /taskOrders/{id}":       inspect,
}
