package edge

import (
	"net/http"
	"strconv"
	"time"
)

// ImageTypes are the media types of uploads that are stored.
var ImageTypes = []string{"image/jpeg", "image/png"}

// SendImage responds with an image. A browser that opens its URL downloads it, and
// runs no script in it.
func (s Settings) SendImage(w http.ResponseWriter, mediaType string, data []byte) {
	//nolint:errcheck // then the limit for all responses holds
	http.NewResponseController(w).SetWriteDeadline(s.Now().Add(time.Minute))
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Content-Length", strconv.Itoa(len(data)))
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Content-Disposition", "attachment")
	w.Write(data) //nolint:errcheck // the client has disconnected
}
