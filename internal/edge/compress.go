package edge

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"runtime"
	"strconv"

	"dray/internal/spec"
)

// Compression of responses.
const (
	// MinCompressed is the minimum size of responses that are compressed, in bytes.
	MinCompressed = 1 << 10
	// compressedPart is the number of bytes that are compressed at once. A compressor,
	// which takes most of a megabyte, is not kept while a client reads.
	compressedPart = 256 << 10
)

// compressors holds the compressors of a process, one for each processor, or nil for
// those that were not needed yet.
var compressors = func() chan *flate.Writer {
	all := make(chan *flate.Writer, runtime.GOMAXPROCS(0))
	for range cap(all) {
		all <- nil
	}
	return all
}()

// largeParts has a slot for half of the processors: compressing large responses leaves
// the others for small ones.
var largeParts = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// gzipHeader begins a response: deflate, no name and no time, fastest, unknown system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255}

// packer compresses a response in independent parts, which form one gzip member: some
// clients read only the first of several members.
type packer struct {
	sum, size uint32
	begun     bool
	large     bool // there are many parts
}

// pack returns the next part of the response, compressed. The last part ends it.
func (p *packer) pack(text []byte, last bool) []byte {
	var out bytes.Buffer
	if !p.begun {
		out.Write(gzipHeader)
		p.begun = true
	}
	p.sum, p.size = crc32.Update(p.sum, crc32.IEEETable, text), p.size+uint32(len(text)) // gzip has it modulo 2^32
	if p.large {
		largeParts <- struct{}{}
		defer func() { <-largeParts }()
	}
	z := <-compressors
	if z == nil {
		z, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	}
	z.Reset(&out)
	_, _ = z.Write(text) // a buffer takes everything
	if last {
		_ = z.Close()
	} else {
		_ = z.Flush()
	}
	z.Reset(nil)
	compressors <- z
	if last {
		tail := binary.LittleEndian.AppendUint32(nil, p.sum)
		out.Write(binary.LittleEndian.AppendUint32(tail, p.size))
	}
	return out.Bytes()
}

// compresses reports whether the response to a request is compressed, and sets its
// headers.
func compresses(w http.ResponseWriter, r *http.Request, size int) bool {
	if size < MinCompressed {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead || !spec.AcceptsGzip(r) {
		return false
	}
	header.Set("Content-Encoding", "gzip")
	return true
}

// writeCompressed sends a response compressed. Only one in a single part has a
// Content-Length.
func writeCompressed(w http.ResponseWriter, status int, body []byte) {
	p := packer{large: len(body) > compressedPart}
	for first := true; len(body) > 0; first = false {
		n := min(len(body), compressedPart)
		part := p.pack(body[:n], n == len(body))
		body = body[n:]
		if first {
			if len(body) == 0 {
				w.Header()["Content-Length"] = []string{strconv.Itoa(len(part))}
			}
			w.WriteHeader(status)
		}
		if _, err := w.Write(part); err != nil {
			return // the client has disconnected
		}
	}
}
