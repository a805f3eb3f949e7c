package contract_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/edge"
)

func TestEdgeContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		team := id(t, c, "/teams", `{"name":"T","workers":[],"managers":[]}`)

		t.Run("every response has the headers that clients need", func(t *testing.T) {
			for name, a := range map[string]apptest.Response{
				"a record":            c.Call(t, "GET", "/teams/"+team, nil),
				"a list":              c.Call(t, "GET", "/teams", nil),
				"a change":            c.Call(t, "PUT", "/teams/"+team, `{}`),
				"an empty response":   c.Call(t, "DELETE", "/teams/"+id(t, c, "/teams", `{"name":"Gone","workers":[],"managers":[]}`), nil),
				"no key":              exchange(t, "GET", p.URL+"/api/v2/teams", nil),
				"a missing record":    c.Call(t, "GET", "/teams/"+unknownID, nil),
				"a missing path":      c.Call(t, "GET", "/nothing", nil),
				"a wrong method":      c.Call(t, "DELETE", "/teams", nil),
				"a rejected body":     c.Call(t, "POST", "/teams", `{`),
				"a large body":        c.Call(t, "POST", "/teams", strings.Repeat(" ", edge.MaxBody+1)),
				"another site":        send(t, c, "POST", "/teams", `{}`, "Sec-Fetch-Site", "cross-site"),
				"OPTIONS":             send(t, c, "OPTIONS", "/teams", ""),
				"a repeated response": c.Call(t, "POST", "/teams", `{"name":"Again","workers":[],"managers":[]}`, "Idempotency-Key", "k"),
			} {
				t.Run(name, func(t *testing.T) {
					checkHeaders(t, a)
					if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != "no-store" {
						t.Errorf("a cache may keep it, or a browser guess its type: %v", a.Header)
					}
				})
			}
		})
		t.Run("the OpenAPI spec needs no key", func(t *testing.T) {
			a := exchange(t, "GET", p.URL+"/api/v2/openapi.json", nil).OK(t)
			if a.Header.Get("Content-Type") != "application/json" || a.Object(t)["openapi"] != "3.1.0" {
				t.Errorf("responded with %v", a.Header)
			}
		})
		t.Run("each request has its own id", func(t *testing.T) {
			seen := map[string]bool{}
			for range 20 {
				a := c.Call(t, "GET", "/teams/"+unknownID, nil, "X-Request-Id", "chosen-by-the-client")
				notFound.check(t, a)
				seen[a.Header.Get("X-Request-Id")] = true
			}
			if len(seen) != 20 {
				t.Errorf("20 requests have %d ids", len(seen))
			}
		})
		t.Run("an unknown path is not found", func(t *testing.T) {
			for _, path := range []string{
				"/nothing", "/Teams", "/teams/" + team + "/nothing", "/workers/" + unknownID + "/Schedule", "/organization/x/y",
				"/%74eams%2F" + team, "/teams%00", "/teams/%FF%FE", "/", "", "/auth", "/auth/test/more", "/recipients/name/a/b",
			} {
				notFound.check(t, send(t, c, "GET", path, ""))
				notFound.check(t, exchange(t, "GET", p.URL+"/api/v2"+path, nil))
			}
			for _, path := range []string{"/nothing", "/api", "/api/", "/api/v1/teams", "/api/v2teams", "/api/v3/teams/" + team, "/api/v2.1"} {
				a := exchange(t, "GET", p.URL+path, nil, "Authorization", basic(c.Key))
				notFound.check(t, a, path)
				checkHeaders(t, a)
			}
			for _, path := range []string{"/teams//" + team, "/./teams", "/teams/../teams", "/workers/..%2fteams"} {
				a := rawRequest(t, p.URL, "GET /api/v2"+path+" HTTP/1.1", "Authorization: "+basic(c.Key))
				notFound.check(t, a)
			}
		})
		t.Run("a method that a path does not support is rejected, with the list of those it supports", func(t *testing.T) {
			for request, want := range map[string][]string{
				"PATCH /teams":                {"GET", "POST"},
				"DELETE /teams":               {"GET", "POST"},
				"POST /teams/" + team:         {"DELETE", "GET", "PUT"},
				"PUT /destinations":           {"POST"},
				"GET /destinations":           {"POST"},
				"HEAD /destinations":          {"POST"},
				"OPTIONS /teams":              {"GET", "POST"},
				"BREW /auth/test":             {"GET"},
				"GET /workers/metadata":       {"DELETE", "GET", "POST", "PUT"},
				"POST /auth/test":             {"GET"},
				"TRACE /organization":         {"GET"},
				"DELETE /recipients/name/Ann": {"GET"},
			} {
				method, path, _ := strings.Cut(request, " ")
				a := exchange(t, method, p.URL+"/api/v2"+path, nil, "Authorization", basic(c.Key))
				if method == "HEAD" {
					if a.Status != 405 || len(a.Body) != 0 {
						t.Errorf("%s responded with %d: %s", request, a.Status, a.Body)
					}
				} else if slices.Contains(want, method) {
					notFound.check(t, a) // /workers/{id} with an id that is a word
					continue
				} else {
					wrongMethod.check(t, a, method)
				}
				allowed := strings.Split(a.Header.Get("Allow"), ", ")
				slices.Sort(allowed)
				if slices.Contains(want, "GET") {
					want = slices.Sorted(slices.Values(append(want, "HEAD")))
				}
				if !slices.Equal(allowed, want) {
					t.Errorf("%s: Allow is %v, want %v", request, allowed, want)
				}
			}
		})
		t.Run("HEAD responds as GET does, without the body", func(t *testing.T) {
			got := c.Call(t, "GET", "/teams/"+team, nil).OK(t)
			head := exchange(t, "HEAD", p.URL+"/api/v2/teams/"+team, nil, "Authorization", basic(c.Key))
			if head.Status != 200 || len(head.Body) != 0 || head.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) {
				t.Errorf("responded with %d with %d bytes and %v", head.Status, len(head.Body), head.Header)
			}
			checkHeaders(t, head)
			for path, status := range map[string]int{"/teams/" + unknownID: 404, "/nothing": 404, "/teams": 200} {
				a := exchange(t, "HEAD", p.URL+"/api/v2"+path, nil, "Authorization", basic(c.Key))
				if a.Status != status || len(a.Body) != 0 {
					t.Errorf("HEAD %s responded with %d", path, a.Status)
				}
			}
		})
		t.Run("a path may be written in several ways", func(t *testing.T) {
			recipient := id(t, c, "/recipients", `{"name":"Plus","phone":"+12125550142"}`)
			for path, want := range map[string]string{
				"/teams/" + team + "/":                team,
				"//teams/" + team:                     team,
				"/teams/" + team + "?":                team,
				"/teams/" + team + "/?":               team,
				"/teams/" + team + "?a=b&a=c&%20":     team,
				"/%74eams/" + team:                    team,
				"/teams/%" + hexOf(team):              team,
				"/recipients/phone/+12125550142":      recipient,
				"/recipients/phone/%2B12125550142/":   recipient,
				"/recipients/phone/+1(212)5550142":    recipient,
				"/recipients/name/plus/":              recipient,
				"/recipients/name/%70lus?x":           recipient,
				"/recipients/" + recipient + "?%2F=1": recipient,
			} {
				a := exchange(t, "GET", p.URL+"/api/v2"+path, nil, "Authorization", basic(c.Key))
				if a.Status != 200 || a.Object(t)["id"] != want {
					t.Errorf("GET %s responded with %d: %s", path, a.Status, a.Body)
				}
			}
			for _, path := range []string{"/teams/%2A%7E*~%2a%7eabcdefghijklmnop", "/teams/*~*~*~*~abcdefghijklmnop"} {
				notFound.check(t, send(t, c, "GET", path, ""), "does not exist")
			}
			notFound.check(t, send(t, c, "GET", "/teams/"+team+"%2F", ""))
			if a := rawRequest(t, p.URL, "GET /api/v2/teams/%zz HTTP/1.1", "Authorization: "+basic(c.Key)); a.Status != 400 && a.Status != 404 {
				t.Errorf("responded with %d", a.Status)
			}
		})
		t.Run("a body must be sent as it is", func(t *testing.T) {
			const body = `{"name":"Plain","workers":[],"managers":[]}`
			invalid.check(t, send(t, c, "POST", "/teams", body, "Content-Encoding", "gzip"), "Content-Encoding", "gzip")
			send(t, c, "POST", "/teams", body, "Content-Encoding", "identity").OK(t)
		})
		t.Run("a body of GET and DELETE is ignored", func(t *testing.T) {
			for _, body := range []string{"null", "{", "\xff"} {
				send(t, c, "GET", "/teams/"+team, body, "Content-Type", "application/json").OK(t)
				notFound.check(t, send(t, c, "DELETE", "/teams/"+unknownID, body))
			}
		})
		t.Run("any content type is read as JSON", func(t *testing.T) {
			for _, kind := range []string{"application/json", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded", ""} {
				send(t, c, "PUT", "/teams/"+team, `{"enableSelfAssignment":true}`, "Content-Type", kind).OK(t)
			}
		})
		t.Run("a page of another site may not send requests", func(t *testing.T) {
			before := string(c.Call(t, "GET", "/teams", nil).OK(t).Body)
			for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
				forbidden.check(t, send(t, c, "POST", "/teams", `{"name":"Evil","workers":[],"managers":[]}`, headers...))
				forbidden.check(t, send(t, c, "PUT", "/teams/"+team, `{"name":"Evil"}`, headers...))
				forbidden.check(t, send(t, c, "DELETE", "/teams/"+team, "", headers...))
			}
			if after := string(c.Call(t, "GET", "/teams", nil).OK(t).Body); after != before {
				t.Errorf("there was %s and is %s", before, after)
			}
			send(t, c, "PUT", "/teams/"+team, `{}`, "Sec-Fetch-Site", "same-origin").OK(t)
			send(t, c, "PUT", "/teams/"+team, `{}`, "Sec-Fetch-Site", "none").OK(t)
			send(t, c, "PUT", "/teams/"+team, `{}`, "Origin", p.URL).OK(t)
			a := send(t, c, "GET", "/teams", "", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").OK(t)
			if a.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("another site may read the response")
			}
		})
		t.Run("a body over the limit is rejected, one at the limit is not", func(t *testing.T) { testBodySize(t, p, c, team) })
		t.Run("JSON that no honest client sends is rejected, and the error names the location", func(t *testing.T) { testStrictJSON(t, c, team) })
	})
}

