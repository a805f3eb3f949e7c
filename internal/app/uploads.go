package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dray/internal/blob"
	"dray/internal/lastmile"
	"dray/internal/upload"
)

// The places of uploads, as --uploads and the records of uploads name them.
const (
	onDisk     = lastmile.UploadsOnDisk
	inDatabase = lastmile.UploadsInDatabase
	inS3       = "s3"
)

// uploadFolder keeps images on disk.
func (c *Config) UploadFolder() blob.Folder {
	return blob.Folder{Path: filepath.Join(c.Data, "uploads")}
}

// checkUploads refuses a place that is none.
func checkUploads(place string) error {
	if place == "" || place == onDisk || place == inDatabase || strings.HasPrefix(place, inS3+":") {
		return nil
	}
	return fmt.Errorf("--uploads must be disk, database or s3://bucket/prefix?region=…, not %q", place)
}

// addUploads puts together what keeps the images that workers send.
func (a *App) addUploads(newID func() string) error {
	places := map[string]upload.Bytes{
		onDisk:     a.Config.UploadFolder(),
		inDatabase: blob.Table{Store: a.Store},
	}
	place := a.Config.Uploads
	switch {
	case strings.HasPrefix(place, inS3+":"):
		keys := blob.S3Keys{
			ID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
		}
		bucket, err := blob.OpenS3(place, keys, a.Now)
		if err != nil {
			return fmt.Errorf("--uploads: %w", err)
		}
		places[inS3], place = bucket, inS3
	case place == "" && a.Store.Engine() == "sqlite":
		place = onDisk
	case place == "":
		place = inDatabase // another node may be asked for it
	}
	a.Uploads = upload.New(a.Store, places, place, a.Now, newID)
	return nil
}
