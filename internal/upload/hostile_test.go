package upload

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"runtime"
	"testing"

	"dray/internal/lastmile"
)

// segment returns a segment of a JPEG file.
func segment(marker byte, body ...byte) []byte {
	head := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(head, body...)
}

// manyScans returns a progressive JPEG file of gray pixels with scans of only a few bytes each:
// one code means that thousands of blocks are empty.
func manyScans(w, h, scans int) []byte {
	var out bytes.Buffer
	out.WriteString("\xff\xd8")
	quantization := make([]byte, 65)
	for i := range quantization[1:] {
		quantization[i+1] = 1
	}
	dc, ac := make([]byte, 18), make([]byte, 18)
	dc[1], ac[0], ac[1], ac[17] = 1, 0x10, 1, 0xe0 // one code each; 0xe0 is a run of 2^14 blocks and more
	out.Write(segment(0xdb, quantization...))
	out.Write(segment(0xc2, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 1, 1, 0x11, 0))
	out.Write(segment(0xc4, dc...))
	out.Write(segment(0xc4, ac...))
	blocks := ((w + 7) / 8) * ((h + 7) / 8)
	out.Write(segment(markerSOS, 1, 1, 0, 0, 0, 0))
	out.Write(make([]byte, blocks/8+1))
	runs := bytes.Repeat([]byte{0x7e, 0xfc}, blocks/32_000+1) // 0, 14 bits of the run and a bit that is not used
	for range scans - 1 {
		out.Write(segment(markerSOS, 1, 1, 0, 1, 63, 0))
		out.Write(runs)
	}
	out.WriteString("\xff\xd9")
	return out.Bytes()
}

// emptyBlocks returns a baseline JPEG file of blocks without content that has a segment of Adobe
// with the color transform.
func emptyBlocks(w, h, components int, transform byte) []byte {
	out := bytes.NewBufferString("\xff\xd8")
	frame, scan := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(components)}, []byte{byte(components)}
	for id := range byte(components) {
		frame, scan = append(frame, id, 0x11, 0), append(scan, id, 0)
	}
	dc, ac := make([]byte, 18), make([]byte, 18)
	dc[1], ac[0], ac[1] = 1, 0x10, 1 // one code each: the block ends
	for _, s := range [][]byte{
		segment(markerAPP14, append([]byte("Adobe\x00\x64\x00\x00\x00\x00"), transform)...),
		segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...),
		segment(markerSOF0, frame...), segment(0xc4, dc...), segment(0xc4, ac...),
		segment(markerSOS, append(scan, 0, 63, 0)...),
		make([]byte, ((w+7)/8)*((h+7)/8)*components/4+1), // two bits for each block
	} {
		out.Write(s)
	}
	return append(out.Bytes(), 0xff, markerEOI)
}

// TestMemoryOfDecodersIsEstimated compares the estimate with what decoders allocate.
func TestMemoryOfDecodersIsEstimated(t *testing.T) {
	const side = 1024
	for name, data := range map[string][]byte{
		"YCbCr":              emptyBlocks(side, side, 3, 1),
		"RGB":                emptyBlocks(side, side, 3, 0),
		"CMYK":               emptyBlocks(side, side, 4, 0),
		"YCbCrK":             emptyBlocks(side, side, 4, 2),
		"RGB, declared late": lateTransform(emptyBlocks(side, side, 3, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			config, err := jpeg.DecodeConfig(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = jpeg.Decode(bytes.NewReader(data))
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			const decoder = 128 << 10 // its own buffers
			used, estimate := int64(after.TotalAlloc-before.TotalAlloc), side*side*formats[0].memory(config.ColorModel, readJPEGHead(data))/2
			if used > estimate+decoder || estimate > used+decoder {
				t.Errorf("decoding allocated %d bytes, estimated are %d", used, estimate)
			}
		})
	}
}

// lateTransform moves the segment of Adobe from the beginning of a file behind its pixels.
func lateTransform(data []byte) []byte {
	const begin, end = 2, 2 + 4 + 12
	out := append([]byte{}, data[:begin]...)
	out = append(append(out, data[end:len(data)-2]...), data[begin:end]...)
	return append(out, data[len(data)-2:]...)
}

// chunk returns a chunk of a PNG file.
func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// pngFile returns a PNG file of gray pixels. Its image data is a compressed run of zeros.
func pngFile(w, h, zeros int, interlaced byte, extra ...[]byte) []byte {
	var pixels bytes.Buffer
	z := zlib.NewWriter(&pixels)
	z.Write(make([]byte, zeros)) //nolint:errcheck // a buffer does not fail
	z.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = append(binary.BigEndian.AppendUint32(head, uint32(h)), 8, 0, 0, 0, interlaced)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head)...)
	for _, one := range extra {
		out = append(out, one...)
	}
	return append(append(out, chunk("IDAT", pixels.Bytes())...), chunk("IEND", nil)...)
}

