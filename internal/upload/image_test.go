package upload

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

func sampleImage(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(x * 7), G: uint8(y * 5), B: uint8(x ^ y), A: 255})
		}
	}
	return img
}

// samples returns an image in every format that can be encoded.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := map[string][]byte{}
	for name, encode := range map[string]func(*bytes.Buffer, image.Image) error{
		"JPEG": func(out *bytes.Buffer, img image.Image) error { return jpeg.Encode(out, img, nil) },
		"PNG":  func(out *bytes.Buffer, img image.Image) error { return png.Encode(out, img) },
		"GIF":  func(out *bytes.Buffer, img image.Image) error { return gif.Encode(out, img, nil) },
	} {
		var out bytes.Buffer
		if err := encode(&out, sampleImage(24, 16)); err != nil {
			tb.Fatal(err)
		}
		all[name] = out.Bytes()
	}
	return all
}

// FuzzSanitize checks that every input becomes an image or an error.
func FuzzSanitize(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := sanitize(t.Context(), data)
		if err != nil {
			return
		}
		if _, format, err := image.Decode(bytes.NewReader(result.data)); err != nil || "image/"+format != result.mediaType {
			t.Errorf("the result is not an image: %s, labelled %s: %v", format, result.mediaType, err)
		}
	})
}

func TestMemoryIsBoundedBeforeDecoding(t *testing.T) {
	plain := jpegHead{orientation: 1, samples: 3}
	for name, test := range map[string]struct {
		format int
		config image.Config
		head   jpegHead
		ok     bool
	}{
		"a photo of a phone":                 {0, image.Config{Width: 4032, Height: 3024}, plain, true},
		"a rotated photo":                    {0, image.Config{Width: 4032, Height: 3024}, jpegHead{orientation: 6, samples: 3}, true},
		"a progressive photo":                {0, image.Config{Width: 4032, Height: 3024}, jpegHead{orientation: 1, samples: 3, progressive: true}, true},
		"the largest photo":                  {0, image.Config{Width: 8000, Height: 5000}, plain, true},
		"a progressive photo of ten scans":   {0, image.Config{Width: 4032, Height: 3024}, jpegHead{orientation: 1, samples: 3, progressive: true, scans: 10}, true},
		"a progressive photo of many scans":  {0, image.Config{Width: 4032, Height: 3024}, jpegHead{orientation: 1, samples: 3, progressive: true, scans: 34}, false},
		"a small image of many scans":        {0, image.Config{Width: 8, Height: 8}, jpegHead{orientation: 1, samples: 3, progressive: true, scans: 101}, false},
		"too many pixels":                    {0, image.Config{Width: 8000, Height: 5001}, plain, false},
		"a side that is too long":            {0, image.Config{Width: 20_000, Height: 1}, plain, false},
		"no pixels":                          {0, image.Config{}, plain, false},
		"a large progressive photo":          {0, image.Config{Width: 8000, Height: 5000}, jpegHead{orientation: 1, samples: 6, progressive: true}, false},
		"the largest photo, rotated":         {0, image.Config{Width: 8000, Height: 5000}, jpegHead{orientation: 6, samples: 3}, false},
		"a PNG of 12 million pixels":         {1, image.Config{Width: 4000, Height: 3000, ColorModel: color.NRGBAModel}, jpegHead{}, true},
		"a PNG with 16 bits per color":       {1, image.Config{Width: 4000, Height: 4000, ColorModel: color.NRGBA64Model}, jpegHead{}, false},
		"a lossless WebP of too many pixels": {2, image.Config{Width: 5000, Height: 5000, ColorModel: color.NRGBAModel}, jpegHead{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := formats[test.format].check(test.config, test.head); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHalfSamples(t *testing.T) {
	for name, test := range map[string]struct {
		frame string
		want  int64
	}{
		"full colour":          {"\x08\x00\x10\x00\x10\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00", 6},
		"subsampled colour":    {"\x08\x00\x10\x00\x10\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00", 3},
		"gray":                 {"\x08\x00\x10\x00\x10\x01\x01\x11\x00", 2},
		"cut short":            {"\x08\x00\x10\x00\x10\x03\x01", 8},
		"no components at all": {"\x08\x00\x10\x00\x10\x00", 8},
		"no samples at all":    {"\x08\x00\x10\x00\x10\x01\x01\x00\x00", 8},
		"nothing":              {"", 8},
	} {
		t.Run(name, func(t *testing.T) {
			if got := halfSamples([]byte(test.frame)); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
