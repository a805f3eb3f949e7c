package upload

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/webp"

	"dray/internal/lastmile"
)

// Limits of images, so that decoding one cannot exhaust the machine.
const (
	maxPixels  = 40_000_000
	maxSide    = 16_383
	maxScans   = 100         // scans of a JPEG file; cameras write 1, progressive encoders about 10
	maxScanned = 400_000_000 // pixels times scans: each scan visits all pixels
	maxMemory  = 192 << 20   // bytes needed to decode and rotate an image
	maxEncoded = 20 << 20    // bytes of a re-encoded image

	maxDecoding = 20 * time.Second // to decode and re-encode an image
	readAtOnce  = 512              // bytes that a decoder reads between two checks of the time

	quality    = 85
	typeJPEG   = "image/jpeg"
	typePNG    = "image/png"
	acceptable = "send a JPEG, PNG, WebP or GIF image"
)

// format is an accepted file format of images.
type format struct {
	name   string
	magic  string // first bytes of a file; ? matches any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = []format{
	{"JPEG", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"WebP", "RIFF????WEBP", webp.DecodeConfig, webp.Decode},
	{"GIF", "GIF8?a", gif.DecodeConfig, gif.Decode}, // only the first frame
}

// matches reports whether a file begins like one of this format.
func (f format) matches(data []byte) bool {
	if len(data) < len(f.magic) {
		return false
	}
	for i, c := range []byte(f.magic) {
		if c != '?' && c != data[i] {
			return false
		}
	}
	return true
}

// picture is an encoded image to be stored.
type picture struct {
	data      []byte
	mediaType string
}

// sanitizeWithin sanitizes an image, and rejects one that takes longer than limit.
func sanitizeWithin(ctx context.Context, data []byte, limit time.Duration) (picture, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	clean, err := sanitize(limited, data)
	switch {
	case err == nil:
		return clean, nil
	case ctx.Err() != nil: // the client has disconnected
		return picture{}, ctx.Err()
	case limited.Err() != nil:
		return picture{}, lastmile.TooLarge("the image takes more than %.0f s to decode: scale it down", limit.Seconds())
	}
	return picture{}, err
}

// sanitize decodes an image and encodes it again, until ctx ends.
func sanitize(ctx context.Context, data []byte) (p picture, err error) {
	defer func() {
		if recover() != nil { // a bug in a decoder
			err = unreadable("image")
		}
	}()
	for _, f := range formats {
		if f.matches(data) {
			return f.sanitize(ctx, data)
		}
	}
	if len(data) == 0 {
		return p, lastmile.Missing("an image")
	}
	return p, lastmile.Invalid("the data is not an image: %s", acceptable)
}

func unreadable(what string) error {
	return lastmile.Invalid("the %s cannot be read: it is damaged or cut short; %s", what, acceptable)
}

func (f format) sanitize(ctx context.Context, data []byte) (picture, error) {
	config, err := f.config(bytes.NewReader(data))
	if err != nil {
		return picture{}, unreadable(f.name)
	}
	if f.name == "WebP" && bytes.Contains(data, []byte("VP8L")) {
		config.ColorModel = color.NRGBAModel // an extended header is the same for lossy and lossless images
	}
	var head jpegHead
	if f.name == "JPEG" {
		head = readJPEGHead(data)
	}
	if err := f.check(config, head); err != nil {
		return picture{}, err
	}
	decoded, err := f.decode(&limitedReader{ctx.Err, data})
	if err != nil {
		return picture{}, unreadable(f.name)
	}
	return encode(ctx, rotate(decoded, head.orientation), f.name == "JPEG" || f.name == "WebP")
}

