package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dray/internal/blob"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/upload"
)

// Where uploads are stored, as named in --uploads and in the records of uploads.
const (
	onDisk     = lastmile.UploadsOnDisk
	inDatabase = lastmile.UploadsInDatabase
	inS3       = "s3"
)

// UploadFolder returns the storage of images on disk.
func (c *Config) UploadFolder() blob.Folder {
	return blob.Folder{Path: filepath.Join(c.Data, "uploads")}
}

// checkUploads rejects a value of --uploads that does not name a storage.
func checkUploads(storage string) error {
	if storage == "" || storage == onDisk || storage == inDatabase || strings.HasPrefix(storage, inS3+":") {
		return nil
	}
	return fmt.Errorf("--uploads must be disk, database or s3://bucket/prefix?region=…, not %q", storage)
}

// addUploads sets up the storage of images that workers send. A server must have
// credentials for its bucket; other commands do not use it.
func (a *App) addUploads(ctx context.Context, newID func() string, serve bool) error {
	blobs := map[string]upload.Blobs{
		onDisk:     a.Config.UploadFolder(),
		inDatabase: blob.Table{Store: sqlstore.For[blob.Reader, blob.Writer](a.Store)},
	}
	storage := a.Config.Uploads
	switch {
	case strings.HasPrefix(storage, inS3+":"):
		bucket, err := blob.OpenS3(blob.S3Options{Location: storage, Getenv: os.Getenv, Now: a.Now})
		if err == nil && serve {
			err = bucket.CheckCredentials(ctx)
		}
		if err != nil {
			return fmt.Errorf("--uploads: %w", err)
		}
		blobs[inS3], storage = bucket, inS3
	case storage == "" && a.Store.Engine() == "sqlite":
		storage = onDisk
	case storage == "":
		storage = inDatabase // every node can read the database
	}
	a.Uploads = upload.New(sqlstore.For[upload.Reader, upload.Writer](a.Store), blobs, storage, a.Now, newID)
	return nil
}
