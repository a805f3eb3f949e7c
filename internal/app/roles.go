package app

import (
	"dray/internal/access"
	"dray/internal/role"
	"dray/internal/store/sqlrole"
	"dray/internal/store/sqlstore"
)

// roleTx is a transaction that knows to which teams records belong.
type roleTx struct {
	*sqlstore.Tx
	sqlrole.Part
}

func withRoles(t *sqlstore.Tx) roleTx { return roleTx{t, sqlrole.New(t.Conn())} }

func newRoles(db *sqlstore.Store) *access.Roles {
	return &access.Roles{Rules: role.Table, Store: sqlstore.With[access.RoleReader, access.RoleReader](db, withRoles)}
}
