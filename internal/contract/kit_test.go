package contract_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// The contract tests drive the whole platform from outside, through HTTP, on each database.
// This file has the helpers that they share.

// rejection is an error of the API.
type rejection struct {
	status  int
	class   string
	subcode int
}

// The errors of the API.
var (
	unauthenticated    = rejection{401, "InvalidCredentials", 1102}
	outsideScope       = rejection{401, "InvalidCredentials", 1103}
	forbidden          = rejection{403, "Forbidden", 1300}
	notFound           = rejection{404, "ResourceNotFound", 1402}
	invalid            = rejection{400, "InvalidContent", 1000}
	duplicate          = rejection{400, "InvalidContent", 1004}
	malformed          = rejection{400, "InvalidArgument", 1900}
	notUnique          = rejection{400, "InvalidArgument", 1901}
	preconditionFailed = rejection{412, "PreconditionFailed", 2218}
	wrongMethod        = rejection{405, "MethodNotAllowed", 1405}
	tooLarge           = rejection{413, "InvalidContent", 1006}
	tooMany            = rejection{429, "TooManyRequests", 2300}
)

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// check fails the test unless the response is exactly this error, in the shape of the API,
// with each of the words in its message. It returns the error's cause.
func (r rejection) check(t testing.TB, a apptest.Response, words ...string) any {
	t.Helper()
	var shape struct {
		Code    string `json:"code"`
		Message struct {
			Error   int    `json:"error"`
			Message string `json:"message"`
			Cause   any    `json:"cause"`
			Request string `json:"request"`
		} `json:"message"`
	}
	dec := json.NewDecoder(bytes.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&shape); err != nil {
		t.Errorf("responded with %d, not an error of the API (%v): %s", a.Status, err, a.Body)
		return nil
	}
	got := rejection{a.Status, shape.Code, shape.Message.Error}
	if got != r {
		t.Errorf("rejected with %v, want %v: %s", got, r, a.Body)
		return nil
	}
	for _, word := range words {
		if !strings.Contains(shape.Message.Message, word) {
			t.Errorf("the message does not say %q: %s", word, a.Body)
		}
	}
	if !uuid4.MatchString(shape.Message.Request) {
		t.Errorf("message.request is not a random UUID: %s", a.Body)
	}
	if header := a.Header.Get("X-Request-Id"); header != shape.Message.Request {
		t.Errorf("X-Request-Id is %q, and message.request %q", header, shape.Message.Request)
	}
	checkHeaders(t, a)
	return shape.Message.Cause
}

// checkHeaders fails the test unless the response has the headers that published clients
// need.
func checkHeaders(t testing.TB, a apptest.Response) {
	t.Helper()
	limit, err := strconv.Atoi(a.Header.Get("X-RateLimit-Limit"))
	if err != nil || limit < 1 {
		t.Errorf("responded with %d with X-RateLimit-Limit %q", a.Status, a.Header.Get("X-RateLimit-Limit"))
	}
	remaining, err := strconv.Atoi(a.Header.Get("X-RateLimit-Remaining"))
	if err != nil || (a.Status != tooMany.status && 2*remaining < limit) {
		t.Errorf("responded with %d with X-RateLimit-Remaining %q of %d: clients stop when little seems to be left",
			a.Status, a.Header.Get("X-RateLimit-Remaining"), limit)
	}
	if !uuid4.MatchString(a.Header.Get("X-Request-Id")) {
		t.Errorf("responded with %d with X-Request-Id %q", a.Status, a.Header.Get("X-Request-Id"))
	}
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("responded with %d with Content-Type %q", a.Status, kind)
	}
}

// send is Client.Call for requests in forms that the OpenAPI spec does not
// describe but the server accepts; only the response is compared with the spec.
func send(t testing.TB, c *apptest.Client, method, path, body string, headers ...string) apptest.Response {
	t.Helper()
	a := exchange(t, method, c.Platform.URL+"/api/v2"+path, strings.NewReader(body),
		append([]string{"Authorization", basic(c.Key + ":")}, headers...)...)
	c.Platform.Spec.Check(t, method, path, a.Status, nil, a.Body)
	return a
}

// exchange sends a request as it is, and does not follow redirects.
func exchange(t testing.TB, method, url string, body io.Reader, headers ...string) apptest.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Response{Status: response.StatusCode, Header: response.Header, Body: got}
}

