// Package store contains what use cases and the database share: how transactions run,
// idempotent requests, filters, and the records that are not part of the domain.
//
// Each use case declares the records that it reads and saves in its Reader and Writer.
// Package sqlstore implements all of them.
//
// A store saves records and knows no rules. Every read names the organization
// on whose behalf it happens. It returns lastmile.OutsideScope for a record of
// another organization, and lastmile.NotFound for one that does not exist.
// Package storetest tests the contract of a store.
package store
