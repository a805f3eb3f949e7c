package spec

import (
	"encoding/json"
	"reflect"
	"testing"
)

type (
	tone string

	clapper struct {
		ID string `json:"id"`
	}

	bell struct {
		Name    string   `json:"name" required:"true" example:"Tom"`
		Tones   []tone   `json:"tones" example:"low,high"`
		Weight  *float64 `json:"weight"`
		Level   int      `json:"level" enum:"1,2"`
		Maker   any      `json:"maker" type:"string,null"`
		Clapper clapper  `json:"clapper,omitzero"`
		Hidden  string   `json:"-"`
		Cast    string   `json:"cast" nullable:"true"`
	}

	newBell struct {
		_ struct{} `required:"level"`
		bell
	}
)

func (tone) Values() []tone { return []tone{"low", "high"} }

// describe returns the named schemas of a type and its fields, as JSON.
func describe(t *testing.T, of reflect.Type, request bool) map[string]string {
	t.Helper()
	b := &schemas{descriptions: map[string]string{"bell": "A bell.", "bell.Name": "What it is called."}, named: map[string]*schema{}}
	b.of(of, form{request: request})
	if len(b.gaps) > 0 {
		t.Fatalf("cannot describe %v", b.gaps)
	}
	all := map[string]string{}
	for name, s := range b.named {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

func TestTagsDescribeFields(t *testing.T) {
	for name, c := range map[string]struct {
		of      reflect.Type
		request bool
		schema  string
		want    string
	}{
		"a response is closed and has all fields": {
			reflect.TypeFor[bell](), false, "bell",
			`{"type":"object","description":"A bell.","properties":{` +
				`"name":{"type":"string","description":"What it is called.","examples":["Tom"]},` +
				`"tones":{"type":"array","items":{"type":"string","enum":["low","high"]},"examples":[["low","high"]]},` +
				`"weight":{"type":["number","null"]},"level":{"type":"integer","enum":[1,2]},"maker":{"type":["string","null"]},` +
				`"clapper":{"$ref":"#/components/schemas/clapper"},"cast":{"type":["string","null"]}},` +
				`"required":["name","tones","weight","level","maker","cast"],"additionalProperties":false}`,
		},
		"a request is open, and all fields that are not required can be null": {
			reflect.TypeFor[newBell](), true, "newBellInput",
			`{"type":"object","properties":{` +
				`"name":{"type":["string","null"],"description":"What it is called.","examples":["Tom"]},` +
				`"tones":{"type":["array","null"],"items":{"type":"string","enum":["low","high"]},"examples":[["low","high"]]},` +
				`"weight":{"type":["number","null"]},"level":{"type":"integer","enum":[1,2]},"maker":{"type":["string","null"]},` +
				`"clapper":{"oneOf":[{"$ref":"#/components/schemas/clapperInput"},{"type":"null"}]},"cast":{"type":["string","null"]}},` +
				`"required":["level"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(t, c.of, c.request)[c.schema]; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestATypeThatCannotBeDescribedIsAnError(t *testing.T) {
	api := API{Title: "Bells", ErrorBody: reflect.TypeFor[bell](), Operations: []Operation{
		{Method: "GET", Path: "/bells", Summary: "Ring", Reply: reflect.TypeFor[chan int]()},
	}}
	if _, err := api.Document(); err == nil {
		t.Error("a channel got a schema")
	}
}