// hexOf returns a text with its first character in hexadecimal, without the percent sign.
func hexOf(s string) string { return fmt.Sprintf("%02x", s[0]) + s[1:] }

// rawRequest sends a request line and headers as they are.
func rawRequest(t testing.TB, url string, lines ...string) apptest.Response {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:errcheck // the read would fail
	lines = append(lines, "Host: "+address, "Connection: close", "", "")
	// A server that rejects early may have closed before all was sent.
	io.WriteString(conn, strings.Join(lines, "\r\n")) //nolint:errcheck // see above
	return readResponse(t, conn)
}

// sendAll sends all of a request before it reads the response.
func sendAll(t testing.TB, url, head string, body []byte) apptest.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:errcheck // the write would fail
	if _, err := conn.Write(fmt.Appendf(nil, "%s\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)); err != nil {
		t.Fatalf("the server did not read all of the request: %v", err)
	}
	return readResponse(t, conn)
}

func readResponse(t testing.TB, conn net.Conn) apptest.Response {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Response{Status: response.StatusCode, Header: response.Header, Body: body}
}

func testBodySize(t *testing.T, p *apptest.Platform, c *apptest.Client, team string) {
	url := p.URL + "/api/v2/teams/" + team
	fill := func(size int) []byte { return append([]byte(`{}`), bytes.Repeat([]byte(" "), size-2)...) }
	// A reader without a length makes the client send chunks.
	unknownLength := func(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} }
	for name, body := range map[string]io.Reader{"length": bytes.NewReader(fill(edge.MaxBody)), "chunks": unknownLength(fill(edge.MaxBody))} {
		if a := exchange(t, "PUT", url, body, "Authorization", basic(c.Key)); a.Status != 200 {
			t.Errorf("%s at the limit: responded with %d: %s", name, a.Status, a.Body)
		}
	}
	for name, body := range map[string]io.Reader{"length": bytes.NewReader(fill(edge.MaxBody + 1)), "chunks": unknownLength(fill(edge.MaxBody + 1))} {
		t.Run(name, func(t *testing.T) {
			tooLarge.check(t, exchange(t, "PUT", url, body, "Authorization", basic(c.Key)), strconv.Itoa(edge.MaxBody))
		})
	}
	// A client that sends all before it reads gets a response too.
	tooLarge.check(t, sendAll(t, p.URL, "POST /api/v2/teams HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: "+basic(c.Key), fill(16<<20)))
	// A body that is far too large is rejected by its length, without being read.
	a := rawRequest(t, p.URL, "POST /api/v2/teams HTTP/1.1", "Authorization: "+basic(c.Key), "Content-Length: 10000000000")
	tooLarge.check(t, a)
}

