package simulate

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"net/http"
)

// photo is an encoded image.
type photo []byte

// The sizes of images, in pixels. An image has about ten kilobytes.
const (
	photoWidth, photoHeight = 480, 360
	signWidth, signHeight   = 400, 150
	photoQuality            = 72
)

// shade is a color in linear parts from 0 to 1.
type shade [3]float64

func (s shade) times(f float64) shade { return shade{s[0] * f, s[1] * f, s[2] * f} }

func (s shade) mix(t shade, part float64) shade {
	for i := range s {
		s[i] += (t[i] - s[i]) * part
	}
	return s
}

func (s shade) rgba() color.RGBA {
	part := func(x float64) uint8 { return uint8(255*min(max(x, 0), 1) + 0.5) }
	return color.RGBA{R: part(s[0]), G: part(s[1]), B: part(s[2]), A: 255}
}

var (
	bricks = []shade{{0.55, 0.28, 0.22}, {0.47, 0.33, 0.28}, {0.62, 0.58, 0.52}, {0.40, 0.42, 0.45}}
	doors  = []shade{{0.16, 0.27, 0.38}, {0.38, 0.12, 0.12}, {0.17, 0.32, 0.22}, {0.32, 0.22, 0.14}, {0.85, 0.84, 0.80}}
	carton = shade{0.72, 0.55, 0.36}
)

// scene is what a photo shows: a parcel on the floor in front of a door.
type scene struct {
	wall, door     shade
	floor          float64 // height at which the wall ends
	from, to       float64 // left and right edges of the door
	left, top, far float64 // left and top edges of the parcel, and its height
	wide           float64 // width of the parcel
	light, tilt    float64
}

// takePhoto takes a photo of a parcel at a door.
func takePhoto(random *rand.Rand) photo {
	between := func(low, high float64) float64 { return low + (high-low)*random.Float64() }
	s := scene{
		wall: one(random, bricks), door: one(random, doors), floor: between(0.60, 0.70), from: between(0.10, 0.40),
		wide: between(0.24, 0.36), far: between(0.20, 0.32), light: between(-0.3, 0.3), tilt: between(-0.06, 0.06),
	}
	s.to, s.left = s.from+between(0.38, 0.46), between(0.15, 0.55)
	s.top = between(0.80, 0.88) - s.far
	picture := image.NewRGBA(image.Rect(0, 0, photoWidth, photoHeight))
	for py := range photoHeight {
		for px := range photoWidth {
			x, y := float64(px)/photoWidth, float64(py)/photoHeight
			x, y = x+s.tilt*(y-0.5), y-s.tilt*(x-0.5)
			seen := s.at(x, y)
			bright := 1 + s.light*(x-0.5) - 0.55*((x-0.5)*(x-0.5)+(y-0.5)*(y-0.5)) // a lamp on one side, darker corners
			seen = seen.times(bright + 0.035*random.NormFloat64())
			picture.SetRGBA(px, py, seen.rgba())
		}
	}
	return encoded(picture)
}

// at returns what is seen at a point of the photo, from 0 to 1 in both directions.
func (s scene) at(x, y float64) shade {
	depth := 0.18 * s.wide // of the parcel's side, seen at an angle
	inX, inY := (x-s.left)/s.wide, (y-s.top)/s.far
	switch {
	case inX >= 0 && inX <= 1 && inY >= 0 && inY <= 1:
		return s.front(inX, inY)
	case y < s.top && y > s.top-depth && x > s.left+(s.top-y) && x < s.left+s.wide+(s.top-y):
		return carton.times(1.14) // the lid
	case x > s.left+s.wide && x < s.left+s.wide+depth && y > s.top-(x-s.left-s.wide) && y < s.top+s.far-(x-s.left-s.wide):
		return carton.times(0.66) // the side in the shade
	}
	back := s.behind(x, y)
	if dx, dy := (x-s.left-0.6*s.wide)/(0.75*s.wide), (y-s.top-s.far)/0.06; dx*dx+dy*dy < 1 { // its shadow
		return back.times(0.55 + 0.4*(dx*dx+dy*dy))
	}
	return back
}

// front returns the front of the parcel: carton with tape and a label.
func (s scene) front(x, y float64) shade {
	face := carton.times(0.93 + 0.05*math.Sin(90*y))
	if math.Abs(x-0.5) < 0.06 {
		face = face.mix(shade{0.86, 0.78, 0.62}, 0.6)
	}
	if x > 0.58 && x < 0.93 && y > 0.18 && y < 0.62 {
		face = shade{0.94, 0.94, 0.92}
		if y > 0.42 && y < 0.57 && math.Sin(150*x)+math.Sin(377*x) > 0.2 { // a barcode
			face = shade{0.12, 0.12, 0.13}
		}
		if y > 0.24 && y < 0.38 && math.Mod(y, 0.05) < 0.018 && x < 0.86 {
			face = shade{0.45, 0.45, 0.47}
		}
	}
	return face
}

