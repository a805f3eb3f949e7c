package wire

import (
	"bytes"
	"encoding/json"
)

// Text is a string that is also read from a JSON number: house numbers,
// apartments and postal codes are sent as both.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); string(data) == "null" {
		return nil
	}
	if _, ok := number(data); ok && data[0] != '"' {
		*t = Text(data)
		return nil
	}
	if data[0] != '"' {
		return malformed("must be a string, not %s", kindName(data[0]))
	}
	return json.Unmarshal(data, (*string)(t))
}
