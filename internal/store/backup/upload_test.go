package backup

import (
	"context"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func TestBackupHoldsImagesOfFiles(t *testing.T) {
	t.Parallel()
	const org = lastmile.OrganizationID("acme")
	ctx := t.Context()
	upload := func(id, place string, state lastmile.UploadState) lastmile.Upload {
		return lastmile.Upload{
			ID: lastmile.UploadID(id), Organization: org, Worker: "ada", Digest: id, Storage: place, Type: "image/png",
			Created: time.UnixMilli(1), State: state, Task: "task",
		}
	}
	images := map[lastmile.UploadID]string{"filed": "of a file", "arriving": "half of a file"}
	for from, source := range targets(t, nil) {
		for to, target := range targets(t, nil) {
			t.Run(from+" to "+to, func(t *testing.T) {
				o, file := source(t), filepath.Join(t.TempDir(), "backup.db")
				image := func(_ context.Context, u lastmile.Upload) ([]byte, error) {
					if content, ok := images[u.ID]; ok {
						return []byte(content), nil
					}
					return nil, fs.ErrNotExist
				}
				filled, err := sqlstore.Open(ctx, o)
				must(t, err)
				must(t, filled.Write(ctx, func(w *sqlstore.Tx) error {
					for _, u := range []lastmile.Upload{
						upload("filed", "disk", lastmile.UploadStored), upload("lost", "disk", lastmile.UploadStored),
						upload("arriving", "disk", lastmile.UploadPending),
						upload("tabled", "database", lastmile.UploadStored), upload("away", "s3", lastmile.UploadStored),
					} {
						if err := w.SaveUpload(ctx, u); err != nil {
							return err
						}
					}
					return w.SaveUploadBytes(ctx, org, "tabled", []byte("of a table"))
				}))
				must(t, Write(ctx, o, file, image))
				must(t, filled.Close())
				o = target(t)
				must(t, restore(ctx, o, file))
				restored, err := sqlstore.Open(ctx, o)
				must(t, err)
				defer restored.Close()
				for id, want := range map[lastmile.UploadID]struct{ place, bytes string }{
					"filed": {"database", "of a file"}, "lost": {"disk", ""}, "arriving": {"disk", ""}, "tabled": {"database", "of a table"}, "away": {"s3", ""},
				} {
					must(t, restored.Read(ctx, func(r *sqlstore.Tx) error {
						u, err := r.Upload(ctx, org, id)
						must(t, err)
						data, err := r.UploadBytes(ctx, org, id)
						if u.Storage != want.place || string(data) != want.bytes || lastmile.IsNotFound(err) != (want.bytes == "") {
							t.Errorf("%s is restored at %s with %q, %v", id, u.Storage, data, err)
						}
						return nil
					}))
				}
			})
		}
	}
}
