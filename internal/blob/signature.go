package blob

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// signer signs requests as services of the S3 protocol expect it (signature
// version 4): a key made of the secret, the day, the region and the service
// signs a canonical form of the request.
type signer struct {
	keys            S3Keys
	region, service string
}

// sign adds the headers that prove who sent the request, and that it is whole.
func (s signer) sign(r *http.Request, body []byte, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	r.Header.Set("X-Amz-Content-Sha256", digest(body))
	if s.keys.Token != "" {
		r.Header.Set("X-Amz-Security-Token", s.keys.Token)
	}
	names, headers := canonicalHeaders(r)
	request := strings.Join([]string{
		r.Method, canonicalPath(r.URL), r.URL.Query().Encode(), headers, names, digest(body),
	}, "\n")
	scope := strings.Join([]string{now.Format("20060102"), s.region, s.service, "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", now.Format("20060102T150405Z"), scope, digest([]byte(request))}, "\n")
	key := []byte("AWS4" + s.keys.Secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.keys.ID+"/"+scope+
		",SignedHeaders="+names+",Signature="+hex.EncodeToString(mac(key, text)))
}

// canonicalHeaders lists the names of all headers, and the headers, a line for
// each, in order.
func canonicalHeaders(r *http.Request) (names, lines string) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	values := map[string]string{"host": host}
	for name, value := range r.Header {
		values[strings.ToLower(name)] = strings.TrimSpace(strings.Join(value, ","))
	}
	sorted := make([]string, 0, len(values))
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var out strings.Builder
	for _, name := range sorted {
		out.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(sorted, ";"), out.String()
}

// canonicalPath is the path with everything but unreserved characters and
// slashes percent-encoded.
func canonicalPath(u *url.URL) string {
	var out strings.Builder
	for _, c := range []byte(u.Path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			out.WriteByte(c)
		default:
			const digits = "0123456789ABCDEF"
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
