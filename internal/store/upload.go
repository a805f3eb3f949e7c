package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Uploads is the kind of uploads.
const Uploads Kind = "upload"

// UploadReader reads what is known of uploads, and the bytes of those that are
// kept in the database.
type UploadReader interface {
	Upload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (lastmile.Upload, error)
	// UnusedUploads lists what a worker has not handed in yet, oldest first.
	UnusedUploads(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) ([]lastmile.Upload, error)
	// StaleUploads lists uploads of all organizations that were made before a
	// time and not handed in, up to limit of them.
	StaleUploads(ctx context.Context, before time.Time, limit int) ([]lastmile.Upload, error)

	// UploadBytes reads the bytes of an upload that are in the database.
	UploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) ([]byte, error)
}

// UploadWriter saves uploads.
type UploadWriter interface {
	SaveUpload(ctx context.Context, u lastmile.Upload) error
	DeleteUpload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error

	SaveUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID, data []byte) error
	DeleteUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error
}
