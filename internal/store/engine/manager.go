package engine

// The conditions below select what administrators who manage only some teams may see: the
// records of these teams, and those of no team. $1 is the organization, and manager the
// parameter with the administrator.

// OwnTeams selects the teams that an administrator manages.
func OwnTeams(manager string) string {
	return `(SELECT tm.team FROM team_manager tm WHERE tm.org = $1 AND tm.admin = ` + manager + `)`
}

// OwnWorkers selects the workers of the teams that an administrator manages.
func OwnWorkers(manager string) string {
	return `(SELECT tw.worker FROM team_worker tw JOIN team_manager tm ON tm.org = tw.org AND tm.team = tw.team WHERE tm.org = $1 AND tm.admin = ` + manager + `)`
}

// OwnTask tests a row t of table task: it is in the list of an own team, an own worker has
// it, or it is in the organization's container. Tasks placed with another organization
// belong to no team.
func OwnTask(manager string) string { return ownTask(`t`, manager) }

func ownTask(t, manager string) string {
	return `((` + t + `.org <> $1 OR ` + t + `.container_kind = 'ORGANIZATION' OR ` + t + `.container IN ` + OwnTeams(manager) + ` OR ` + t + `.worker IN ` + OwnWorkers(manager) + `) IS TRUE)`
}

// OfOwnTask tests a row t with a column task: that task is visible as by OwnTask.
func OfOwnTask(manager string) string {
	return `EXISTS (SELECT 1 FROM task k WHERE k.org = $1 AND k.id = t.task AND ` + ownTask(`k`, manager) + `)`
}

// OwnPlan tests a row t of table route_plan.
func OwnPlan(manager string) string {
	return `((t.worker IN ` + OwnWorkers(manager) + ` OR t.team IN ` + OwnTeams(manager) + ` OR (t.worker IS NULL AND t.team IS NULL)) IS TRUE)`
}
