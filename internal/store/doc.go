// Package store is the storage port: what the rest of Dray may ask of a
// database, whichever it is.
//
// A store keeps records and knows no rules. Every read names the organization
// that asks, and a record that is not that organization's is told apart from
// one that does not exist: the first is lastmile.OutsideScope, the second
// lastmile.NotFound. Package storetest holds what every store must do.
package store
