package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) uploadRoutes() []route {
	return tagged("Uploads", s.openUpload("Read a signature or a photo"))
}

// openUpload makes a route that answers with an image.
func (s *Server) openUpload(summary string) route {
	return route{method: http.MethodGet, path: "/uploads/{id}", summary: summary, media: images, stream: s.sendUpload}
}

// images are the media types of what is kept, for the document.
var images = []string{"image/jpeg", "image/png"}

// takeUpload serves POST /uploads of the worker's interface.
func (s *Server) takeUpload(ctx context.Context, c *call) (any, error) {
	id, err := s.Uploads.Accept(ctx, c.who, c.body)
	return wire.Uploaded{UploadID: id}, err
}

// sendUpload answers with an image. Whatever it is, a browser that is led to it
// shows it alone and runs nothing of it.
func (s *Server) sendUpload(ctx context.Context, c *call, w http.ResponseWriter) error {
	image, err := s.Uploads.Open(ctx, c.who, lastmile.UploadID(c.id()))
	if err != nil {
		return err
	}
	//nolint:errcheck // then the limit for all answers holds
	http.NewResponseController(w).SetWriteDeadline(s.Now().Add(time.Minute))
	header := w.Header()
	header.Set("Content-Type", image.Type)
	header.Set("Content-Length", strconv.Itoa(len(image.Data)))
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Content-Disposition", "attachment")
	w.Write(image.Data) //nolint:errcheck // the client is gone; there is nobody to tell
	return nil
}
