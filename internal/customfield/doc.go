// Package customfield contains the rules of custom fields: how organizations define them,
// which values they accept, and the templates that select them for tasks.
package customfield
