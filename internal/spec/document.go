package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// The parts of OpenAPI 3.1 documents that are used here.
type (
	document struct {
		OpenAPI    string                       `json:"openapi"`
		Info       info                         `json:"info"`
		Servers    []server                     `json:"servers"`
		Security   []map[string][]string        `json:"security"`
		Tags       []tag                        `json:"tags"`
		Paths      members[members[*operation]] `json:"paths"`
		Components components                   `json:"components"`
	}

	info struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description,omitempty"`
		Program     string `json:"x-program-version,omitempty"`
	}

	server struct {
		URL string `json:"url"`
	}

	tag struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}

	operation struct {
		OperationID string                 `json:"operationId"`
		Tags        []string               `json:"tags"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description,omitempty"`
		Security    *[]map[string][]string `json:"security,omitempty"` // empty for public operations
		Parameters  []*specParameter       `json:"parameters,omitempty"`
		RequestBody *requestBody           `json:"requestBody,omitempty"`
		Responses   members[*response]     `json:"responses"`

		sample string // example of a response that is not JSON, for the reference
	}

	specParameter struct {
		Ref         string  `json:"$ref,omitempty"`
		Name        string  `json:"name,omitempty"`
		In          string  `json:"in,omitempty"`
		Description string  `json:"description,omitempty"`
		Required    bool    `json:"required,omitempty"`
		Schema      *schema `json:"schema,omitempty"`

		example string // for the reference
	}

	requestBody struct {
		Description string             `json:"description,omitempty"`
		Required    bool               `json:"required,omitempty"`
		Content     map[string]content `json:"content"`
	}

	content struct {
		Schema  *schema         `json:"schema"`
		Example json.RawMessage `json:"example,omitempty"`
	}

	response struct {
		Ref         string                  `json:"$ref,omitempty"`
		Description string                  `json:"description,omitempty"`
		Headers     members[*specParameter] `json:"headers,omitempty"`
		Content     map[string]content      `json:"content,omitempty"`
	}

	components struct {
		SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
		Parameters      members[*specParameter]   `json:"parameters"`
		Headers         members[*specParameter]   `json:"headers"`
		Responses       members[*response]        `json:"responses"`
		Schemas         map[string]*schema        `json:"schemas"`
	}

	securityScheme struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description,omitempty"`
	}
)

// Document returns the OpenAPI document of an API. It is deterministic.
func (a API) Document() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	doc, gaps := a.document()
	if len(gaps) > 0 {
		return nil, fmt.Errorf("the OpenAPI document of %s cannot describe the JSON of %v", a.Title, gaps)
	}
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document of %s: %w", a.Title, err)
	}
	return out.Bytes(), nil
}

// Handler returns a handler that serves the OpenAPI document. It needs no authorization,
// because the document contains no data of organizations.
func (a API) Handler() (http.Handler, error) {
	doc, err := a.Document()
	if err != nil {
		return nil, err
	}
	return static(jsonType, doc)
}

// static returns a handler that serves data, which never changes while the program runs.
func static(contentType string, data []byte) (http.HandlerFunc, error) {
	packed, err := compressed(data)
	if err != nil {
		return nil, err
	}
	etag, packedTag := etagOf(data), etagOf(packed)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		if AcceptsGzip(r) && r.Header.Get("Range") == "" {
			w.Header().Set("Content-Encoding", "gzip")
			serveBytes(w, r, contentType, packedTag, packed)
			return
		}
		serveBytes(w, r, contentType, etag, data)
	}, nil
}

func etagOf(data []byte) string {
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// serveBytes responds with data, or with 304 if the client has it already.
func serveBytes(w http.ResponseWriter, r *http.Request, contentType, etag string, data []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("ETag", etag)
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
