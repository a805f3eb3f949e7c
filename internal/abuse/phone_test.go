package abuse

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"time"
)

// phoneAttacks come from workers' phones and recipients' pages.
var phoneAttacks = []attack{
	{name: "hostile images", run: func(ctx context.Context, w *world, by *tenant) {
		images := [][]byte{manyScans(5000, 4000, 1000), manyScans(5000, 4000, 20), grayPNG(6300, 6300), grayPNG(16_000, 2_400), grayPNG(8, 8)[:60]}
		mob(ctx, 8, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.session.post(ctx, "/driver/v1/uploads", images[(member+turn)%len(images)])
		})
	}},
	{name: "positions", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 8, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			var positions []any
			for i := range 500 {
				at := time.Now().Add(-time.Duration(i) * time.Second).UnixMilli()
				positions = append(positions, map[string]any{"location": []float64{-74, 40.7 + float64(turn%100)/1e4}, "time": at})
			}
			by.session.post(ctx, "/driver/v1/positions", map[string]any{"positions": positions})
		})
	}},
	{name: "feedback rewrites", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 10, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			guest := *by.anonymous
			guest.from = fmt.Sprintf("10.%d.%d.%d", by.number, member, turn%250)
			guest.post(ctx, by.link+"/feedback", map[string]any{"rating": 1 + turn%5, "comments": strings.Repeat("é", 990) + fmt.Sprint(member, turn)})
			guest.post(ctx, by.link+"/viewed", nil)
		})
	}},
	{name: "followers of one link", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 200, 2*time.Second, func(ctx context.Context, member, _ int) {
			guest := *by.anonymous
			guest.from = fmt.Sprintf("10.%d.%d.1", by.number, member)
			guest.listen(ctx, by.link+"/events")
		})
	}},
	{name: "event streams", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 200, 2*time.Second, func(ctx context.Context, member, _ int) {
			if member%2 == 0 {
				by.listen(ctx, "/api/v2/events?since=0")
			} else {
				by.session.listen(ctx, "/driver/v1/events")
			}
		})
	}},
	{name: "invitations by text message", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 6, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2/workers/"+by.workers[1]+"/invite", nil)
			worker := map[string]any{"name": "W", "phone": w.honest.phone, "teams": []string{by.team}}
			a := by.post(ctx, "/api/v2/workers", worker)
			if a.status == http.StatusOK {
				by.do(ctx, http.MethodDelete, "/api/v2/workers/"+a.id(), nil)
			}
		})
	}},
}

// listen reads a stream until it ends.
func (c *client) listen(ctx context.Context, path string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.server.address+path, nil)
	if err != nil {
		return
	}
	request.Header.Set("X-Forwarded-For", c.from)
	request.Header.Set("Authorization", c.authorization)
	response, err := c.http.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	first := lines.Scan()
	c.statuses.add(ctx, path, reply{status: response.StatusCode, body: lines.Bytes()})
	for first && lines.Scan() {
		continue
	}
}

// segment returns a segment of a JPEG file.
func segment(marker byte, body ...byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2)), body...)
}

// manyScans returns a progressive JPEG file of gray pixels whose scans have a few bytes
// each: one code means that thousands of blocks are empty.
func manyScans(w, h, scans int) []byte {
	out := bytes.NewBufferString("\xff\xd8")
	quantization := bytes.Repeat([]byte{1}, 65)
	quantization[0] = 0
	dc, ac := make([]byte, 18), make([]byte, 18)
	dc[1], ac[0], ac[1], ac[17] = 1, 0x10, 1, 0xe0 // one code each; 0xe0 is a run of 2^14 blocks and more
	out.Write(segment(0xdb, quantization...))
	out.Write(segment(0xc2, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 1, 1, 0x11, 0))
	out.Write(segment(0xc4, dc...))
	out.Write(segment(0xc4, ac...))
	blocks := ((w + 7) / 8) * ((h + 7) / 8)
	out.Write(segment(0xda, 1, 1, 0, 0, 0, 0))
	out.Write(make([]byte, blocks/8+1))
	runs := bytes.Repeat([]byte{0x7e, 0xfc}, blocks/32_000+1)
	for range scans - 1 {
		out.Write(segment(0xda, 1, 1, 0, 1, 63, 0))
		out.Write(runs)
	}
	out.WriteString("\xff\xd9")
	return out.Bytes()
}

// grayPNG returns a small PNG file of many pixels.
func grayPNG(w, h int) []byte {
	var pixels bytes.Buffer
	z := zlib.NewWriter(&pixels)
	z.Write(make([]byte, (w+1)*h)) //nolint:errcheck // a buffer takes everything
	z.Close()
	chunk := func(name string, body []byte) []byte {
		out := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), name...)
		out = append(out, body...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	head = append(head, 8, 0, 0, 0, 0)
	return bytes.Join([][]byte{[]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head), chunk("IDAT", pixels.Bytes()), chunk("IEND", nil)}, nil)
}
