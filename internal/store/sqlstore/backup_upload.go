package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"dray/internal/lastmile"
)

// takeIn puts the images that are kept in files into a backup, as if they were
// kept in the database, so that a restore needs nothing else.
func takeIn(ctx context.Context, file string, o Options) error {
	h, err := openHandle(file, false, "journal_mode=MEMORY", "synchronous=OFF")
	if err != nil {
		return err
	}
	defer h.close()
	return h.transact(ctx, func(c conn) error {
		t := &tx{conn: c}
		list, err := tables(ctx, c)
		if err != nil || !has(list, "upload") { // from before there were uploads
			return err
		}
		found, err := t.uploads(ctx, `place = $1 AND state = $2 ORDER BY org, id`, lastmile.UploadsOnDisk, int64(lastmile.UploadStored))
		if err != nil {
			return err
		}
		for _, u := range found {
			if err := t.takeIn(ctx, u, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeIn puts one image into a backup. One that was not handed in may have been
// removed since the backup's moment.
func (t *tx) takeIn(ctx context.Context, u lastmile.Upload, o Options) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := o.Image(ctx, u)
	if errors.Is(err, fs.ErrNotExist) {
		if u.Task != "" && o.Logger != nil {
			o.Logger.Error("an image is missing, and not in the backup", "upload", u.ID, "task", u.Task)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read upload %s: %w", u.ID, err)
	}
	if err := t.SaveUploadBytes(ctx, u.Organization, u.ID, data); err != nil {
		return err
	}
	_, err = t.exec(ctx, `UPDATE upload SET place = $3 WHERE org = $1 AND id = $2`, u.Organization, u.ID, lastmile.UploadsInDatabase)
	return err
}
