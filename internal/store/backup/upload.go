package backup

import (
	"context"
	"errors"
	"io/fs"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/store/engine/sqlite"
	"dray/internal/store/sqlstore"
)

// Image reads an upload that is kept in a file.
type Image func(context.Context, lastmile.Upload) ([]byte, error)

// embedImages copies the images that are kept in files into a backup, so that a restore
// needs no other files.
func embedImages(ctx context.Context, file string, o sqlstore.Options, image Image) error {
	f, err := sqlite.OpenFile(ctx, file, "journal_mode=MEMORY", "synchronous=OFF")
	if err != nil {
		return err
	}
	defer f.Close()
	read := int64(0)
	load := func(ctx context.Context, u lastmile.Upload) ([]byte, error) {
		read++
		o.Report("copying image", read)
		data, err := image(ctx, u)
		// An upload without a task may have been removed since the backup began.
		if errors.Is(err, fs.ErrNotExist) && u.Task != "" && o.Logger != nil {
			o.Logger.Error("an image is missing, and not in the backup", "upload", u.ID, "task", u.Task)
		}
		return data, err
	}
	return f.Write(ctx, func(c engine.Conn) error {
		list, err := engine.Tables(ctx, c)
		if err != nil || !has(list, "upload") { // a schema without uploads
			return err
		}
		return sqlstore.EmbedUploads(ctx, c, load)
	})
}
