package contract_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/upload"
)

func TestUploadContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, acme, "Driving", true)
		t.Run("an image is stored without embedded data", func(t *testing.T) { testUpload(t, acme, team) })
		t.Run("an image is put upright", func(t *testing.T) { testUpright(t, acme, team) })
		t.Run("invalid and oversized images are rejected", func(t *testing.T) { testBadUploads(t, acme, team) })
		t.Run("an image is attached once, by the worker who sent it", func(t *testing.T) { testHandIn(t, acme, zenith, team) })
		t.Run("an image that is never attached is purged", func(t *testing.T) { testPurgeUpload(t, p, acme, team) })
		t.Run("an image is sent again after its storage failed", func(t *testing.T) { testFailedUpload(t, p, acme, team) })
		t.Run("an image that is sent several times at once is one upload", func(t *testing.T) { testConcurrentUploads(t, p, acme, team) })
		t.Run("images that cannot be deleted do not keep others", func(t *testing.T) { testPurgeFailures(t, p, acme, team) })
		t.Run("a worker cannot fill the disk", func(t *testing.T) { testManyUploads(t, acme, team) })
	})
}

func TestUploadsInTheDatabase(t *testing.T) {
	inDatabase := func(c *app.Config) { c.Uploads = "database" }
	p := apptest.New(t, inDatabase)
	acme := p.Organization(t, "Acme")
	testUpload(t, acme, driverTeam(t, acme, "Driving", true))
}

// upload sends an image.
func (p *phone) upload(t testing.TB, data []byte) apptest.Response {
	t.Helper()
	return exchange(t, http.MethodPost, p.platform.URL+"/driver/v1/uploads", bytes.NewReader(data),
		"Authorization", "Bearer "+p.token, "Content-Type", "image/jpeg")
}

// uploaded sends an image and returns its id, and fails the test if it is rejected.
func (p *phone) uploaded(t testing.TB, data []byte) string {
	t.Helper()
	id, _ := p.upload(t, data).OK(t).Object(t)["uploadId"].(string)
	return id
}

