// Package report finds records of an organization by what people type, and reports where
// its workers were and what they did.
package report
