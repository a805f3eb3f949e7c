package edge

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"dray/internal/lastmile"
)

// BasicKey returns the API key of an Authorization header as clients really send
// it: with a colon and any password, or with neither.
func BasicKey(header string) string {
	scheme, encoded, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(encoded), "="))
	if err != nil {
		return ""
	}
	key, _, _ := strings.Cut(string(decoded), ":")
	return key
}

// maxDiscarded is the maximum size of a rejected body that is read and discarded:
// most clients read the response only after they have sent the whole body.
// The bodies of callers without credentials are not read to the end.
const maxDiscarded = 32 << 20

// jsonWeight is the memory that a JSON body takes while it is processed, in bytes per byte
// of the body: the body itself and the decoded value.
const jsonWeight = 2

// readBody reads the body of a request within the limits of its route. The memory
// for it is reserved before it is read.
func (m *Mux) readBody(ctx context.Context, w http.ResponseWriter, c *Call, rt Route) error {
	r, most := c.HTTP, rt.bodyLimit()
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return lastmile.Invalid("the request body must be sent as it is, without Content-Encoding, not as %q", Clip(coding))
	}
	if r.ContentLength == 0 {
		return nil
	}
	weight := int64(1)
	if rt.Body != nil {
		weight = jsonWeight
	}
	reserve := func(bytes int64) error {
		if bytes *= weight; bytes <= UncountedBytes {
			return nil
		}
		if c.hold.bytes == 0 {
			c.hold.address = m.address(r)
		}
		return c.hold.await(ctx, bytes)
	}
	err := error(nil)
	if r.ContentLength > most {
		err = tooLarge(most)
	} else if err = reserve(max(r.ContentLength, 0)); err == nil {
		c.Body, err = readAll(http.MaxBytesReader(w, r.Body, most), r.ContentLength, reserve)
	}
	_, rejected := errors.AsType[*lastmile.Error](err)
	_, over := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		return nil
	case over:
		err = tooLarge(most)
	case !rejected:
		return lastmile.Malformed("the request body ended too early")
	}
	if !rt.Operation.Public && r.ContentLength <= maxDiscarded && r.Header.Get("Expect") == "" { // with Expect, the client waits to learn whether to send the body
		_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
	}
	return err
}

// The size of the first buffer for a large body, and for one of unknown size:
// memory is used only for what has arrived.
const firstRead, smallestRead = 64 << 10, 4 << 10

// readAll reads a body of length bytes. A negative length is unknown; it then
// reserves memory as the body grows.
func readAll(body io.Reader, length int64, reserve func(bytes int64) error) ([]byte, error) {
	size := min(length, firstRead)
	if length < 0 {
		size = smallestRead
	}
	data := make([]byte, 0, size)
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) < cap(data):
			continue
		}
		room := int64(2 * cap(data))
		if length >= 0 {
			room = min(room, max(length, int64(len(data))+1)) // one more, to read the end
		} else if err := reserve(room); err != nil {
			return nil, err
		}
		data = append(make([]byte, 0, room), data...)
	}
}

func tooLarge(most int64) error {
	return lastmile.TooLarge("the request body is larger than %d bytes", most)
}

// isText reports whether a database can store s: PostgreSQL accepts neither NUL
// nor invalid UTF-8.
func isText(s string) bool {
	return !strings.ContainsRune(s, 0) && utf8.ValidString(s)
}

// absent reports whether the value of a query parameter is the text of a missing
// value in some programming language. Some clients send it when they have none.
func absent(_ string, values []string) bool {
	return len(values) == 1 && (values[0] == "undefined" || values[0] == "null" || values[0] == "None")
}

// CheckQuery rejects parameters that no database can store.
func CheckQuery(query url.Values) error {
	for name, values := range query {
		for _, value := range values {
			if !isText(value) {
				return lastmile.Invalid("%s has characters that are not text", Clip(name))
			}
		}
	}
	return nil
}

// checkFlags rejects query parameters that are not valid booleans.
func (rt Route) checkFlags(query url.Values) error {
	for _, p := range rt.Query {
		if p.Type != "boolean" {
			continue
		}
		switch text := query.Get(p.Name); strings.ToLower(text) {
		case "", "true", "false", "1", "0":
		default:
			return lastmile.Malformed("%s must be true or false, not %q", p.Name, Clip(text))
		}
	}
	return nil
}

func printable(key string) bool {
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
