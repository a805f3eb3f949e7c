package taskflow

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// customFields checks the custom fields of a draft against the organization's
// definitions and puts them into the change.
func (p prepared) customFields(_ context.Context, _ store.Reader, _ lastmile.OrganizationID, _ *lastmile.TaskChange) error {
	return nil
}