// behind returns the wall, the door or the floor.
func (s scene) behind(x, y float64) shade {
	if y > s.floor {
		run := 1 / (y - s.floor + 0.12)
		joint := math.Abs(math.Mod(run*1.7+100, 1)-0.5) < 0.03 || math.Abs(math.Mod((x-0.5)*run*0.9+100, 1)-0.5) < 0.02
		floor := shade{0.52, 0.50, 0.47}.times(0.7 + 0.6*(y-s.floor))
		if joint {
			floor = floor.times(0.8)
		}
		return floor
	}
	if x > s.from && x < s.to {
		part, high := (x-s.from)/(s.to-s.from), y/s.floor
		panel := part > 0.14 && part < 0.86 && (high > 0.08 && high < 0.48 || high > 0.56 && high < 0.94)
		edge := part < 0.035 || part > 0.965
		switch {
		case edge:
			return s.door.mix(shade{0.9, 0.9, 0.88}, 0.7)
		case math.Hypot((part-0.90)*0.42, (high-0.52)*0.65) < 0.014:
			return shade{0.85, 0.72, 0.35} // the knob
		case panel:
			return s.door.times(0.82)
		}
		return s.door
	}
	row := math.Floor(y * 22)
	along := math.Mod(x*9+0.5*math.Mod(row, 2), 1)
	if math.Mod(y*22, 1) < 0.14 || along < 0.06 {
		return s.wall.mix(shade{0.72, 0.70, 0.66}, 0.8) // mortar
	}
	return s.wall.times(0.92 + 0.16*math.Abs(math.Sin(12.9898*row+78.233*math.Floor(x*9+0.5*math.Mod(row, 2)))))
}

// sign draws a signature with a pen: loops of different heights, leaning forward,
// and a stroke below.
func sign(random *rand.Rand) photo {
	picture := image.NewRGBA(image.Rect(0, 0, signWidth, signHeight))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	ink := shade{0.05, 0.07, 0.25}
	letters := 6 + random.IntN(5)
	heights := make([]float64, letters+1)
	for i := range heights {
		heights[i] = 10 + 14*random.Float64()
		if i == 0 || random.Float64() < 0.2 {
			heights[i] += 26
		}
	}
	width := (signWidth - 100) / float64(letters)
	loop, lean := 0.45+0.25*random.Float64(), 0.25+0.3*random.Float64()
	for t := 0.0; t < float64(letters); t += 0.002 {
		letter := int(t)
		high := heights[letter] + (heights[letter+1]-heights[letter])*(t-float64(letter))
		turn := 2 * math.Pi * t
		y := high * math.Cos(turn)
		dab(picture, 45+width*(t-loop*math.Sin(turn))+lean*y, 80-y+5*math.Sin(0.7*t), 1.3+0.5*math.Sin(turn), ink)
	}
	if random.Float64() < 0.7 {
		for t := 0.0; t < 1; t += 0.002 {
			dab(picture, 50+(signWidth-110)*t, 122-14*t+6*math.Sin(5*t), 1.1, ink)
		}
	}
	return encoded(picture)
}

// dab darkens the pixels around a point that a pen touches.
func dab(picture *image.RGBA, x, y, radius float64, ink shade) {
	for py := int(y - radius - 1); py <= int(y+radius+1); py++ {
		for px := int(x - radius - 1); px <= int(x+radius+1); px++ {
			if !image.Pt(px, py).In(picture.Rect) {
				continue
			}
			covered := min(max(radius+0.5-math.Hypot(float64(px)-x, float64(py)-y), 0), 1)
			if paint := (shade{1, 1, 1}).mix(ink, covered).rgba(); paint.R < picture.RGBAAt(px, py).R {
				picture.SetRGBA(px, py, paint)
			}
		}
	}
}

func encoded(picture image.Image) photo {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: photoQuality}); err != nil {
		return nil // cannot happen: writes to memory only
	}
	return out.Bytes()
}

// upload uploads a photo and returns its id.
func (p *phone) upload(ctx context.Context, taken photo) (string, error) {
	var response struct {
		UploadID string `json:"uploadId"`
	}
	err := p.call(ctx, "POST /driver/v1/uploads", http.MethodPost, "/uploads", taken, &response)
	return response.UploadID, err
}

// takesPhotos reports whether the server accepts photos. If not, no task
// requires one.
func (p *phone) takesPhotos(ctx context.Context) bool {
	id, err := p.upload(ctx, takePhoto(p.random))
	return err == nil && id != ""
}
