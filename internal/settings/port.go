package settings

import (
	"context"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// MessageSettings returns the settings of an organization for its text
	// messages.
	MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error)
	// Organization returns an organization without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// PageSettings returns the settings of an organization for tracking pages.
	PageSettings(ctx context.Context, org lastmile.OrganizationID) (lastmile.PageSettings, error)
	// Replanning returns how an organization has routes planned again.
	Replanning(ctx context.Context, org lastmile.OrganizationID) (assignment.Replanning, error)
	// Settings returns the settings of an organization.
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
	// Trips returns an organization's latest trips.
	Trips(ctx context.Context, org lastmile.OrganizationID, most int) ([]lastmile.Trip, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	// SaveMessageSettings saves the settings of an organization for its text
	// messages.
	SaveMessageSettings(ctx context.Context, s textmessage.Settings) error
	// SaveOrganization saves an organization.
	SaveOrganization(ctx context.Context, o lastmile.Organization) error
	// SavePageSettings saves the settings of an organization for tracking pages.
	SavePageSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.PageSettings) error
	// SaveReplanning saves how an organization has routes planned again.
	SaveReplanning(ctx context.Context, org lastmile.OrganizationID, s assignment.Replanning) error
	// SaveSettings saves the settings of an organization.
	SaveSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.Settings) error
}
