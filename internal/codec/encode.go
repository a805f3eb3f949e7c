package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encoder is a type that encodes itself faster than encoding/json would.
type Encoder interface{ Encode() ([]byte, error) }

// Marshal encodes a value of a type of package wire as JSON. Types of the domain must be
// converted first, with wire.NewTask, wire.NewWorker and so on.
func Marshal(v any) ([]byte, error) {
	if e, ok := v.(Encoder); ok {
		return e.Encode()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