// frames returns a GIF file of n frames.
func frames(t *testing.T, n int) []byte {
	t.Helper()
	all := &gif.GIF{}
	for range n {
		all.Image = append(all.Image, image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.Black, color.White}))
		all.Delay = append(all.Delay, 1)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, all); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileImagesAreRejectedOrCheap(t *testing.T) {
	const accepted = 0
	for name, test := range map[string]struct {
		data []byte
		want lastmile.Code
	}{
		"a progressive JPEG of ten scans":               {manyScans(64, 64, 10), accepted},
		"a large progressive JPEG of 1,000 scans":       {manyScans(5000, 4000, 1000), lastmile.CodeTooLarge},
		"a small progressive JPEG of 101 scans":         {manyScans(8, 8, 101), lastmile.CodeTooLarge},
		"scans hidden behind padding":                   {bytes.ReplaceAll(manyScans(5000, 4000, 30), []byte("\xff\xda"), []byte("\x00\xff\x00\xff\xd0\xff\xff\xff\xda")), lastmile.CodeTooLarge},
		"a large CMYK JPEG":                             {emptyBlocks(8000, 5000, 4, 0), lastmile.CodeTooLarge},
		"an interlaced PNG":                             {pngFile(8, 8, 8*8+15, 1), accepted},
		"a PNG with more pixels than declared":          {pngFile(8, 8, 4<<20, 0), lastmile.CodeInvalid},
		"a PNG that declares too many pixels":           {pngFile(16_000, 16_000, 100, 1), lastmile.CodeTooLarge},
		"a PNG with fewer pixels than declared":         {pngFile(5000, 5000, 100, 1), lastmile.CodeInvalid},
		"a PNG with a large chunk of text":              {pngFile(8, 8, 72, 0, chunk("zTXt", make([]byte, 4<<20))), accepted},
		"a PNG with a chunk longer than the file":       {pngFile(8, 8, 72, 0, []byte("\x7f\xff\xff\xfftEXt")), lastmile.CodeInvalid},
		"a PNG with a thousand frames":                  {pngFile(8, 8, 72, 0, bytes.Repeat(chunk("fdAT", make([]byte, 100)), 1000)), accepted},
		"a GIF with a thousand frames":                  {frames(t, 1000), accepted},
		"a GIF whose first frame exceeds its size":      {bytes.Replace(frames(t, 1), []byte("\x2c\x00\x00\x00\x00\x10\x00\x10\x00"), []byte("\x2c\x00\x00\x00\x00\xff\x7f\xff\x7f"), 1), lastmile.CodeInvalid},
		"a WebP whose header declares another size":     {[]byte("RIFF\x2c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x0d\x00\x00\x00/\xff\xff\xff\x0f\x07\x10\x11\x11\x88\x88\xfe\x07\x00"), lastmile.CodeInvalid},
		"a lossless WebP with a header of a lossy one":  {[]byte("RIFF\x2c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x87\x13\x00\x87\x13\x00VP8L\x0d\x00\x00\x00/\x87\xd3\xe1\x04\x07\x10\x11\x11\x88\x88\xfe\x07\x00"), lastmile.CodeTooLarge},
		"a lossless WebP that declares too many pixels": {[]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\xff\xff\xff\x0f\x07\x10\x11\x11\x88\x88\xfe\x07\x00"), lastmile.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			var got lastmile.Code
			_, err := sanitize(t.Context(), test.data)
			if e, ok := errors.AsType[*lastmile.Error](err); ok {
				got = e.Code
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %v, want code %d", err, test.want)
			}
		})
	}
}

func TestDecodingStopsWhenItsTimeIsOver(t *testing.T) {
	for name, data := range samples(t) {
		_, err := sanitizeWithin(t.Context(), data, 0)
		if e, ok := errors.AsType[*lastmile.Error](err); !ok || e.Code != lastmile.CodeTooLarge {
			t.Errorf("%s: got %v, want that it is too large", name, err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := sanitizeWithin(gone, data, maxDecoding); !errors.Is(err, context.Canceled) {
			t.Errorf("%s of a client that has disconnected: got %v", name, err)
		}
	}
}

// TestDecodersReadInSmallPieces checks that the time is checked often enough, because a few
// bytes of input can take long to decode.
func TestDecodersReadInSmallPieces(t *testing.T) {
	r := &limitedReader{t.Context().Err, make([]byte, 10_000)}
	if n, err := r.Read(make([]byte, 4096)); n != readAtOnce || err != nil {
		t.Errorf("read %d bytes (%v), want %d", n, err, readAtOnce)
	}
}
