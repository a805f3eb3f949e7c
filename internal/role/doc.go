// Package role contains what administrators may do: a table with one rule for each
// route of the API. API keys may do everything and are not in it.
//
// Super administrators may do everything. Standard administrators see and change what
// belongs to the teams that they manage: the teams, their workers, and the tasks, route
// plans and dispatches of both. What belongs to no team, such as unassigned tasks,
// recipients and destinations, they share. Read-only administrators change nothing,
// whatever their type.
package role
