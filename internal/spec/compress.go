package spec

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// compressed returns data in the gzip format.
func compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress a document: %w", err)
	}
	return out.Bytes(), nil
}

// AcceptsGzip reports whether the client accepts compressed responses.
func AcceptsGzip(r *http.Request) bool {
	accepted := false
	for _, line := range r.Header["Accept-Encoding"] {
		for choice := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(choice, ";")
			name, weight = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(weight)
			if name != "gzip" && name != "*" {
				continue
			}
			text, _ := strings.CutPrefix(weight, "q=")
			q, err := strconv.ParseFloat(text, 64)
			accepted = weight == "" || err == nil && q > 0
			if name == "gzip" {
				return accepted
			}
		}
	}
	return accepted
}
