package api

import (
	"context"
	"net/http"

	"dray/internal/edge"
	"dray/internal/lastmile"
)

// Images stores and reads images.
type Images interface {
	// Open returns an upload with its bytes.
	Open(ctx context.Context, who lastmile.Principal, id lastmile.UploadID) (lastmile.Image, error)
	// SetLogo replaces the logo of the caller's organization.
	SetLogo(ctx context.Context, who lastmile.Principal, sent []byte) (lastmile.UploadID, error)
	// AcceptPhoto stores a photo of a worker. No record refers to the photo yet.
	AcceptPhoto(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, sent []byte) (lastmile.Upload, error)
	// RemoveLogo removes the logo of the caller's organization, if it has one.
	RemoveLogo(ctx context.Context, who lastmile.Principal) error
}

// uploads serves the endpoints of uploads.
type uploads struct{ *Server }

func (s uploads) routes() []edge.Route {
	return edge.Tagged("Uploads", edge.Follow("/uploads/{id}", "Read a signature or a photo", s.showUpload, edge.ImageTypes...).
		Describe("Returns the image as JPEG or PNG, re-encoded upright and without metadata. Only uploads of the organization, and of tasks that it placed with other executors, are accessible."))
}

func (s uploads) showUpload(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	image, err := s.Uploads.Open(ctx, c.Who, lastmile.UploadID(c.ID()))
	if err != nil {
		return err
	}
	if err := c.Hold(len(image.Data)); err != nil {
		return err
	}
	s.SendImage(w, image.Type, image.Data)
	return nil
}
