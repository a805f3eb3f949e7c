package sqlstore

import (
	"context"

	"dray/internal/store/engine/postgres"
)

// DataVersion returns a value that changes whenever another process has committed
// something. Commits of this process may change it too, on PostgreSQL.
func (s *Store) DataVersion(ctx context.Context) (string, error) { return s.engine.DataVersion(ctx) }

// Relay returns what connects the processes that use the database, or nil if the
// database offers nothing of the kind. It is closed with the store.
func (s *Store) Relay() *postgres.Relay {
	if e, ok := s.engine.(*postgres.Engine); ok {
		return e.Relay()
	}
	return nil
}
