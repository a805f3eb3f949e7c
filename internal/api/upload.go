package api

import (
	"context"
	"net/http"

	"dray/internal/edge"
	"dray/internal/lastmile"
)

func (s *Server) uploadRoutes() []edge.Route {
	return edge.Tagged("Uploads", edge.Follow("/uploads/{id}", "Read a signature or a photo", s.showUpload, edge.ImageTypes...).
		Describe("The answer is the image, as JPEG or PNG. It is not what the phone sent but made anew of it, upright and without anything that was hidden in it. Only the organization's own are found."))
}

func (s *Server) showUpload(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	image, err := s.Uploads.Open(ctx, c.Who, lastmile.UploadID(c.ID()))
	if err != nil {
		return err
	}
	s.SendImage(w, image.Type, image.Data)
	return nil
}
