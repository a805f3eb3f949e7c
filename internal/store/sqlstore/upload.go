package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

const uploadColumns = `SELECT org, id, worker, digest, place, media_type, size, created, state, task FROM upload WHERE `

func scanUpload(r rows) (u lastmile.Upload, err error) {
	var (
		created, state int64
		task           *string
	)
	err = r.Scan(&u.Organization, &u.ID, &u.Worker, &u.Digest, &u.Storage, &u.Type, &u.Size, &created, &state, &task)
	u.Created, u.State = time.UnixMilli(created).UTC(), lastmile.UploadState(state)
	if task != nil {
		u.Task, u.Logo = lastmile.TaskID(*task), *task == ""
	}
	return u, err
}

func (t uploadTx) uploads(ctx context.Context, where string, args ...any) ([]lastmile.Upload, error) {
	found, err := collect(ctx, t, scanUpload, uploadColumns+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read uploads: %w", err)
	}
	return found, nil
}

// Upload returns the record of an upload.
func (t uploadTx) Upload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (lastmile.Upload, error) {
	found, err := t.uploads(ctx, `org = $1 AND id = $2`, org, id)
	return only(ctx, t.base, store.Uploads, string(id), found, err)
}

// VisibleUpload returns the record of an upload of the organization, or of a task that
// it placed with another.
func (t uploadTx) VisibleUpload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (lastmile.Upload, error) {
	found, err := t.uploads(ctx, `org = $1 AND id = $2`, org, id)
	if err == nil && len(found) == 0 {
		found, err = t.uploads(ctx, `id = $2 AND EXISTS (SELECT 1 FROM task k WHERE k.org = upload.org AND k.id = upload.task AND k.origin = $1)`, org, id)
	}
	return only(ctx, t.base, store.Uploads, string(id), found, err)
}

// UnusedUploads lists a worker's uploads that are not attached to a task,
// oldest first.
func (t uploadTx) UnusedUploads(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) ([]lastmile.Upload, error) {
	return t.uploads(ctx, `org = $1 AND worker = $2 AND task IS NULL ORDER BY created, id`, org, worker)
}

// StaleUploads lists at most most uploads of all organizations that are older than a time
// and not attached to a task, oldest first. It begins after another upload.
func (t uploadTx) StaleUploads(ctx context.Context, after lastmile.Upload, before time.Time, most int) ([]lastmile.Upload, error) {
	return t.uploads(ctx, `created < $1 AND (created, id) > ($2, $3) AND task IS NULL ORDER BY created, id`+limit(most),
		before.UnixMilli(), after.Created.UnixMilli(), after.ID)
}

// SaveUpload saves the record of an upload. The column task is null for an upload
// that nothing uses, and empty for a logo.
func (t uploadTx) SaveUpload(ctx context.Context, u lastmile.Upload) error {
	task := orNull(string(u.Task))
	if u.Logo {
		task = new("")
	}
	const query = `
		INSERT INTO upload (org, id, worker, digest, place, media_type, size, created, state, task)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (org, id) DO UPDATE SET media_type = excluded.media_type, size = excluded.size, state = excluded.state, task = excluded.task`
	_, err := t.exec(ctx, query, u.Organization, u.ID, u.Worker, u.Digest, u.Storage, u.Type, u.Size, u.Created.UnixMilli(),
		int64(u.State), task)
	if err != nil {
		return fmt.Errorf("save upload %s: %w", u.ID, err)
	}
	return nil
}

// DeleteUpload deletes the record of an upload.
func (t uploadTx) DeleteUpload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error {
	return t.erase(ctx, org, string(id), [2]string{"upload", "id"})
}

// UploadBytes returns the bytes of an upload that is stored in the database.
func (t uploadTx) UploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (data []byte, err error) {
	err = t.row(ctx, `SELECT data FROM upload_bytes WHERE org = $1 AND id = $2`, org, id).Scan(&data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, lastmile.NotFound("upload", string(id))
	case err != nil:
		return nil, fmt.Errorf("read bytes of upload %s: %w", id, err)
	}
	return data, nil
}

// SaveUploadBytes saves the bytes of an upload in the database.
func (t uploadTx) SaveUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID, data []byte) error {
	const query = `
		INSERT INTO upload_bytes (org, id, data) VALUES ($1, $2, $3)
		ON CONFLICT (org, id) DO UPDATE SET data = excluded.data`
	if _, err := t.exec(ctx, query, org, id, data); err != nil {
		return fmt.Errorf("save bytes of upload %s: %w", id, err)
	}
	return nil
}

// DeleteUploadBytes deletes the bytes of an upload from the database.
func (t uploadTx) DeleteUploadBytes(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error {
	return t.erase(ctx, org, string(id), [2]string{"upload_bytes", "id"})
}

// DeleteImage deletes an upload that is stored in the database, and its record.
func (t uploadTx) DeleteImage(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error {
	return t.erase(ctx, org, string(id), [2]string{"upload_bytes", "id"}, [2]string{"upload", "id"})
}

// EmbedUploads copies the images that are kept in files into the database of c, so that it
// needs no other files. load reads an image; images for which it returns fs.ErrNotExist
// are skipped.
func EmbedUploads(ctx context.Context, c engine.Conn, load func(context.Context, lastmile.Upload) ([]byte, error)) error {
	t := uploadTx{&base{conn: newConn(c)}}
	found, err := t.uploads(ctx, `place = $1 AND state = $2 ORDER BY org, id`, lastmile.UploadsOnDisk, int64(lastmile.UploadStored))
	if err != nil {
		return err
	}
	for _, u := range found {
		if err := t.embedUpload(ctx, u, load); err != nil {
			return err
		}
	}
	return nil
}

// embedUpload copies one image into the database.
func (t uploadTx) embedUpload(ctx context.Context, u lastmile.Upload, load func(context.Context, lastmile.Upload) ([]byte, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := load(ctx, u)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read upload %s: %w", u.ID, err)
	}
	if err := t.SaveUploadBytes(ctx, u.Organization, u.ID, data); err != nil {
		return err
	}
	_, err = t.exec(ctx, `UPDATE upload SET place = $3 WHERE org = $1 AND id = $2`, u.Organization, u.ID, lastmile.UploadsInDatabase)
	return err
}
