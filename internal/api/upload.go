package api

import (
	"context"
	"net/http"

	"dray/internal/edge"
	"dray/internal/lastmile"
)

func (s *Server) uploadRoutes() []edge.Route {
	return edge.Tagged("Uploads", edge.Follow("/uploads/{id}", "Read a signature or a photo", s.showUpload, edge.ImageTypes...).
		Describe("The response is the image, as JPEG or PNG. It is re-encoded from what the phone sent, upright and without metadata. Only uploads of the organization are found."))
}

func (s *Server) showUpload(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	image, err := s.Uploads.Open(ctx, c.Who, lastmile.UploadID(c.ID()))
	if err != nil {
		return err
	}
	s.SendImage(w, image.Type, image.Data)
	return nil
}