// basic returns an Authorization header with credentials, usually a key and a colon.
func basic(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

// matches fails the test unless the response is the JSON of want, with the same keys and
// nothing else. In want, "<id>" stands for any id and "<now>" for a time since the tests
// began, in milliseconds. The clock of a platform may be a little ahead.
func matches(t testing.TB, got any, want string) {
	t.Helper()
	for _, fault := range faults(t, got, want) {
		t.Error(fault)
	}
}

// faults returns how a value differs from the JSON of want; see matches.
func faults(t testing.TB, got any, want string) []string {
	t.Helper()
	var plain, expected any
	if err := json.Unmarshal(encode(t, got), &plain); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	return compare("", plain, expected)
}

var began = time.Now().Add(-time.Second)

var idForm = regexp.MustCompile(`^[A-Za-z0-9]{24}$`)

func compare(at string, got, want any) (faults []string) {
	fault := func() []string {
		shown, _ := json.Marshal(got) // it was decoded from JSON
		expected, _ := json.Marshal(want)
		return append(faults, fmt.Sprintf("%s is %s, want %s", strings.TrimPrefix(at, "."), shown, expected))
	}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fault()
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if _, known := want[key]; !known {
				faults = append(faults, fmt.Sprintf("%s.%s is there, and should not be", at, key))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if value, there := object[key]; there {
				faults = append(faults, compare(at+"."+key, value, want[key])...)
			} else {
				faults = append(faults, fmt.Sprintf("%s.%s is not there", at, key))
			}
		}
		return faults
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fault()
		}
		for i := range want {
			faults = append(faults, compare(fmt.Sprintf("%s[%d]", at, i), list[i], want[i])...)
		}
		return faults
	}
	ok := got == want
	switch want {
	case "<id>":
		text, isText := got.(string)
		ok = isText && idForm.MatchString(text)
	case "<now>":
		ms, isNumber := got.(float64)
		at := time.UnixMilli(int64(ms))
		ok = isNumber && ms == float64(int64(ms)) && at.After(began) && time.Until(at) < time.Minute
	}
	if !ok {
		return fault()
	}
	return faults
}

// ids returns the ids of records, in order.
func ids(records []map[string]any) []string {
	list := make([]string, 0, len(records))
	for _, r := range records {
		list = append(list, fmt.Sprint(r["id"]))
	}
	return list
}

// list returns a list of records, and fails the test if it cannot be read.
func list(t testing.TB, c *apptest.Client, path string) []map[string]any {
	t.Helper()
	return c.Call(t, "GET", path, nil).OK(t).List(t)
}

// id creates a record and returns its id, and fails the test if that is rejected.
func id(t testing.TB, c *apptest.Client, path, body string) string {
	t.Helper()
	return fmt.Sprint(c.Must(t, "POST", path, body)["id"])
}

// text returns a string as JSON.
func text(s string) string {
	encoded, _ := json.Marshal(s) // a string can always be encoded
	return string(encoded)
}

// unknownID is an id that no record has.
const unknownID = "nobodyhasthisidentifier0"

// malformedIDs are not ids at all: too short, too long, with a dash, and with a letter that
// is not ASCII.
var malformedIDs = []string{"short", "nobodyhasthisidentifier00", "nobodyhasthis-dentifier0", "nobodyhasthisidentifiér"}

// record returns the record of a list that has an id.
func record(t testing.TB, records []map[string]any, id any) map[string]any {
	t.Helper()
	for _, r := range records {
		if r["id"] == id {
			return r
		}
	}
	t.Fatalf("%v is not listed", id)
	return nil
}

// encode returns a value as JSON.
func encode(t testing.TB, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// changed fails the test if a record differs from before in other fields than the named
// ones, or if timeLastModified increased without a difference or the other way around.
func changed(t testing.TB, what string, before, after map[string]any, fields ...string) {
	t.Helper()
	if then, now := before["timeLastModified"], after["timeLastModified"]; then != nil {
		same := maps.Clone(before)
		same["timeLastModified"] = now
		if differs := len(compare("", after, any(same))) > 0; differs != (now.(float64) > then.(float64)) {
			t.Errorf("%s: timeLastModified went from %.0f to %.0f", what, then, now)
		}
	}
	expected := maps.Clone(after)
	for key, value := range before {
		if key != "timeLastModified" && !slices.Contains(fields, key) {
			expected[key] = value
		}
	}
	for _, fault := range compare("", after, any(expected)) {
		t.Errorf("%s: %s", what, fault)
	}
}