func testStrictJSON(t *testing.T, c *apptest.Client, team string) {
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	members := func(n int) string {
		each := make([]string, n)
		for i := range each {
			each[i] = fmt.Sprintf(`"k%d":0`, i)
		}
		return "{" + strings.Join(each, ",") + "}"
	}
	before := c.Must(t, "GET", "/teams/"+team, nil)["name"]
	for name, tt := range map[string]struct {
		body  string
		want  rejection
		words []string
	}{
		"one key twice":                 {`{"name":"a","name":"b"}`, invalid, []string{"name", "more than once"}},
		"one key twice, once escaped":   {`{"name":"a","n\u0061me":"b"}`, invalid, []string{"name", "more than once"}},
		"a key twice that is unknown":   {`{"name":"a","x":{"y":1,"y":2}}`, invalid, []string{"x.y", "more than once"}},
		"a number for a text":           {`{"name":1}`, malformed, []string{"name", "string", "number"}},
		"a text for a list":             {`{"workers":"x"}`, malformed, []string{"workers", "array", "string"}},
		"a list for an object":          {`["name"]`, malformed, []string{"object", "array"}},
		"a text for an object":          {`"name"`, malformed, []string{"object"}},
		"invalid UTF-8":                 {"{\"name\":\"a\xff\"}", invalid, []string{"name", "UTF-8"}},
		"invalid UTF-8 in a key":        {"{\"n\xffme\":\"a\"}", invalid, []string{"UTF-8"}},
		"invalid UTF-8, unknown field":  {"{\"x\":{\"y\":[\"\xc3\x28\"]}}", invalid, []string{"x.y[0]", "UTF-8"}},
		"an overlong form":              {"{\"name\":\"\xc0\x80\"}", invalid, []string{"name", "UTF-8"}},
		"half of a surrogate pair":      {`{"name":"\ud83d"}`, invalid, []string{"name", "surrogate"}},
		"the other half":                {`{"name":"\ude00\ud83d"}`, invalid, []string{"name", "surrogate"}},
		"NUL, escaped":                  {`{"name":"a\u0000b"}`, invalid, []string{"name", "control"}},
		"NUL as it is":                  {"{\"name\":\"a\x00b\"}", invalid, []string{"name", "control"}},
		"NUL in metadata":               {`{"metadata":[{"name":"a","type":"object","value":{"b":["\u0000"]}}]}`, invalid, []string{"metadata[0].value.b[0]", "control"}},
		"a bell":                        {`{"name":"\u0007"}`, invalid, []string{"name", "control"}},
		"a newline as it is":            {"{\"name\":\"a\nb\"}", invalid, []string{"name"}},
		"a number out of range":         {`{"metadata":[{"name":"a","type":"number","value":1e999}]}`, invalid, []string{"metadata[0].value", "1e999"}},
		"2^53+1":                        {`{"metadata":[{"name":"a","type":"number","value":9007199254740993}]}`, invalid, []string{"metadata[0].value", "2^53"}},
		"-2^53-1":                       {`{"metadata":[{"name":"a","type":"number","value":-9007199254740993}]}`, invalid, []string{"metadata[0].value"}},
		"a number too large, unknown":   {`{"x":1e400}`, invalid, []string{"x"}},
		"not a number":                  {`{"x":NaN}`, invalid, []string{"JSON", "x"}},
		"a number with a zero first":    {`{"x":01}`, invalid, []string{"JSON"}},
		"a hexadecimal number":          {`{"x":0x1}`, invalid, []string{"JSON"}},
		"33 levels":                     {`{"x":` + deep(32) + `}`, invalid, []string{"x", "32"}},
		"a thousand levels":             {deep(1000), invalid, []string{"32"}},
		"a hundred thousand levels":     {strings.Repeat(`{"a":`, 100_000), invalid, []string{"32"}},
		"257 members":                   {members(257), invalid, []string{"256"}},
		"10,001 elements":               {`{"x":[0` + strings.Repeat(",0", 10_000) + `]}`, invalid, []string{"x", "10000"}},
		"more after the body":           {`{"name":"a"} {"name":"b"}`, invalid, []string{"one JSON value"}},
		"a comma after the body":        {`{"name":"a"},`, invalid, []string{"one JSON value"}},
		"a byte order mark":             {"\ufeff" + `{"name":"a"}`, invalid, []string{"byte order mark"}},
		"UTF-16":                        {"\xff\xfe{\x00}\x00", invalid, []string{"JSON"}},
		"a comma too many":              {`{"name":"a",}`, invalid, []string{"JSON"}},
		"a comment":                     {`{"name":"a"/* b */}`, invalid, []string{"JSON"}},
		"single quotes":                 {`{'name':'a'}`, invalid, []string{"JSON"}},
		"a key without quotes":          {`{name:"a"}`, invalid, []string{"JSON"}},
		"cut short":                     {`{"name":"a`, invalid, []string{"JSON", "name"}},
		"a form":                        {`name=a&workers=`, invalid, []string{"JSON"}},
		"nothing but a word":            {`nul`, invalid, []string{"JSON"}},
		"a word in capitals":            {`{"x":True}`, invalid, []string{"JSON", "x"}},
		"an unknown escape":             {`{"name":"\x41"}`, invalid, []string{"JSON", "name"}},
		"a key that is a script":        {`{"<script>":` + deep(33) + `}`, invalid, []string{"32"}},
		"a long key":                    {`{"` + strings.Repeat("k", 10_000) + `":1e999}`, invalid, []string{"kkk"}},
		"white space outside of JSON's": {"\u00a0{}", invalid, []string{"JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, c, "PUT", "/teams/"+team, tt.body)
			tt.want.check(t, a, tt.words...)
			if len(a.Body) > 2000 {
				t.Errorf("the response repeats %d bytes", len(a.Body))
			}
		})
	}
	for name, body := range map[string]string{
		"no body":                     ``,
		"white space":                 " \t\r\n",
		"null":                        `null`,
		"null in white space":         "\n null \n",
		"an empty object":             `{}`,
		"32 levels, unknown field":    `{"x":` + deep(31) + `}`,
		"256 unknown members":         members(256),
		"a key in other letter case":  `{"Name":"other","NAME":"other","ENABLESELFASSIGNMENT":7}`,
		"keys that differ in case":    `{"name":` + text(fmt.Sprint(before)) + `,"Name":1}`,
		"2^53":                        `{"x":9007199254740992}`,
		"a very small number":         `{"x":1e-400}`,
		"an object like JavaScript's": `{"__proto__":{"a":1},"constructor":null}`,
	} {
		t.Run(name+" is accepted", func(t *testing.T) {
			matches(t, send(t, c, "PUT", "/teams/"+team, body).OK(t).Object(t)["name"], text(fmt.Sprint(before)))
		})
	}
	t.Run("text of any language and script is preserved", func(t *testing.T) {
		const name = "Ünï😀çødé \u202eabc\u200b \\ \" / <script>&amp; \u2028 tab\tnewline\n%00 \u007f e\u0301"
		matches(t, c.Must(t, "PUT", "/teams/"+team, `{"name":`+text(name)+`}`)["name"], text(name))
		matches(t, c.Must(t, "GET", "/teams/"+team, nil)["name"], text(name))
		matches(t, send(t, c, "PUT", "/teams/"+team, `{"name":"\ud83d\ude00\/\u00e9\r\t"}`).OK(t).Object(t)["name"], `"😀/é\r\t"`)
	})
}
