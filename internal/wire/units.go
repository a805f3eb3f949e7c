package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// The API uses four units of time. A type for each makes it a compile error to mix them up.
type (
	// Millis is a time, in Unix milliseconds. The zero time is null.
	Millis time.Time

	// UnixSeconds is a time, in Unix seconds. The zero time is null.
	UnixSeconds time.Time

	// Seconds is a duration, in whole seconds.
	Seconds time.Duration

	// Minutes is a duration, in minutes that may have a fraction.
	Minutes time.Duration
)

// LonLat is a location, as an array of longitude and latitude.
type LonLat lastmile.Point

// Flag is a boolean that is also decoded from the strings "true" and "false", which published
// clients send.
type Flag bool

// The API accepts times from earliest (inclusive) to latest (exclusive). Other times most
// likely have the wrong unit.
var (
	earliest = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// maxDuration is the maximum absolute value of durations: a century, which is longer than any
// duration of the API needs to be and cannot overflow a time.Duration.
const maxDuration = 100 * 365 * 24 * time.Hour

// Time returns the time in UTC.
func (m Millis) Time() time.Time { return time.Time(m) }

// IsZero reports whether there is no time.
func (m Millis) IsZero() bool { return time.Time(m).IsZero() }

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, time.Time(m).UnixMilli(), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Millis) UnmarshalJSON(data []byte) error {
	t, err := readTime(data, "milliseconds", time.UnixMilli)
	if err != nil {
		return err
	}
	*m = Millis(t)
	return nil
}

// OptionalMillis is a time in a request, in Unix milliseconds; 0 means no time.
type OptionalMillis time.Time

// JSONSchema describes the JSON of the time, for documentation.
func (OptionalMillis) JSONSchema() string {
	return `{"type": "integer", "format": "int64", "description": "Unix time in milliseconds; 0 is none"}`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *OptionalMillis) UnmarshalJSON(data []byte) error {
	if n, ok := codec.Number(data); ok && n == 0 {
		*m = OptionalMillis{}
		return nil
	}
	return (*Millis)(m).UnmarshalJSON(data)
}

// Time returns the time in UTC.
func (u UnixSeconds) Time() time.Time { return time.Time(u) }

// IsZero reports whether there is no time.
func (u UnixSeconds) IsZero() bool { return time.Time(u).IsZero() }

// MarshalJSON implements json.Marshaler.
func (u UnixSeconds) MarshalJSON() ([]byte, error) {
	if u.IsZero() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, time.Time(u).Unix(), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *UnixSeconds) UnmarshalJSON(data []byte) error {
	t, err := readTime(data, "seconds", func(n int64) time.Time { return time.Unix(n, 0) })
	if err != nil {
		return err
	}
	*u = UnixSeconds(t)
	return nil
}

// readTime decodes a time in a unit; null is the zero time. It truncates
// fractions, which clients with more precise clocks send.
func readTime(data []byte, unit string, instant func(int64) time.Time) (time.Time, error) {
	if string(data) == "null" {
		return time.Time{}, nil
	}
	n, ok := codec.Number(data)
	if !ok {
		return time.Time{}, codec.Malformed("must be a time in Unix %s, not %s", unit, shown(data))
	}
	if math.Abs(n) <= codec.MaxNumber {
		t := instant(int64(n)).UTC()
		if !t.Before(earliest) && t.Before(latest) {
			return t, nil
		}
	}
	return time.Time{}, codec.Invalid("must be a time in Unix %s between the years 2000 and 2100, not %s", unit, shown(data))
}

// Duration returns the duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// MarshalJSON implements json.Marshaler. It rounds to the nearest second.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(time.Duration(s).Round(time.Second)/time.Second), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = 0
		return nil
	}
	n, ok := codec.Number(data)
	switch {
	case !ok || n != math.Trunc(n):
		return codec.Malformed("must be a whole number of seconds, not %s", shown(data))
	case math.Abs(n) > maxDuration.Seconds():
		return codec.Invalid("must be a number of seconds of at most a hundred years, not %s", shown(data))
	}
	*s = Seconds(int64(n)) * Seconds(time.Second)
	return nil
}

// Duration returns the duration.
func (m Minutes) Duration() time.Duration { return time.Duration(m) }

