package blob

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Table stores bytes in the database, where every node can read them.
type Table struct {
	Store store.Transactor[Reader, Writer]
}

// Put implements upload.Blobs.
func (t Table) Put(ctx context.Context, u lastmile.Upload, data []byte) error {
	return t.Store.Write(ctx, func(w Writer) error { return w.SaveUploadBytes(ctx, u.Organization, u.ID, data) })
}

// Get implements upload.Blobs.
func (t Table) Get(ctx context.Context, u lastmile.Upload) (data []byte, err error) {
	err = t.Store.Read(ctx, func(r Reader) (err error) {
		data, err = r.UploadBytes(ctx, u.Organization, u.ID)
		return err
	})
	return data, err
}

// Remove implements upload.Blobs.
func (t Table) Remove(ctx context.Context, u lastmile.Upload) error {
	return t.Store.Write(ctx, func(w Writer) error { return w.DeleteUploadBytes(ctx, u.Organization, u.ID) })
}
