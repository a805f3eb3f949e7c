// Package report searches the records of an organization by text, and reports where its
// workers were and what they did.
package report
