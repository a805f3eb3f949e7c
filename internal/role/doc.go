// Package role defines what administrators may do, with a table of rules for the routes of the
// API. Routes without a rule are for super administrators who are not read-only. API keys may do
// everything and need no rules.
//
// Super administrators may do everything. Standard administrators see and change records that
// belong to the teams that they manage: the teams, their workers, and the tasks, route plans
// and dispatches of both. Records that belong to no team, such as unassigned tasks, recipients
// and destinations, are shared by all. Read-only administrators change nothing, whatever their
// type.
package role
