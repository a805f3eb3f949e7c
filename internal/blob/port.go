package blob

import (
	"context"

	"dray/internal/lastmile"
)

// Reader has the methods with which the package reads in a transaction.
type Reader interface {
	// UploadBytes returns the bytes of an upload that is stored in the database.
	UploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) ([]byte, error)
}

// Writer has the methods with which the package reads and writes in a transaction.
type Writer interface {
	Reader
	// DeleteUploadBytes deletes the bytes of an upload from the database.
	DeleteUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error
	// SaveUploadBytes saves the bytes of an upload in the database.
	SaveUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID, data []byte) error
}
