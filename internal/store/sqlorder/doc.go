// Package sqlorder has the SQL statements of couriers and their clients: connections,
// clients, delivery services, quotes and orders. Its part is composed with the
// transactions of package sqlstore.
package sqlorder
