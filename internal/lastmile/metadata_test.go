package lastmile_test

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"dray/internal/lastmile"
)

func entry(name string, t lastmile.MetadataType, value any) lastmile.MetadataEntry {
	return lastmile.MetadataEntry{Name: name, Type: t, Value: value}
}

func list(subtype lastmile.MetadataType, values ...any) lastmile.MetadataEntry {
	return lastmile.MetadataEntry{Name: "a", Type: lastmile.MetadataArray, Subtype: subtype, Value: values}
}

func TestMetadataAccepts(t *testing.T) {
	tests := map[string]lastmile.Metadata{
		"nothing":                    nil,
		"a boolean":                  {entry("a", lastmile.MetadataBoolean, false)},
		"a number":                   {entry("a", lastmile.MetadataNumber, 1.5)},
		"a string":                   {entry("a", lastmile.MetadataString, "")},
		"an object":                  {entry("a", lastmile.MetadataObject, map[string]any{"b": []any{nil, 1.0, "c", true}})},
		"an empty array":             {list(lastmile.MetadataNumber)},
		"an array of numbers":        {list(lastmile.MetadataNumber, 1.0, 2.0)},
		"an array of objects":        {list(lastmile.MetadataObject, map[string]any{})},
		"names that differ in case":  {entry("a", lastmile.MetadataBoolean, true), entry("A", lastmile.MetadataBoolean, true)},
		"every visibility":           {{Name: "a", Type: "string", Value: "x", Visibility: []string{"api", "dashboard", "worker"}}},
		"a name of 1,000 characters": {entry(strings.Repeat("é", 1_000), lastmile.MetadataBoolean, true)},
		"64 entries":                 many(64),
		"exactly 16 KiB":             {entry("a", lastmile.MetadataString, strings.Repeat("x", 16<<10-3))},
	}
	for name, m := range tests {
		t.Run(name, func(t *testing.T) {
			if err := m.Validate("metadata"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMetadataRejects(t *testing.T) {
	const (
		malformed = lastmile.CodeMalformed
		invalid   = lastmile.CodeInvalid
	)
	yes := entry("a", lastmile.MetadataBoolean, true)
	tests := map[string]struct {
		metadata lastmile.Metadata
		code     lastmile.Code
		want     string
	}{
		"no name":               {lastmile.Metadata{entry("", "boolean", true)}, malformed, "f[0].name is required"},
		"a long name":           {lastmile.Metadata{entry(strings.Repeat("x", 1_001), "boolean", true)}, invalid, "f[0].name must be at most 1000 characters"},
		"a name twice":          {lastmile.Metadata{yes, yes}, invalid, "f[1].name must be unique, and f[0] has the same"},
		"no type":               {lastmile.Metadata{yes, entry("b", "", true)}, malformed, "f[1].type is required"},
		"an unknown type":       {lastmile.Metadata{entry("b", "date", "x")}, invalid, "f[0].type must be boolean, number, string, object or array"},
		"an array, no subtype":  {lastmile.Metadata{list("")}, malformed, "f[0].subtype is required: the type is array"},
		"an array of arrays":    {lastmile.Metadata{list("array", []any{})}, invalid, "f[0].subtype must be boolean, number, string or object"},
		"a subtype, no array":   {lastmile.Metadata{{Name: "a", Type: "string", Subtype: "string", Value: "x"}}, invalid, "f[0].subtype must be left out unless the type is array"},
		"unknown visibility":    {lastmile.Metadata{{Name: "a", Type: "string", Value: "x", Visibility: []string{"api", "moon"}}}, invalid, "f[0].visibility[1] must be api, dashboard or worker"},
		"no value":              {lastmile.Metadata{entry("a", "string", nil)}, invalid, "f[0].value must be a value of the type string, and there is none"},
		"text for a boolean":    {lastmile.Metadata{entry("a", "boolean", "true")}, invalid, "f[0].value must be of the type boolean, as the entry declares"},
		"text for a number":     {lastmile.Metadata{entry("a", "number", "1")}, invalid, "f[0].value must be of the type number"},
		"a number for text":     {lastmile.Metadata{entry("a", "string", 1.0)}, invalid, "f[0].value must be of the type string"},
		"an array for object":   {lastmile.Metadata{entry("a", "object", []any{})}, invalid, "f[0].value must be of the type object"},
		"an object for array":   {lastmile.Metadata{{Name: "a", Type: "array", Subtype: "object", Value: map[string]any{}}}, invalid, "f[0].value must be of the type array"},
		"a wrong element":       {lastmile.Metadata{list("number", 1.0, "2")}, invalid, "f[0].value[1] must be of the type number, as the entry's subtype declares"},
		"null for an element":   {lastmile.Metadata{list("string", nil)}, invalid, "f[0].value[0] must be of the type string"},
		"not a number":          {lastmile.Metadata{entry("a", "number", math.NaN())}, invalid, "f[0].value must hold finite numbers only"},
		"infinity, deep inside": {lastmile.Metadata{entry("a", "object", map[string]any{"b": []any{math.Inf(1)}})}, invalid, "f[0].value must hold finite numbers only"},
		"65 entries":            {many(65), invalid, "f must have at most 64 entries, not 65"},
		"over 16 KiB":           {lastmile.Metadata{entry("a", "string", strings.Repeat("x", 16<<10-2))}, invalid, "f must be at most 16384 bytes of names and values in all, not 16385"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.metadata.Validate("f")
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok || rejection.Code != test.code || !strings.HasPrefix(rejection.Error(), test.want) {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
		})
	}
}

func many(n int) lastmile.Metadata {
	var m lastmile.Metadata
	for i := range n {
		m = append(m, entry("n"+strconv.Itoa(i), lastmile.MetadataBoolean, true))
	}
	return m
}

func TestNewMetadataSaysWhoSeesIt(t *testing.T) {
	sent := []lastmile.MetadataEntry{
		entry("a", lastmile.MetadataBoolean, true),
		{Name: "b", Type: "boolean", Value: true, Visibility: []string{"worker", "api", "worker"}},
	}
	got, err := lastmile.NewMetadata("metadata", sent)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got[0].Visibility, []string{"api"}) || !reflect.DeepEqual(got[1].Visibility, []string{"worker", "api"}) {
		t.Errorf("got %v", got)
	}
	if sent[0].Visibility != nil {
		t.Error("what was sent has changed")
	}
}

func TestMetadataApply(t *testing.T) {
	number := func(name string, value float64) lastmile.MetadataEntry {
		return lastmile.MetadataEntry{Name: name, Type: "number", Value: value, Visibility: []string{"api"}}
	}
	before := lastmile.Metadata{number("a", 1), number("b", 2), number("c", 3)}
	tests := map[string]struct {
		change lastmile.MetadataChange
		want   lastmile.Metadata
	}{
		"no change":              {lastmile.MetadataChange{}, before},
		"replace all":            {lastmile.MetadataChange{Replaced: true, Replace: lastmile.Metadata{entry("z", "number", 9.0)}}, lastmile.Metadata{number("z", 9)}},
		"replace with nothing":   {lastmile.MetadataChange{Replaced: true}, nil},
		"set keeps the position": {lastmile.MetadataChange{Set: lastmile.Metadata{entry("b", "number", 5.0)}}, lastmile.Metadata{number("a", 1), number("b", 5), number("c", 3)}},
		"set adds at the end":    {lastmile.MetadataChange{Set: lastmile.Metadata{number("d", 4), number("e", 5)}}, append(before[:3:3], number("d", 4), number("e", 5))},
		"pop":                    {lastmile.MetadataChange{Pop: []string{"a", "c", "unknown", "B"}}, lastmile.Metadata{number("b", 2)}},
		"set and pop":            {lastmile.MetadataChange{Set: lastmile.Metadata{number("d", 4)}, Pop: []string{"a"}}, lastmile.Metadata{number("b", 2), number("c", 3), number("d", 4)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := before.Apply(test.change)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %v\nwant %v", got, test.want)
			}
			if len(before) != 3 || before[1].Value != 2.0 {
				t.Error("the metadata itself has changed")
			}
		})
	}

	rejected := map[string]struct {
		change lastmile.MetadataChange
		want   string
	}{
		"an invalid replacement":  {lastmile.MetadataChange{Replaced: true, Replace: lastmile.Metadata{entry("z", "number", "9")}}, "metadata[0].value must be of the type number"},
		"an invalid entry to set": {lastmile.MetadataChange{Set: lastmile.Metadata{number("d", 1), entry("z", "number", "9")}}, "metadata.$set[1].value must be of the type number"},
		"a name twice in set":     {lastmile.MetadataChange{Set: lastmile.Metadata{number("d", 1), number("d", 2)}}, "metadata.$set[1].name must be unique"},
		"a name in set and pop":   {lastmile.MetadataChange{Set: lastmile.Metadata{number("d", 1)}, Pop: []string{"d"}}, "metadata.$set[0].name must not be among the names to $pop"},
		"too many entries in all": {lastmile.MetadataChange{Set: many(64)}, "metadata must have at most 64 entries, not 67"},
	}
	for name, test := range rejected {
		t.Run(name, func(t *testing.T) {
			_, err := before.Apply(test.change)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestMetadataDigest(t *testing.T) {
	object := func(v map[string]any) lastmile.MetadataEntry { return entry("a", "object", v) }
	same := map[string][2]lastmile.MetadataEntry{
		"members in another order": {object(map[string]any{"x": 1.0, "y": "z"}), object(map[string]any{"y": "z", "x": 1.0})},
		"zero and minus zero":      {entry("a", "number", 0.0), entry("a", "number", math.Copysign(0, -1))},
		"another visibility":       {entry("a", "number", 1.0), {Name: "a", Type: "number", Value: 1.0, Visibility: []string{"worker"}}},
	}
	for name, pair := range same {
		t.Run(name, func(t *testing.T) {
			if pair[0].Digest() != pair[1].Digest() {
				t.Error("the digests differ")
			}
		})
	}

	seen := map[string]lastmile.MetadataEntry{}
	for _, e := range []lastmile.MetadataEntry{
		entry("a", "number", 1.0), entry("b", "number", 1.0), entry("a", "string", "1"), entry("a", "boolean", true),
		entry("a", "string", "true"), entry("a", "string", ""), entry("a", "number", 1.0000000000000002),
		list("number"), list("string"), list("number", 1.0, 2.0), list("number", 2.0, 1.0), list("number", 12.0),
		list("string", "a", "b"), list("string", `a","b`), list("string", "a\n"), list("string", `a\u000a`),
		object(nil), object(map[string]any{"x": nil}), object(map[string]any{"x": "null"}), object(map[string]any{"x": []any{}}),
		entry(`a","number`, "", 1.0), entry("A", "number", 1.0),
	} {
		digest := e.Digest()
		if len(digest) != 64 {
			t.Fatalf("%q is no hexadecimal SHA-256", digest)
		}
		if other, taken := seen[digest]; taken {
			t.Errorf("%+v and %+v have the same digest", e, other)
		}
		seen[digest] = e
	}
}

func TestMetadataDigestNeverChanges(t *testing.T) {
	// Digests are stored, so that changing them requires a migration.
	e := entry("größe", lastmile.MetadataObject, map[string]any{"b": []any{1e21, -0.5, nil, true}, "a": "\"\\\n"})
	// It is the SHA-256 of ["größe","object","",{"a":"\"\\\u000a","b":[1e+21,-0.5,null,true]}].
	const want = "234b1d1d2beabd8557238edd75499455e7202ddb977cbc0e07c70d35355f472d"
	if got := e.Digest(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
