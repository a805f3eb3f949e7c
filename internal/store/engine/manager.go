package engine

// The conditions below are about what administrators may see who manage some teams: what
// belongs to one of the teams, or to none. $1 is the organization, and manager the
// parameter with the administrator. They may be null: negate them with IS NOT TRUE.

// OwnTeams is the teams that an administrator manages.
func OwnTeams(manager string) string {
	return `(SELECT tm.team FROM team_manager tm WHERE tm.org = $1 AND tm.admin = ` + manager + `)`
}

// OwnWorkers is the workers of those teams.
func OwnWorkers(manager string) string {
	return `(SELECT tw.worker FROM team_worker tw JOIN team_manager tm ON tm.org = tw.org AND tm.team = tw.team WHERE tm.org = $1 AND tm.admin = ` + manager + `)`
}

// OwnTask tests a row t of tasks: it is in the list of a team, a worker has it, or it is
// unassigned. Tasks that are placed with another organization belong to no team.
func OwnTask(manager string) string { return ownTask(`t`, manager) }

func ownTask(t, manager string) string {
	return `((` + t + `.org <> $1 OR ` + t + `.container_kind = 'ORGANIZATION' OR ` + t + `.container IN ` + OwnTeams(manager) + ` OR ` + t + `.worker IN ` + OwnWorkers(manager) + `) IS TRUE)`
}

// OfOwnTask tests a row t that has a column with a task.
func OfOwnTask(manager string) string {
	return `EXISTS (SELECT 1 FROM task k WHERE k.org = $1 AND k.id = t.task AND ` + ownTask(`k`, manager) + `)`
}

// OwnPlan tests a row t of route plans.
func OwnPlan(manager string) string {
	return `((t.worker IN ` + OwnWorkers(manager) + ` OR t.team IN ` + OwnTeams(manager) + ` OR (t.worker IS NULL AND t.team IS NULL)) IS TRUE)`
}