// drawing returns a picture that is red above and blue below, with a white corner.
func drawing(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{R: 255, A: 255}
			if y >= h/2 {
				c = color.NRGBA{B: 255, A: 255}
			}
			if x < w/4 && y < h/4 {
				c = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asGIF(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := gif.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// aWebP returns a small lossless WebP image.
func aWebP(t testing.TB) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// canary stands for data that a phone embeds in its photos.
const canary = "SECRET-POSITION-51.5007N"

// withExif puts an Exif block with an orientation and a secret into a JPEG.
func withExif(data []byte, orientation uint16) []byte {
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	exif = binary.BigEndian.AppendUint16(exif, orientation)
	exif = append(exif, "\x00\x00\x00\x00\x00\x00"+canary...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return bytes.Join([][]byte{data[:2], segment, exif, data[2:]}, nil)
}

// withText puts a text chunk with a secret into a PNG.
func withText(data []byte) []byte {
	const head = 8 + 25 // signature and IHDR
	chunk := append([]byte("tEXt"), "Comment\x00"+canary...)
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	whole = append(whole, chunk...)
	whole = binary.BigEndian.AppendUint32(whole, crc32.ChecksumIEEE(chunk))
	return bytes.Join([][]byte{data[:head], whole, data[head:]}, nil)
}

func testUpload(t *testing.T, c *apptest.Client, team string) {
	_, p := hire(t, c, team, "+12125550311")
	small := drawing(40, 20)
	for name, sent := range map[string][]byte{
		"JPEG": withExif(asJPEG(t, small), 1), "PNG": withText(asPNG(t, small)), "GIF": append(asGIF(t, small), canary...),
		"WebP": append(aWebP(t), canary...), "JPEG with a web page behind it": append(asJPEG(t, small), "<script>"+canary+"</script>"...),
	} {
		t.Run(name, func(t *testing.T) {
			id := p.uploaded(t, sent)
			shown := c.Call(t, http.MethodGet, "/uploads/"+id, nil).OK(t)
			img, format, err := image.Decode(bytes.NewReader(shown.Body))
			if err != nil || shown.Header.Get("Content-Type") != "image/"+format {
				t.Fatalf("kept as %s, %q: %v", format, shown.Header.Get("Content-Type"), err)
			}
			if name != "WebP" && img.Bounds() != small.Bounds() {
				t.Errorf("it has %v, sent %v", img.Bounds(), small.Bounds())
			}
			if bytes.Contains(shown.Body, []byte(canary)) || bytes.Contains(shown.Body, []byte("Exif")) {
				t.Error("what was hidden in the image was kept")
			}
			for header, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment", "Content-Security-Policy": "default-src 'none'; sandbox",
			} {
				if got := shown.Header.Get(header); got != want {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			if again := p.uploaded(t, sent); again != id {
				t.Error("the same image sent again is another upload")
			}
			if own := p.call(t, http.MethodGet, "/uploads/"+id, nil).OK(t); !bytes.Equal(own.Body, shown.Body) {
				t.Error("the worker sees another image than the organization")
			}
		})
	}
}

func testUpright(t *testing.T, c *apptest.Client, team string) {
	_, p := hire(t, c, team, "+12125550312")
	sent := asJPEG(t, drawing(64, 32)) // a white corner at the upper left
	corners := map[uint16]image.Point{
		1: {4, 4}, 2: {60, 4}, 3: {60, 28}, 4: {4, 28}, 5: {4, 4}, 6: {28, 4}, 7: {28, 60}, 8: {4, 60},
	}
	for orientation, white := range corners {
		shown := c.Call(t, http.MethodGet, "/uploads/"+p.uploaded(t, withExif(sent, orientation)), nil).OK(t)
		img, _, err := image.Decode(bytes.NewReader(shown.Body))
		if err != nil {
			t.Fatal(err)
		}
		if r, g, b, _ := img.At(white.X, white.Y).RGBA(); min(r, g, b) < 0xd000 {
			t.Errorf("orientation %d: the corner is not at %v", orientation, white)
		}
		if upright := img.Bounds().Dx() == 64; upright != (orientation < 5) {
			t.Errorf("orientation %d: it has %v", orientation, img.Bounds())
		}
	}
}

// forged returns the beginnings of images whose headers claim a huge size.
func forged(t testing.TB) map[string][]byte {
	t.Helper()
	frame := func(mark byte, side uint16) []byte {
		data := asJPEG(t, drawing(16, 16))
		at := bytes.Index(data, []byte{0xff, 0xc0})
		data[at+1] = mark
		binary.BigEndian.PutUint16(data[at+5:], side)
		binary.BigEndian.PutUint16(data[at+7:], side)
		return data
	}
	header := func(w, h uint32) []byte {
		chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
		chunk = append(binary.BigEndian.AppendUint32(chunk, h), 16, 6, 0, 0, 0)
		whole := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
		return binary.BigEndian.AppendUint32(whole, crc32.ChecksumIEEE(chunk))
	}
	return map[string][]byte{
		"a PNG with too many pixels":     header(16_000, 16_000),
		"a PNG that is too wide":         header(1<<30, 1),
		"a PNG with 16 bits of a colour": header(6_000, 6_000),
		"a JPEG with too many pixels":    frame(0xc0, 0xffff),
		"a progressive JPEG":             frame(0xc2, 6_000),
		"a GIF with too many pixels":     []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"),
		"a WebP with too many pixels":    []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\xff\xff\xff\x0f\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
	}
}

func testBadUploads(t *testing.T, c *apptest.Client, team string) {
	_, p := hire(t, c, team, "+12125550313")
	malformed.check(t, p.upload(t, nil), "image")
	small := drawing(40, 20)
	for name, sent := range map[string][]byte{
		"text": []byte("hello"), "a web page": []byte("<!doctype html><script>alert(1)</script>"), "SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`),
		"a PDF": []byte("%PDF-1.7"), "one byte": {0xff}, "the mark of a JPEG": {0xff, 0xd8, 0xff}, "the mark of a PNG": []byte("\x89PNG\r\n\x1a\n"),
		"an empty GIF": []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "a WebP whose parts differ": forgedWebP(),
	} {
		t.Run(name, func(t *testing.T) { invalid.check(t, p.upload(t, sent)) })
	}
	t.Run("cut short", func(t *testing.T) {
		for name, whole := range map[string][]byte{"JPEG": asJPEG(t, small), "PNG": asPNG(t, small), "GIF": asGIF(t, small), "WebP": aWebP(t)} {
			for cut := 1; cut < len(whole)-2; cut += 1 + len(whole)/16 {
				if got := p.upload(t, whole[:cut]); got.Status != http.StatusBadRequest && got.Status != http.StatusOK {
					t.Errorf("%d bytes of a %s: %d %s", cut, name, got.Status, got.Body)
				}
			}
			invalid.check(t, p.upload(t, whole[:len(whole)/2]))
		}
	})
	t.Run("damaged", func(t *testing.T) {
		for name, whole := range map[string][]byte{"JPEG": withExif(asJPEG(t, small), 6), "PNG": asPNG(t, small), "GIF": asGIF(t, small), "WebP": aWebP(t)} {
			for at := 0; at < len(whole); at += 1 + len(whole)/40 {
				damaged := bytes.Clone(whole)
				damaged[at] ^= 0x5a
				if got := p.upload(t, damaged); got.Status >= http.StatusInternalServerError {
					t.Errorf("a %s with byte %d changed: %d %s", name, at, got.Status, got.Body)
				}
			}
		}
	})
	for name, sent := range forged(t) {
		t.Run(name, func(t *testing.T) { tooLarge.check(t, p.upload(t, sent), "scale it down") })
	}
	t.Run("too many bytes", func(t *testing.T) {
		tooLarge.check(t, p.upload(t, append(asJPEG(t, small), make([]byte, lastmile.MaxUpload)...)))
	})
	t.Run("without credentials", func(t *testing.T) {
		unauthenticated.check(t, (&phone{platform: p.platform}).upload(t, asPNG(t, small)))
	})
}

// forgedWebP returns a file whose header claims one pixel, and whose image has many.
func forgedWebP() []byte {
	return []byte("RIFF\x2c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x0d\x00\x00\x00/\xff\xff\xff\x0f\x00\x00\x00\x00\x00\x00\x00\x00\x00")
}

// numbered returns a picture that differs for each n.
func numbered(t testing.TB, n int) []byte {
	t.Helper()
	img := drawing(8, 8)
	img.SetNRGBA(7, 7, color.NRGBA{R: uint8(n), G: uint8(n >> 8), A: 255})
	return asPNG(t, img)
}

func testHandIn(t *testing.T, acme, zenith *apptest.Client, team string) {
	worker, p := hire(t, acme, team, "+12125550314")
	_, colleague := hire(t, acme, team, "+12125550315")
	_, stranger := hire(t, zenith, driverTeam(t, zenith, "Driving", true), "+12125550316")
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	hers, foreign := colleague.uploaded(t, numbered(t, 1)), stranger.uploaded(t, numbered(t, 2))
	signature, photo := p.uploaded(t, numbered(t, 3)), p.uploaded(t, numbered(t, 4))
	mine := map[string]any{
		"container":    map[string]any{"type": "WORKER", "worker": worker},
		"requirements": map[string]any{"signature": true, "photo": true},
	}
	task, other := driverTask(t, acme, mine), driverTask(t, acme, mine)
	p.do(t, "start", task, "s", nil)
	n := 0
	complete := func(task, signature string, photos ...string) apptest.Response {
		n++
		return p.try(t, "complete", task, fmt.Sprint("c", n), map[string]any{"success": true, "signatureUploadId": signature, "photoUploadIds": photos})
	}
	outsideScope.check(t, complete(task, signature, hers), hers)
	outsideScope.check(t, complete(task, hers, photo), hers)
	outsideScope.check(t, complete(task, signature, foreign), foreign)
	outsideScope.check(t, complete(task, foreign, photo), foreign)
	notFound.check(t, complete(task, signature, photo, unknownID), unknownID)
	for _, id := range malformedIDs {
		notFound.check(t, complete(task, id, photo))
	}
	invalid.check(t, complete(task, signature, strings.Split(strings.Repeat(photo+" ", lastmile.MaxPhotos+1), " ")[:lastmile.MaxPhotos+1]...), "photoUploadIds")
	if got := complete(task, signature, photo).OK(t).Object(t); got["state"] != 3.0 {
		t.Fatalf("state %v", got["state"])
	}
	details, _ := acme.Must(t, http.MethodGet, "/tasks/"+task, nil)["completionDetails"].(map[string]any)
	matches(t, map[string]any{"s": details["signatureUploadId"], "p": details["photoUploadId"], "all": details["photoUploadIds"], "un": details["unavailableAttachments"]},
		fmt.Sprintf(`{"s":%q,"p":%q,"all":[%q],"un":[]}`, signature, photo, photo))

	p.do(t, "start", other, "s2", nil)
	invalid.check(t, complete(other, signature, p.uploaded(t, numbered(t, 5))), task)
	if again := p.uploaded(t, numbered(t, 4)); again == photo {
		t.Error("an image that was handed in is handed in again")
	}

	for who, response := range map[string]apptest.Response{
		"another organization": zenith.Call(t, http.MethodGet, "/uploads/"+photo, nil),
		"another worker":       colleague.call(t, http.MethodGet, "/uploads/"+photo, nil),
		"a foreign worker":     stranger.call(t, http.MethodGet, "/uploads/"+photo, nil),
	} {
		t.Run(who, func(t *testing.T) { outsideScope.check(t, response) })
	}
	notFound.check(t, acme.Call(t, http.MethodGet, "/uploads/"+unknownID, nil))
	for _, id := range []string{"short", "..%2f..%2fetc%2fpasswd"} {
		notFound.check(t, acme.Call(t, http.MethodGet, "/uploads/"+id, nil))
	}
	unauthenticated.check(t, exchange(t, http.MethodGet, acme.Platform.URL+"/api/v2/uploads/"+photo, nil))
}

func testPurgeUpload(t *testing.T, p *apptest.Platform, c *apptest.Client, team string) {
	worker, phone := hire(t, c, team, "+12125550317")
	phone.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	kept, lost := phone.uploaded(t, numbered(t, 6)), phone.uploaded(t, numbered(t, 7))
	task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	phone.do(t, "start", task, "s", nil)
	phone.do(t, "complete", task, "c", map[string]any{"success": true, "photoUploadIds": []string{kept}})
	later := *p.Uploads
	later.Now = func() time.Time { return app.Clock().Add(lastmile.UnusedUploadRetention + time.Hour) }
	if err := later.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Call(t, http.MethodGet, "/uploads/"+kept, nil).OK(t)
	notFound.check(t, c.Call(t, http.MethodGet, "/uploads/"+lost, nil))
}

// failingBlobs is a storage that fails.
type failingBlobs struct {
	upload.Blobs
	fails func(lastmile.Upload) bool
}

var errStorage = errors.New("the storage failed")

func (b failingBlobs) Put(ctx context.Context, u lastmile.Upload, data []byte) error {
	if b.fails(u) {
		return errStorage
	}
	return b.Blobs.Put(ctx, u, data)
}

func (b failingBlobs) Remove(ctx context.Context, u lastmile.Upload) error {
	if b.fails(u) {
		return errStorage
	}
	return b.Blobs.Remove(ctx, u)
}

// failing returns the uploads with a storage that fails for some of them.
func failing(p *apptest.Platform, fails func(lastmile.Upload) bool) upload.Uploads {
	uploads := *p.Uploads
	uploads.Blobs = maps.Clone(uploads.Blobs)
	uploads.Blobs[uploads.Default] = failingBlobs{uploads.Blobs[uploads.Default], fails}
	return uploads
}

func testFailedUpload(t *testing.T, p *apptest.Platform, c *apptest.Client, team string) {
	worker, phone := hire(t, c, team, "+12125550319")
	who := lastmile.Principal{Organization: c.Organization.ID, Worker: lastmile.WorkerID(worker)}
	broken := failing(p, func(lastmile.Upload) bool { return true })
	for range lastmile.MaxUnusedUploads + 1 {
		if _, err := broken.Accept(t.Context(), who, numbered(t, 8)); !errors.Is(err, errStorage) {
			t.Fatal(err)
		}
	}
	id := phone.uploaded(t, numbered(t, 8))
	c.Call(t, http.MethodGet, "/uploads/"+id, nil).OK(t)
	if again := phone.uploaded(t, numbered(t, 8)); again != id {
		t.Errorf("the image sent again is %s, want %s", again, id)
	}
	phone.uploaded(t, numbered(t, 9))
}

func testConcurrentUploads(t *testing.T, p *apptest.Platform, c *apptest.Client, team string) {
	worker, phone := hire(t, c, team, "+12125550329")
	who := lastmile.Principal{Organization: c.Organization.ID, Worker: lastmile.WorkerID(worker)}
	t.Run("to one node", func(t *testing.T) {
		ids := make(chan string)
		const requests = 4
		for range requests {
			go func() {
				id, err := p.Uploads.Accept(t.Context(), who, numbered(t, 11))
				if err != nil {
					t.Error(err)
				}
				ids <- string(id)
			}()
		}
		first := <-ids
		for range requests - 1 {
			if id := <-ids; id != first {
				t.Errorf("one request got %s, another %s", first, id)
			}
		}
		phone.call(t, http.MethodGet, "/uploads/"+first, nil).OK(t)
	})
	t.Run("to two nodes", func(t *testing.T) {
		other := upload.New(p.Uploads.Store, p.Uploads.Blobs, p.Uploads.Default, p.Uploads.Now, p.Uploads.NewID)
		var second lastmile.UploadID
		node := failing(p, func(lastmile.Upload) bool { // while the bytes are stored
			var err error
			second, err = other.Accept(t.Context(), who, numbered(t, 12))
			return err != nil
		})
		first, err := node.Accept(t.Context(), who, numbered(t, 12))
		if err != nil || first != second {
			t.Errorf("one node responds with %s, the other with %s: %v", first, second, err)
		}
		phone.call(t, http.MethodGet, "/uploads/"+string(first), nil).OK(t)
	})
}

func testPurgeFailures(t *testing.T, p *apptest.Platform, c *apptest.Client, team string) {
	worker, phone := hire(t, c, team, "+12125550320")
	for i := range 101 { // more than a call of Purge deletes
		phone.uploaded(t, numbered(t, 400+i))
	}
	last := phone.uploaded(t, numbered(t, 10))
	later := failing(p, func(u lastmile.Upload) bool { return string(u.Worker) == worker && string(u.ID) != last })
	later.Now = func() time.Time { return app.Clock().Add(lastmile.UnusedUploadRetention + time.Hour) }
	for range 3 {
		if err := later.Purge(t.Context()); err != nil && !errors.Is(err, errStorage) {
			t.Fatal(err)
		}
	}
	err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Upload(t.Context(), c.Organization.ID, lastmile.UploadID(last))
		return err
	})
	if apptest.Code(err) != lastmile.CodeNotFound {
		t.Errorf("the last upload is not deleted: %v", err)
	}
}

func testManyUploads(t *testing.T, c *apptest.Client, team string) {
	_, phone := hire(t, c, team, "+12125550318")
	for i := range lastmile.MaxUnusedUploads {
		phone.uploaded(t, numbered(t, 100+i))
	}
	invalid.check(t, phone.upload(t, numbered(t, 99)), "not attached to a task yet")
	phone.uploaded(t, numbered(t, 100)) // is stored already
}
