package edge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Call is an authorized request.
type Call struct {
	Who   lastmile.Principal
	HTTP  *http.Request
	Body  []byte
	Query url.Values

	hold    hold
	read    int64       // bytes read from the database
	header  http.Header // header of the response
	divided string      // see Route.Divided
}

// RequestID returns the id of the request, which is also in its response.
func (c *Call) RequestID() string { return c.header.Get("X-Request-Id") }

// SetCookie adds a cookie to the response.
func (c *Call) SetCookie(cookie *http.Cookie) { c.header.Add("Set-Cookie", cookie.String()) }

// Hold reserves memory for a response of the given number of bytes, until it has been sent.
func (c *Call) Hold(bytes int) error {
	err := c.hold.resize(int64(bytes))
	if err != nil {
		c.hold.budget.countRejection()
	}
	return err
}

// HoldPart reserves memory for the part of a stream that is sent next, in place
// of the memory for the previous part.
func (c *Call) HoldPart(bytes int) error { return c.Hold(streamBytes + bytes) }

// Weights of the memory of a response. The rows that are read from the database are
// decoded and encoded again, so that a response takes more memory than its rows while it
// is made.
const (
	readWeight = 2
	readStep   = 64 << 10
	listWeight = 8 // for a response that is a list of ids, which are read from a row each
)

// Count implements lastmile.Meter: the rows that a request reads count as memory that
// it holds.
func (c *Call) Count(bytes int) error {
	c.read += int64(bytes)
	want := c.read * readWeight
	if c.hold.budget == nil || want <= max(c.hold.bytes, UncountedBytes) {
		return nil
	}
	most := c.hold.budget.most()
	if want > most {
		advice := cmp.Or(c.divided, "use filters or smaller pages")
		return lastmile.Invalid("the response would have more than %d MiB, which is more than the server has memory for: %s", most/readWeight>>20, advice)
	}
	return c.Hold(int(min(want+readStep-want%readStep, most)))
}

// ID returns the id of the record that the path names.
func (c *Call) ID() string { return c.HTTP.PathValue("id") }

// Path returns a parameter of the path.
func (c *Call) Path(name string) string { return c.HTTP.PathValue(name) }

