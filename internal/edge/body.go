package edge

import (
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

// maxDiscarded is how much of a body that is too large is read and discarded:
// most clients read the response only after they have sent the whole body.
const maxDiscarded = 32 << 20

func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, lastmile.Invalid("the request body must be sent as it is, without Content-Encoding, not as %q", Clip(coding))
	}
	if r.ContentLength > most {
		if r.ContentLength <= maxDiscarded && r.Header.Get("Expect") == "" { // else the client waits to learn whether to send it
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength)
		}
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
			return nil, tooLarge(most)
		}
		return nil, lastmile.Malformed("the request body ended too early")
	}
	return body, nil
}

func tooLarge(most int64) error {
	return lastmile.TooLarge("the request body is larger than %d bytes", most)
}

// isText reports whether a database can store s: PostgreSQL accepts neither NUL
// nor invalid UTF-8.
func isText(s string) bool {
	return !strings.ContainsRune(s, 0) && utf8.ValidString(s)
}

// absent reports whether a query parameter has only what languages write for a
// value that is not there. Some clients send it when they have none.
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
