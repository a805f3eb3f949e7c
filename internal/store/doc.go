// Package store has what use cases and the database have in common: how
// transactions run, idempotent requests, filters, and the records that are not
// part of the domain.
//
// Which records a use case reads and saves is declared by the use case, in its
// Reader and Writer. Package sqlstore implements all of them.
//
// A store saves records and knows no rules. Every read names the organization
// on whose behalf it happens. It returns lastmile.OutsideScope for a record of
// another organization, and lastmile.NotFound for one that does not exist.
// Package storetest tests what a store promises.
package store
