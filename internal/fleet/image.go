package fleet

import (
	"context"
	"strings"

	"dray/internal/lastmile"
)

// uploadPath is the path at which the API serves uploads.
const uploadPath = "/api/v2/uploads/"

// CheckWorker rejects the id of a worker that the organization does not have.
func (f *Fleet) CheckWorker(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) error {
	return f.Store.Read(ctx, func(r Reader) error {
		_, err := r.Worker(ctx, who.Organization, id)
		return err
	})
}

// SetImage makes an upload the photo of a worker, in place of the former one.
func (f *Fleet) SetImage(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, photo lastmile.Upload) error {
	photo.Logo = true // it is in use
	return f.changeImage(ctx, who, id, f.PublicURL+uploadPath+string(photo.ID), func(w Writer) error { return w.SaveUpload(ctx, photo) })
}

// RemoveImage removes the photo of a worker, if there is one.
func (f *Fleet) RemoveImage(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) error {
	return f.changeImage(ctx, who, id, "", func(Writer) error { return nil })
}

func (f *Fleet) changeImage(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, url string, save func(Writer) error) error {
	now := f.Now()
	return f.Store.Write(ctx, func(w Writer) error {
		worker, err := w.Worker(ctx, who.Organization, id)
		if err != nil || worker.ImageURL == url {
			return err
		}
		if err := deleteImage(ctx, w, worker); err != nil {
			return err
		}
		if err := save(w); err != nil {
			return err
		}
		worker.SetImage(url, now)
		if err := w.SaveWorker(ctx, worker); err != nil {
			return err
		}
		return f.appendEvent(ctx, w, who, lastmile.TriggerWorkerUpdated, worker, now)
	})
}

// deleteImage deletes the photo of a worker, if there is one.
func deleteImage(ctx context.Context, w Writer, worker lastmile.Worker) error {
	_, id, found := strings.Cut(worker.ImageURL, uploadPath)
	if !found {
		return nil
	}
	return w.DeleteImage(ctx, worker.Organization, lastmile.UploadID(id))
}
