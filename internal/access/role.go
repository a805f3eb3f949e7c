package access

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/role"
	"dray/internal/store"
)

// RoleReader is what Roles reads in a transaction.
type RoleReader interface {
	// Foreign returns the first of the named ids that belongs to a record of the
	// organization in teams that the administrator does not manage; "" if there is
	// none.
	Foreign(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, at role.Named) (string, error)
}

// Roles checks what administrators may do.
type Roles struct {
	Rules map[string]role.Rule // by the method and path of the route
	Store store.Transactor[RoleReader, RoleReader]
}

// Scope rejects a request that names records of teams that the administrator does not
// manage. The use case rejects records that do not exist or belong to another organization.
func (rs *Roles) Scope(ctx context.Context, who lastmile.Principal, named []role.Named) error {
	return rs.Store.Read(ctx, func(r RoleReader) error {
		for _, at := range named {
			id, err := r.Foreign(ctx, who.Organization, who.Manager(), at)
			if err != nil {
				return err
			}
			if id != "" {
				return role.Foreign(at, id)
			}
		}
		return nil
	})
}
