package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestMetadataIsReadAndWritten(t *testing.T) {
	const body = `{"metadata":[` +
		`{"name":"vip","type":"boolean","value":true,"extra":1},` +
		`{"name":"sizes","type":"array","subtype":"number","visibility":["api","worker"],"value":[1,2.5]},` +
		`{"name":"o","type":"object","subtype":"","visibility":[],"value":{"b":null,"a":["x"]}}]}`
	var into struct {
		Metadata wire.Metadata `json:"metadata"`
	}
	if err := codec.Decode([]byte(body), &into); err != nil {
		t.Fatal(err)
	}
	m, err := lastmile.NewMetadata("metadata", into.Metadata.Domain())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(wire.NewMetadata(m))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"vip","type":"boolean","visibility":["api"],"value":true},` +
		`{"name":"sizes","type":"array","subtype":"number","visibility":["api","worker"],"value":[1,2.5]},` +
		`{"name":"o","type":"object","visibility":["api"],"value":{"a":["x"],"b":null}}]`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	var stored wire.Metadata
	if err := json.Unmarshal(got, &stored); err != nil || !reflect.DeepEqual(stored.Domain(), m) {
		t.Errorf("encoding/json reads %+v, %v", stored, err)
	}
}

func TestNoMetadataIsAnEmptyArray(t *testing.T) {
	got, err := json.Marshal(wire.NewMetadata(nil))
	if err != nil || string(got) != "[]" {
		t.Errorf("got %s, %v", got, err)
	}
	if wire.Metadata(nil).Domain() != nil {
		t.Error("no metadata became some")
	}
}

func TestMetadataLimitsAreNotStricterThanTheDomain(t *testing.T) {
	for name, value := range map[string]string{
		"numbers":      `[` + strings.Repeat("1,", 8_100) + `1]`,
		"empty arrays": `{"x":[` + strings.Repeat("[],", 5_400) + `[]]}`,
	} {
		t.Run(name, func(t *testing.T) {
			typed := map[bool]string{true: `"array","subtype":"number"`, false: `"object"`}[value[0] == '[']
			body := `[{"name":"a","type":` + typed + `,"value":` + value + `}]`
			var into wire.Metadata
			if err := codec.Decode([]byte(body), &into); err != nil {
				t.Fatal(err)
			}
			if err := into.Domain().Validate("metadata"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestMetadataUpdate(t *testing.T) {
	number := lastmile.MetadataEntry{Name: "a", Type: "number", Value: 1.0}
	tests := map[string]struct {
		body string
		want lastmile.MetadataChange
	}{
		"absent":              {`{}`, lastmile.MetadataChange{}},
		"null":                {`{"metadata":null}`, lastmile.MetadataChange{}},
		"an array":            {`{"metadata":[{"name":"a","type":"number","value":1}]}`, lastmile.MetadataChange{Replaced: true, Replace: lastmile.Metadata{number}}},
		"an empty array":      {`{"metadata":[]}`, lastmile.MetadataChange{Replaced: true, Replace: lastmile.Metadata{}}},
		"set":                 {`{"metadata":{"$set":[{"name":"a","type":"number","value":1}]}}`, lastmile.MetadataChange{Set: lastmile.Metadata{number}}},
		"pop":                 {`{"metadata":{"$pop":["a","b"]}}`, lastmile.MetadataChange{Pop: []string{"a", "b"}}},
		"set and pop":         {`{"metadata":{"$set":[{"name":"a","type":"number","value":1}],"$pop":["b"]}}`, lastmile.MetadataChange{Set: lastmile.Metadata{number}, Pop: []string{"b"}}},
		"set and pop of null": {`{"metadata":{"$set":null,"$pop":null}}`, lastmile.MetadataChange{}},
		"an empty object":     {`{"metadata":{ }}`, lastmile.MetadataChange{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Metadata wire.MetadataUpdate `json:"metadata"`
			}
			if err := codec.Decode([]byte(test.body), &into); err != nil {
				t.Fatal(err)
			}
			if got := into.Metadata.Domain(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestMetadataRejects(t *testing.T) {
	tests := map[string]struct {
		body string
		code lastmile.Code
		want string
	}{
		"text for an update":        {`{"update":"x"}`, lastmile.CodeMalformed, "update must be an array of entries, or an object with $set and $pop, not a string"},
		"an entry for an update":    {`{"update":{"name":"a"}}`, lastmile.CodeMalformed, "update must be an array of entries, or an object with $set and $pop: this object has neither"},
		"an invalid entry":          {`{"update":[{},{"visibility":["api",1]}]}`, lastmile.CodeMalformed, "update[1].visibility[1] must be a string, not a number"},
		"an object to set":          {`{"update":{"$set":{}}}`, lastmile.CodeMalformed, "update.$set must be an array, not an object"},
		"an invalid entry to set":   {`{"update":{"$set":[{"name":"a"},{"name":7}]}}`, lastmile.CodeMalformed, "update.$set[1].name must be a string, not a number"},
		"an entry to pop":           {`{"update":{"$pop":["a",{"name":"b"}]}}`, lastmile.CodeMalformed, "update.$pop[1] must be a string, not an object"},
		"too many entries to set":   {`{"update":{"$set":[` + strings.Repeat("{},", 64) + `{}]}}`, lastmile.CodeInvalid, "update.$set must have at most 64 entries, not 65"},
		"an object for metadata":    {`{"metadata":{}}`, lastmile.CodeMalformed, "metadata must be an array, not an object"},
		"too many entries":          {`{"metadata":[` + strings.Repeat("{},", 64) + `{}]}`, lastmile.CodeInvalid, "metadata must have at most 64 entries, not 65"},
		"a value that is too large": {`{"metadata":[{"value":[` + strings.Repeat("1,", 9_000) + `1]}]}`, lastmile.CodeInvalid, "metadata must be at most 16384 bytes of names and values in all"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Metadata wire.Metadata       `json:"metadata"`
				Update   wire.MetadataUpdate `json:"update"`
			}
			err := codec.Decode([]byte(test.body), &into)
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok || rejection.Code != test.code || rejection.Message != test.want {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
		})
	}
}
