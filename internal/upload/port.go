package upload

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Reader has the methods with which the package reads in a transaction.
type Reader interface {
	// Organization returns an organization.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// StaleUploads lists up to limit uploads of all organizations that are older than a time
	// and not attached to a task, oldest first. It begins after another upload.
	StaleUploads(ctx context.Context, after lastmile.Upload, before time.Time, limit int) ([]lastmile.Upload, error)
	// UnusedUploads lists a worker's uploads that are not attached to a task,
	// oldest first.
	UnusedUploads(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) ([]lastmile.Upload, error)
	// VisibleUpload returns the record of an upload of the organization, or of a task that the
	// organization placed with another.
	VisibleUpload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (lastmile.Upload, error)
}

// Writer has the methods with which the package reads and writes in a transaction.
type Writer interface {
	Reader
	// DeleteUpload deletes the record of an upload.
	DeleteUpload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error
	// DeleteUploadBytes deletes the bytes of an upload from the database.
	DeleteUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error
	// SaveOrganization saves an organization.
	SaveOrganization(ctx context.Context, o lastmile.Organization) error
	// SaveUploadBytes saves the bytes of an upload in the database.
	SaveUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID, data []byte) error
	// SaveUpload saves the record of an upload.
	SaveUpload(ctx context.Context, u lastmile.Upload) error
}
