package upload

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"dray/internal/lastmile"
)

// What an image may be, so that decoding it cannot use up the machine.
const (
	maxPixels  = 40_000_000
	maxSide    = 16_383
	maxMemory  = 192 << 20 // bytes it takes to decode and turn
	maxKept    = 20 << 20  // bytes after encoding it anew
	quality    = 85
	typeJPEG   = "image/jpeg"
	typePNG    = "image/png"
	acceptable = "send a JPEG, PNG, WebP or GIF image"
)

// format is a file format of images.
type format struct {
	name    string
	magic   string // how a file begins; ? is any byte
	measure func(io.Reader) (image.Config, error)
	decode  func(io.Reader) (image.Image, error)
}

var formats = []format{
	{"JPEG", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"WebP", "RIFF????WEBP", webp.DecodeConfig, webp.Decode},
	{"GIF", "GIF8?a", gif.DecodeConfig, gif.Decode}, // the first picture
}

func (f format) begins(data []byte) bool {
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

// picture is an image as it is kept.
type picture struct {
	data      []byte
	mediaType string
}

// clean decodes an image and encodes it anew.
func clean(data []byte) (p picture, err error) {
	defer func() {
		if fault := recover(); fault != nil { // a decoder met what it did not expect
			err = unreadable("image")
		}
	}()
	for _, f := range formats {
		if f.begins(data) {
			return f.clean(data)
		}
	}
	if len(data) == 0 {
		return p, lastmile.Missing("an image as the request body")
	}
	return p, lastmile.Invalid("the request body is not an image: %s", acceptable)
}

func unreadable(what string) error {
	return lastmile.Invalid("the %s cannot be read: it is damaged or cut short; %s", what, acceptable)
}

func (f format) clean(data []byte) (picture, error) {
	config, err := f.measure(bytes.NewReader(data))
	if err != nil {
		return picture{}, unreadable(f.name)
	}
	var head jpegHead
	if f.name == "JPEG" {
		head = readJPEGHead(data)
	}
	if err := f.check(config, head); err != nil {
		return picture{}, err
	}
	decoded, err := f.decode(bytes.NewReader(data))
	if err != nil {
		return picture{}, unreadable(f.name)
	}
	return encode(turn(decoded, head.orientation), f.name == "JPEG" || f.name == "WebP")
}

// check refuses what is too large to decode.
func (f format) check(c image.Config, head jpegHead) error {
	pixels := int64(c.Width) * int64(c.Height)
	switch {
	case pixels == 0:
		return lastmile.Invalid("the image has no pixels")
	case c.Width > maxSide || c.Height > maxSide || pixels > maxPixels:
		return lastmile.TooLarge("the image has %d by %d pixels; at most %d on a side and %d in all are allowed: scale it down", c.Width, c.Height, maxSide, maxPixels)
	}
	if memory := pixels * f.memory(c.ColorModel, head) / 2; memory > maxMemory {
		return lastmile.TooLarge("an image of this kind may have %d pixels, this one has %d: scale it down", pixels*maxMemory/memory, pixels)
	}
	return nil
}

// memory is about how many half bytes it takes to decode a pixel.
func (f format) memory(model color.Model, head jpegHead) int64 {
	const turned = 2 * 4 // the copy that is turned
	switch f.name {
	case "JPEG":
		halves := head.samples // a byte for each sample
		if head.progressive {
			halves *= 5 // and four bytes for each coefficient
		}
		if head.orientation > 1 {
			halves += turned
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
	return 2 * 4 // gray or of a palette
}

// encode writes an image as it is kept: photos as JPEG, drawings and what can
// be seen through as PNG.
func encode(img image.Image, photo bool) (picture, error) {
	out := &bounded{most: maxKept}
	p := picture{mediaType: typePNG}
	var err error
	if photo && opaque(img) {
		p.mediaType = typeJPEG
		err = jpeg.Encode(out, img, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(out, img)
	}
	if errors.Is(err, errTooMuch) {
		return p, lastmile.TooLarge("the image has more than %d bytes when it is encoded anew: scale it down", maxKept)
	}
	p.data = out.Bytes()
	return p, err
}

func opaque(img image.Image) bool {
	known, ok := img.(interface{ Opaque() bool })
	return ok && known.Opaque()
}

// bounded is a buffer that holds so much and no more.
type bounded struct {
	bytes.Buffer
	most int
}

var errTooMuch = errors.New("too many bytes")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errTooMuch
	}
	return b.Buffer.Write(p)
}

// turn puts an image upright. The orientation is that of Exif: 1 is upright, 3
// upside down, 6 and 8 on a side, and the others are seen in a mirror.
func turn(img image.Image, orientation int) image.Image {
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