// check rejects an image that is too large to decode.
func (f format) check(c image.Config, head jpegHead) error {
	pixels := int64(c.Width) * int64(c.Height)
	switch {
	case pixels == 0:
		return lastmile.Invalid("the image has no pixels")
	case c.Width > maxSide || c.Height > maxSide || pixels > maxPixels:
		return lastmile.TooLarge("the image has %d by %d pixels; at most %d on a side and %d in all are allowed: scale it down", c.Width, c.Height, maxSide, maxPixels)
	case head.scans > maxScans || pixels*head.scans > maxScanned:
		return lastmile.TooLarge("the image has %d scans; at most %d, and %d pixels in all scans together, are allowed: save it as a baseline JPEG", head.scans, maxScans, maxScanned)
	}
	if memory := pixels * f.memory(c.ColorModel, head) / 2; memory > maxMemory {
		return lastmile.TooLarge("an image of this kind may have %d pixels, this one has %d: scale it down", pixels*maxMemory/memory, pixels)
	}
	return nil
}

// memory returns an estimate of the memory that decoding needs per pixel, in half bytes.
func (f format) memory(model color.Model, head jpegHead) int64 {
	const copied = 2 * 4 // for a copy with four bytes per pixel
	switch f.name {
	case "JPEG":
		halves := head.samples // a byte per sample
		if head.progressive {
			halves *= 5 // plus four bytes per coefficient
		}
		if head.rgb || model == color.RGBAModel || model == color.CMYKModel {
			halves += copied // the decoder interleaves colors that are not YCbCr
		}
		if head.orientation > 1 {
			halves += copied
		}
		return halves
	case "WebP":
		if model == color.YCbCrModel {
			return 2 * 2
		}
		return 2 * 10
	case "GIF":
		return 2 * 2
	}
	switch model {
	case color.NRGBA64Model, color.RGBA64Model:
		return 2 * 16
	case color.NRGBAModel, color.RGBAModel:
		return 2 * 8
	}
	return 2 * 4 // gray or with a palette
}

// encode encodes an image to be stored: photos as JPEG, drawings and images with transparency
// as PNG.
func encode(ctx context.Context, img image.Image, photo bool) (picture, error) {
	out := &bounded{ended: ctx.Err, limit: maxEncoded}
	p := picture{mediaType: typePNG}
	var err error
	if photo && opaque(img) {
		p.mediaType = typeJPEG
		err = jpeg.Encode(out, img, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(out, img)
	}
	if errors.Is(err, errTooLong) {
		return p, lastmile.TooLarge("the image has more than %d bytes after it was re-encoded: scale it down", maxEncoded)
	}
	p.data = out.Bytes()
	return p, err
}

func opaque(img image.Image) bool {
	known, ok := img.(interface{ Opaque() bool })
	return ok && known.Opaque()
}

// limitedReader returns data in small pieces until ctx ends, because decoders cannot be stopped
// in any other way.
type limitedReader struct {
	ended func() error // ctx.Err
	data  []byte
}

// Read implements io.Reader.
func (r *limitedReader) Read(p []byte) (int, error) {
	if err := r.ended(); err != nil {
		return 0, err
	}
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data[:min(readAtOnce, len(r.data))])
	r.data = r.data[n:]
	return n, nil
}

// bounded is a buffer that rejects writes beyond a limit and after ctx has ended.
type bounded struct {
	bytes.Buffer
	ended func() error // ctx.Err
	limit int
}

var errTooLong = errors.New("too many bytes")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errTooLong
	}
	if err := b.ended(); err != nil {
		return 0, err
	}
	return b.Buffer.Write(p)
}

// rotate returns an upright copy of an image, or the image itself if it is upright. The
// orientation is that of Exif: 1 is upright, 3 upside down, 6 and 8 on a side, and the others
// are mirrored.
func rotate(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	from := img.Bounds()
	w, h := from.Dx(), from.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	upright := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			to := image.Pt(x, y)
			switch orientation {
			case 2:
				to = image.Pt(w-1-x, y)
			case 3:
				to = image.Pt(w-1-x, h-1-y)
			case 4:
				to = image.Pt(x, h-1-y)
			case 5:
				to = image.Pt(y, x)
			case 6:
				to = image.Pt(h-1-y, x)
			case 7:
				to = image.Pt(h-1-y, w-1-x)
			case 8:
				to = image.Pt(y, w-1-x)
			}
			upright.Set(to.X, to.Y, img.At(from.Min.X+x, from.Min.Y+y))
		}
	}
	return upright
}