// List returns a query parameter with several values: one comma-separated text, which
// some clients put in brackets or separate with spaces. Others send the parameter
// several times, as name, as name[], or as name[0], name[1] and so on.
func (c *Call) List(name string) []string {
	text := strings.NewReplacer("[", "", "]", "", " ", ",").Replace(strings.Join(c.sent(name), ","))
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// sent returns the values of a query parameter that may be sent several times.
func (c *Call) sent(name string) []string {
	all := slices.Concat(c.Query[name], c.Query[name+"[]"])
	for i := 0; c.Query.Has(fmt.Sprintf("%s[%d]", name, i)); i++ {
		all = append(all, c.Query[fmt.Sprintf("%s[%d]", name, i)]...)
	}
	return all
}

// Phones returns a query parameter with several phone numbers, in the forms of List. The
// numbers may have spaces: these separate numbers only before a plus, and in brackets without
// commas. A value that begins with a space has lost a plus that was not encoded.
func (c *Call) Phones(name string) []string {
	var phones []string
	for _, text := range c.sent(name) {
		lost := strings.HasPrefix(text, " ")
		if strings.HasPrefix(text, "[") && !strings.Contains(text, ",") {
			text = strings.ReplaceAll(text, " ", ",")
		}
		for item := range strings.SplitSeq(strings.NewReplacer("[", "", "]", "", " +", ",+").Replace(text), ",") {
			phone := strings.TrimSpace(item)
			if phone == "" {
				continue
			}
			if lost && item[0] == ' ' {
				phone = "+" + phone
			}
			phones = append(phones, phone)
		}
	}
	return phones
}

// Number returns a numeric query parameter, and whether it was sent. Clients send
// floats and exponents where whole numbers are meant.
func (c *Call) Number(name string) (n float64, sent bool, err error) {
	text := c.Query.Get(name)
	if text == "" {
		return 0, false, nil
	}
	n, err = strconv.ParseFloat(strings.ReplaceAll(text, " ", "+"), 64) // a plus that was not encoded
	if err != nil || n-n != 0 {
		return 0, true, lastmile.Malformed("%s must be a number, not %q", name, Clip(text))
	}
	return n, true, nil
}

// NumberList returns a query parameter that is a list of numbers, in the shortest form of
// each: 1.0 becomes 1. Items that are not numbers are unchanged.
func (c *Call) NumberList(name string) []string {
	items := c.List(name)
	for i, item := range items {
		if n, err := strconv.ParseFloat(item, 64); err == nil {
			items[i] = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	return items
}

// RequiredNumber returns a numeric query parameter that must be there.
func (c *Call) RequiredNumber(name string) (float64, error) {
	n, sent, err := c.Number(name)
	if err == nil && !sent {
		err = lastmile.Missing(name)
	}
	return n, err
}

// Point returns a query parameter of the form longitude,latitude; nil when it was not sent.
func (c *Call) Point(name string) (*lastmile.Point, error) {
	text := c.Query.Get(name)
	if text == "" {
		return nil, nil
	}
	lon, lat, _ := strings.Cut(strings.Trim(text, "[] "), ",")
	x, errX := strconv.ParseFloat(strings.TrimSpace(lon), 64)
	y, errY := strconv.ParseFloat(strings.TrimSpace(lat), 64)
	at, err := lastmile.NewPoint(x, y)
	if errors.Join(errX, errY, err) != nil {
		return nil, lastmile.Malformed("%s must be a longitude (-180 to 180) and a latitude (-90 to 90), separated by a comma, not %q", name, Clip(text))
	}
	return &at, nil
}

// Points returns a query parameter with several locations of the form longitude,latitude,
// separated by semicolons.
func (c *Call) Points(name string) (all []lastmile.Point, err error) {
	text := c.Query.Get(name)
	if text == "" {
		return nil, lastmile.Missing(name)
	}
	for pair := range strings.SplitSeq(strings.Trim(text, "; "), ";") {
		lon, lat, _ := strings.Cut(strings.Trim(pair, "[] "), ",")
		x, errX := strconv.ParseFloat(strings.TrimSpace(lon), 64)
		y, errY := strconv.ParseFloat(strings.TrimSpace(lat), 64)
		at, err := lastmile.NewPoint(x, y)
		if errors.Join(errX, errY, err) != nil {
			return nil, lastmile.Malformed("%s must be locations of the form longitude,latitude separated by semicolons, not %q", name, Clip(pair))
		}
		all = append(all, at)
	}
	return all, nil
}

// Time returns a query parameter in Unix milliseconds; zero when it was not sent.
func (c *Call) Time(name string) (time.Time, error) {
	ms, sent, err := c.Number(name)
	if err != nil || !sent {
		return time.Time{}, err
	}
	const latest = 4_102_444_800_000 // 2100
	if ms < 0 || ms > latest {
		return time.Time{}, lastmile.Invalid("%s must be a time in Unix milliseconds, not %g", name, ms)
	}
	return time.UnixMilli(int64(ms)).UTC(), nil
}

// Times sets times to the query parameters of their names, as Time returns them.
func (c *Call) Times(params map[string]*time.Time) (err error) {
	for _, name := range slices.Sorted(maps.Keys(params)) { // so that the same request gets the same error
		if *params[name], err = c.Time(name); err != nil {
			return err
		}
	}
	return nil
}

// Flag returns a boolean query parameter; false when it was not sent.
func (c *Call) Flag(name string) bool {
	return strings.EqualFold(c.Query.Get(name), "true") || c.Query.Get(name) == "1"
}

// OptionalFlag returns a boolean query parameter; nil when it was not sent.
func (c *Call) OptionalFlag(name string) *bool {
	if c.Query.Get(name) == "" {
		return nil
	}
	flag := c.Flag(name)
	return &flag
}

// Clip shortens a client's text for a message.
func Clip(text string) string {
	const most = 64
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