// MarshalJSON implements json.Marshaler.
func (m Minutes) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(m).Minutes(), 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler. A number beyond maxDuration is decoded as
// maxDuration: every field has a lower limit of its own, which its check reports.
func (m *Minutes) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*m = 0
		return nil
	}
	n, ok := codec.Number(data)
	if !ok {
		return codec.Malformed("must be a number of minutes, not %s", shown(data))
	}
	n = max(-maxDuration.Minutes(), min(n, maxDuration.Minutes()))
	*m = Minutes(math.Round(n * float64(time.Minute)))
	return nil
}

// WholeMinutes is a duration in a request, in whole minutes.
type WholeMinutes time.Duration

// JSONSchema describes the JSON of the duration, for documentation.
func (WholeMinutes) JSONSchema() string { return `{"type": "integer", "description": "Minutes"}` }

// UnmarshalJSON implements json.Unmarshaler.
func (m *WholeMinutes) UnmarshalJSON(data []byte) error {
	if n, ok := codec.Number(data); ok && n != math.Trunc(n) {
		return codec.Malformed("must be a whole number of minutes, not %s", shown(data))
	}
	return (*Minutes)(m).UnmarshalJSON(data)
}

// Point returns the location as a domain value.
func (l LonLat) Point() lastmile.Point { return lastmile.Point(l) }

// IsZero reports whether there is no location.
func (l LonLat) IsZero() bool { return lastmile.Point(l).IsZero() }

// MarshalJSON implements json.Marshaler.
func (l LonLat) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]float64{l.Lon, l.Lat})
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *LonLat) UnmarshalJSON(data []byte) error {
	const form = "must be an array of two numbers, [longitude, latitude]"
	if string(data) == "null" {
		*l = LonLat{}
		return nil
	}
	if data[0] != '[' {
		return codec.Malformed(form+", not %s", codec.KindName(data[0]))
	}
	// Pointers, because null would otherwise pass as 0.
	var pair []*float64
	if err := codec.DecodePart(data, &pair); err != nil || len(pair) != 2 || pair[0] == nil || pair[1] == nil {
		return codec.Malformed(form)
	}
	p, err := lastmile.NewPoint(*pair[0], *pair[1])
	if err != nil {
		return codec.Invalid("must be [longitude, latitude], in this order: %s", err)
	}
	*l = LonLat(p)
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Flag) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true", `"true"`:
		*f = true
	case "false", `"false"`, "null":
		*f = false
	default:
		return codec.Malformed("must be true or false, not %s", shown(data))
	}
	return nil
}

// shown returns a JSON value for an error message: a scalar as it is, shortened, and an array
// or object by its kind.
func shown(data []byte) string {
	if data[0] == '{' || data[0] == '[' {
		return codec.KindName(data[0])
	}
	return codec.Clip(string(data))
}

// Text is a string that is also decoded from a JSON number, because clients send house
// numbers, apartments and postal codes as either.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); string(data) == "null" {
		return nil
	}
	if n, ok := codec.Number(data); ok && data[0] != '"' {
		*t = Text(strconv.FormatFloat(n, 'f', -1, 64)) // spreadsheets write 94105.0
		return nil
	}
	if data[0] != '"' {
		return codec.Malformed("must be a string, not %s", codec.KindName(data[0]))
	}
	return json.Unmarshal(data, (*string)(t))
}

// JSONSchema describes the JSON of a text.
func (Text) JSONSchema() string { return `{"type": ["string", "number"]}` }

// The JSONSchema methods are for documentation.

// JSONSchema describes the JSON of a time.
func (Millis) JSONSchema() string {
	return `{"type": "integer", "format": "int64", "description": "Unix time in milliseconds"}`
}

// JSONSchema describes the JSON of a time.
func (UnixSeconds) JSONSchema() string {
	return `{"type": "integer", "format": "int64", "description": "Unix time in seconds"}`
}

// JSONSchema describes the JSON of a duration.
func (Seconds) JSONSchema() string {
	return `{"type": "integer", "format": "int64", "description": "Seconds"}`
}

// JSONSchema describes the JSON of a duration.
func (Minutes) JSONSchema() string { return `{"type": "number", "description": "Minutes"}` }

// JSONSchema describes the JSON of a location.
func (LonLat) JSONSchema() string {
	return `{
		"type": "array", "minItems": 2, "maxItems": 2, "description": "[longitude, latitude] in degrees",
		"prefixItems": [{"type": "number", "minimum": -180, "maximum": 180}, {"type": "number", "minimum": -90, "maximum": 90}],
		"items": {"type": "number"}
	}`
}

// JSONSchema describes the JSON of a boolean.
func (Flag) JSONSchema() string {
	return `{"type": ["boolean", "string"], "enum": [true, false, "true", "false"]}`
}
