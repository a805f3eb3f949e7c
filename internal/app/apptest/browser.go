package apptest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"dray/internal/identity"
	"dray/internal/lastmile"
)

// Browser is a browser that shows pages of the platform, with its own cookies.
type Browser struct {
	Platform *Platform
	Jar      *cookiejar.Jar
	Address  string // sent as the origin of requests; empty for none
	Host     string // host name that the browser has opened; empty for that of the platform
	Headers  map[string]string
}

// Browser returns a browser without cookies.
func (p *Platform) Browser(t testing.TB) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{Platform: p, Jar: jar, Headers: map[string]string{"Dray-Request": "1", "User-Agent": "test browser"}}
}

// Call sends a request to a path of the server; body is JSON text, or anything to
// encode, or nil.
func (b *Browser) Call(t testing.TB, method, path string, body any) Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.Platform.URL+path, bytes.NewReader(encode(t, body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range b.Headers {
		request.Header.Set(name, value)
	}
	if b.Address != "" {
		request.Header.Set("X-Forwarded-For", b.Address)
	}
	if b.Host != "" {
		request.Host = b.Host
	}
	client := http.Client{Jar: b.Jar}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: got}
}

// Cookie returns the value of a cookie, or "".
func (b *Browser) Cookie(t testing.TB, name string) string {
	t.Helper()
	at, err := url.Parse(b.Platform.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.Jar.Cookies(at) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// Admin creates an administrator of the organization and returns a browser in which the
// administrator is signed in. body is that of POST /admins.
func (c *Client) Admin(t testing.TB, body string) (*Browser, lastmile.AdminID) {
	t.Helper()
	made := c.Must(t, http.MethodPost, "/admins", body)
	_, link, err := c.Platform.Links.ForOperator(t.Context(), made["email"].(string), identity.SignIn, false)
	if err != nil {
		t.Fatal(err)
	}
	b := c.Platform.Browser(t)
	b.Call(t, http.MethodPost, "/account/v1/link/accept", map[string]string{"token": TokenOf(link.Link)}).OK(t)
	return b, lastmile.AdminID(made["id"].(string))
}

// TokenOf returns the token of a one-time link.
func TokenOf(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }
