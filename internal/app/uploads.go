package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dray/internal/blob"
	"dray/internal/lastmile"
	"dray/internal/upload"
)

// Names of the storage of uploads, in --uploads and in the records of uploads.
const (
	onDisk     = lastmile.UploadsOnDisk
	inDatabase = lastmile.UploadsInDatabase
	inS3       = "s3"
)

// UploadFolder stores images on disk.
func (c *Config) UploadFolder() blob.Folder {
	return blob.Folder{Path: filepath.Join(c.Data, "uploads")}
}

// checkUploads rejects a value of --uploads that names no storage.
func checkUploads(place string) error {
	if place == "" || place == onDisk || place == inDatabase || strings.HasPrefix(place, inS3+":") {
		return nil
	}
	return fmt.Errorf("--uploads must be disk, database or s3://bucket/prefix?region=…, not %q", place)
}

// addUploads sets up the storage of images that workers send. A server must have
// credentials for its bucket; other commands do not use it.
func (a *App) addUploads(ctx context.Context, newID func() string, serve bool) error {
	blobs := map[string]upload.Blobs{
		onDisk:     a.Config.UploadFolder(),
		inDatabase: blob.Table{Store: a.Store},
	}
	place := a.Config.Uploads
	switch {
	case strings.HasPrefix(place, inS3+":"):
		bucket, err := blob.OpenS3(blob.S3Options{Location: place, Getenv: os.Getenv, Now: a.Now})
		if err == nil && serve {
			err = bucket.CheckCredentials(ctx)
		}
		if err != nil {
			return fmt.Errorf("--uploads: %w", err)
		}
		blobs[inS3], place = bucket, inS3
	case place == "" && a.Store.Engine() == "sqlite":
		place = onDisk
	case place == "":
		place = inDatabase // every node can read it
	}
	a.Uploads = upload.New(a.Store, blobs, place, a.Now, newID)
	return nil
}
