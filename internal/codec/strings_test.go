package codec_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

func TestStrings(t *testing.T) {
	fields := []string{"worker", "tasks[]", "options.team", "tasks[].container.worker", "teams[]"}
	for name, tt := range map[string]struct {
		body string
		want map[string][]string
	}{
		"an empty body":               {``, nil},
		"null":                        {` null `, nil},
		"another type":                {`[1]`, nil},
		"a string":                    {`{"worker":"w","other":{"worker":"x"}}`, map[string][]string{"worker": {"w"}}},
		"escaped names":               {`{"\u0077orker":"w\u0031"}`, map[string][]string{"worker": {"w1"}}},
		"values that are not strings": {`{"worker":1,"options":{"team":null}}`, nil},
		"strings in an array":         {`{"tasks":[-1,"a","b"]}`, map[string][]string{"tasks[]": {"a", "b"}}},
		"an empty array":              {`{"teams":[]}`, map[string][]string{"teams[]": {}}},
		"null for an array":           {`{"teams":null}`, map[string][]string{"teams[]": {}}},
		"nested":                      {`{"options":{"team":"t","x":[{}]}}`, map[string][]string{"options.team": {"t"}}},
		"in objects":                  {`{"tasks":[{"container":{"worker":"w"}},{"container":{"worker":"v"}}]}`, map[string][]string{"tasks[]": {}, "tasks[].container.worker": {"w", "v"}}},
		"a key in another case":       {`{"Worker":"w"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := codec.Strings([]byte(tt.body), fields)
			if err != nil || !maps.EqualFunc(got, tt.want, slices.Equal) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	for _, broken := range []string{`{"worker":"a","worker":"b"}`, `{"worker":"a"} {}`, `{"worker":`, `{"tasks":[}`, `{"x":1e999}`} {
		_, err := codec.Strings([]byte(broken), fields)
		if _, ok := errors.AsType[*lastmile.Error](err); !ok {
			t.Errorf("%s: %v, want a rejection", broken, err)
		}
	}
}
