package codec_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"dray/internal/codec"
)

// inner and stored have fields of all kinds that stored records have.
type inner struct {
	Name  string   `json:"name"`
	Other *float64 `json:"other,omitzero"`
}

type stored struct {
	inner
	Null  []string       `json:"null"`
	Empty []string       `json:"empty"`
	List  []inner        `json:"list"`
	Map   map[string]any `json:"map"`
	At    time.Time      `json:"at"`
	Bytes []byte         `json:"bytes"`
	Whole int64          `json:"whole"`
	One   *inner         `json:"one"`
}

// TestUnmarshalReadsWhatMarshalWrote compares Unmarshal with encoding/json, which older
// versions used for stored records.
func TestUnmarshalReadsWhatMarshalWrote(t *testing.T) {
	data, err := codec.Marshal(stored{
		inner: inner{Name: "not UTF-8: \xff, and <b>\u2028\x00\""}, Empty: []string{}, List: []inner{{Name: "a", Other: new(1e21)}, {}},
		Map: map[string]any{"n": 1.5, "x": nil, "list": []any{"1", false}}, At: time.UnixMilli(1_800_000_000_123).UTC(), Bytes: []byte{0, 255}, Whole: -1 << 63,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{string(data), `{}`, `{"name":"twice","name":"this","unknown":{"a":[1]},"list":null,"one":{}}`} {
		var got, want stored
		if err := codec.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(doc), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v", doc, got, want)
		}
	}
	for _, doc := range []string{``, `{"name":1}`, `{"name":"a"`, `{} {}`} {
		if err := codec.Unmarshal([]byte(doc), &stored{}); err == nil {
			t.Errorf("%s is accepted", doc)
		}
	}
}
