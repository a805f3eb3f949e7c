package simulate

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
)

// photo is an encoded image.
type photo []byte

const photoSide = 48 // pixels

// takePhoto draws a box on a doorstep.
func takePhoto(random *rand.Rand) photo {
	picture := image.NewRGBA(image.Rect(0, 0, photoSide, photoSide))
	door, box := shade(random), shade(random)
	left, top := random.IntN(photoSide/2), photoSide/3+random.IntN(photoSide/4)
	for y := range photoSide {
		for x := range photoSide {
			picture.Set(x, y, door)
			if x >= left && x < left+photoSide/2 && y >= top {
				picture.Set(x, y, box)
			}
		}
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		return nil // cannot happen: writes to memory only
	}
	return encoded.Bytes()
}

func shade(random *rand.Rand) color.RGBA {
	part := func() uint8 { return uint8(40 + random.IntN(200)) }
	return color.RGBA{R: part(), G: part(), B: part(), A: 255}
}

// upload uploads a photo and returns its id.
func (p *phone) upload(ctx context.Context, taken photo) (string, error) {
	var answer struct {
		UploadID string `json:"uploadId"`
	}
	err := p.call(ctx, "POST /driver/v1/uploads", http.MethodPost, "/uploads", taken, &answer)
	return answer.UploadID, err
}

// takesPhotos reports whether the server accepts photos. If not, no task
// requires one.
func (p *phone) takesPhotos(ctx context.Context) bool {
	id, err := p.upload(ctx, takePhoto(p.random))
	return err == nil && id != ""
}
