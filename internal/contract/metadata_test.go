package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

// metadataOwner is a kind of record that has metadata.
type metadataOwner struct {
	path    string
	body    func(c *apptest.Client, n int, metadata string) string // returns the body of the request that creates the nth record
	updates bool                                                   // whether records can be updated
}

// fiveTypes has entries of all five types of metadata, as sent and as shown.
const (
	fiveTypes = `[
		{"name":"b","type":"boolean","value":false},
		{"name":"n","type":"number","value":-1.5,"visibility":["worker","dashboard"]},
		{"name":"s","type":"string","value":"","visibility":["api","api","worker"]},
		{"name":"o","type":"object","value":{"z":[1,{"y":null}],"a":true}},
		{"name":"a","type":"array","subtype":"string","value":["é","😀"],"visibility":[]},
		{"name":"e","type":"array","subtype":"object","value":[]}]`
	fiveTypesShown = `[
		{"name":"b","type":"boolean","value":false,"visibility":["api"]},
		{"name":"n","type":"number","value":-1.5,"visibility":["worker","dashboard"]},
		{"name":"s","type":"string","value":"","visibility":["api","worker"]},
		{"name":"o","type":"object","value":{"z":[1,{"y":null}],"a":true},"visibility":["api"]},
		{"name":"a","type":"array","subtype":"string","value":["é","😀"],"visibility":["api"]},
		{"name":"e","type":"array","subtype":"object","value":[],"visibility":["api"]}]`
)

// testMetadata checks what all records with metadata have in common.
func testMetadata(t *testing.T, p *apptest.Platform, owner metadataOwner) {
	c, stranger := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
	made := 0
	create := func(t *testing.T, c *apptest.Client, metadata string) map[string]any {
		t.Helper()
		made++
		return c.Must(t, "POST", owner.path, owner.body(c, made, metadata))
	}
	search := func(t *testing.T, c *apptest.Client, entries string) []string {
		t.Helper()
		return ids(c.Call(t, "POST", owner.path+"/metadata", entries).OK(t).List(t))
	}

	t.Run("metadata of each type is shown as sent, with its visibility", func(t *testing.T) {
		matches(t, create(t, c, fiveTypes)["metadata"], fiveTypesShown)
		matches(t, create(t, c, `[]`)["metadata"], `[]`)
		matches(t, create(t, c, `null`)["metadata"], `[]`)
	})
	t.Run("metadata that breaks a rule is rejected, and the error names the entry", func(t *testing.T) {
		before := made
		for name, tt := range metadataFaults() {
			made++
			a := c.Call(t, "POST", owner.path, owner.body(c, made, tt.metadata))
			if a.Status == 200 {
				t.Errorf("%s: done: %s", name, a.Body)
				continue
			}
			tt.want.check(t, a, tt.words...)
		}
		made = before
	})
	t.Run("a search finds the records that have all entries", func(t *testing.T) { testMetadataSearch(t, c, stranger, create, search) })
	t.Run("a search for nothing is rejected", func(t *testing.T) {
		for _, body := range []string{``, `null`, `[]`} {
			malformed.check(t, c.Call(t, "POST", owner.path+"/metadata", body), "array")
		}
		malformed.check(t, c.Call(t, "POST", owner.path+"/metadata", `{"name":"a"}`), "array")
		malformed.check(t, c.Call(t, "POST", owner.path+"/metadata", `[{"type":"string","value":"x"}]`), "[0].name")
		invalid.check(t, c.Call(t, "POST", owner.path+"/metadata", `[{"name":"a","type":"string","value":7}]`), "[0].value")
	})
	if owner.updates {
		t.Run("metadata is updated by name or as a whole", func(t *testing.T) { testMetadataUpdate(t, c, owner, create, search) })
	}
}

func testMetadataSearch(t *testing.T, c, stranger *apptest.Client,
	create func(*testing.T, *apptest.Client, string) map[string]any, search func(*testing.T, *apptest.Client, string) []string,
) {
	both := fmt.Sprint(create(t, c, `[
		{"name":"size","type":"number","value":7,"visibility":["worker"]},{"name":"tag","type":"string","value":"Ärger"},
		{"name":"o","type":"object","value":{"a":1,"b":[true]}}]`)["id"])
	one := fmt.Sprint(create(t, c, `[{"name":"size","type":"number","value":7}]`)["id"])
	create(t, stranger, `[{"name":"size","type":"number","value":7},{"name":"canary","type":"string","value":"theirs"}]`)
	tests := map[string]struct {
		entries string
		want    []string
	}{
		"one entry":                           {`[{"name":"size","type":"number","value":7}]`, []string{both, one}},
		"the same number, written otherwise":  {`[{"name":"size","type":"number","value":0.7e1}]`, []string{both, one}},
		"visibility does not count":           {`[{"name":"size","type":"number","value":7,"visibility":["dashboard"]}]`, []string{both, one}},
		"two entries":                         {`[{"name":"size","type":"number","value":7},{"name":"tag","type":"string","value":"Ärger"}]`, []string{both}},
		"an object, its members in any order": {`[{"name":"o","type":"object","value":{"b":[true],"a":1}}]`, []string{both}},
		"another value":                       {`[{"name":"size","type":"number","value":8}]`, nil},
		"another type":                        {`[{"name":"size","type":"string","value":"7"}]`, nil},
		"another letter case of the name":     {`[{"name":"Size","type":"number","value":7}]`, nil},
		"another letter case of the value":    {`[{"name":"tag","type":"string","value":"ärger"}]`, nil},
		"one entry of two":                    {`[{"name":"size","type":"number","value":7},{"name":"tag","type":"string","value":"x"}]`, nil},
		"what another organization has":       {`[{"name":"canary","type":"string","value":"theirs"}]`, nil},
	}
	for name, tt := range tests {
		got := search(t, c, tt.entries)
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %v, want %v", name, got, tt.want)
		}
	}
}

func testMetadataUpdate(t *testing.T, c *apptest.Client, owner metadataOwner,
	create func(*testing.T, *apptest.Client, string) map[string]any, search func(*testing.T, *apptest.Client, string) []string,
) {
	const three = `[{"name":"x","type":"number","value":101},{"name":"y","type":"number","value":102},{"name":"z","type":"number","value":103}]`
	entry := func(name string, value int) string {
		return fmt.Sprintf(`{"name":%q,"type":"number","value":%d,"visibility":["api"]}`, name, value)
	}
	x, y, z, w := entry("x", 101), entry("y", 102), entry("z", 103), entry("w", 104)
	tests := map[string]struct{ update, want string }{
		"an array replaces all":                  {`[` + w + `]`, `[` + w + `]`},
		"an empty array removes all":             {`[]`, `[]`},
		"null changes nothing":                   {`null`, `[` + x + `,` + y + `,` + z + `]`},
		"an empty object changes nothing":        {`{}`, `[` + x + `,` + y + `,` + z + `]`},
		"$set puts an entry in place, or last":   {`{"$set":[` + w + `,` + entry("y", 7) + `]}`, `[` + x + `,` + entry("y", 7) + `,` + z + `,` + w + `]`},
		"$pop removes by name, or nothing":       {`{"$pop":["x","unknown"]}`, `[` + y + `,` + z + `]`},
		"$set and $pop work together":            {`{"$set":[` + w + `],"$pop":["x","z"]}`, `[` + y + `,` + w + `]`},
		"a null $set or $pop changes nothing":    {`{"$set":null,"$pop":null}`, `[` + x + `,` + y + `,` + z + `]`},
		"$set may change the type of an entry":   {`{"$set":[{"name":"x","type":"string","value":"one"}]}`, `[{"name":"x","type":"string","value":"one","visibility":["api"]},` + y + `,` + z + `]`},
		"a key beside $set and $pop is ignored":  {`{"$set":[],"$other":1}`, `[` + x + `,` + y + `,` + z + `]`},
		"an entry without visibility is for api": {`{"$set":[{"name":"w","type":"number","value":104}]}`, `[` + x + `,` + y + `,` + z + `,` + w + `]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			record := owner.path + "/" + fmt.Sprint(create(t, c, three)["id"])
			matches(t, send(t, c, "PUT", record, `{"metadata":`+tt.update+`}`).OK(t).Object(t)["metadata"], tt.want)
			matches(t, c.Must(t, "PUT", record, `{}`)["metadata"], tt.want)
		})
	}
	t.Run("what was removed is no longer found, and what was set is", func(t *testing.T) {
		record := fmt.Sprint(create(t, c, `[{"name":"old","type":"number","value":1}]`)["id"])
		c.Must(t, "PUT", owner.path+"/"+record, `{"metadata":{"$set":[{"name":"new","type":"number","value":1}],"$pop":["old"]}}`)
		if got := search(t, c, `[{"name":"old","type":"number","value":1}]`); len(got) != 0 {
			t.Errorf("the old entry is found: %v", got)
		}
		if got := search(t, c, `[{"name":"new","type":"number","value":1}]`); !slices.Equal(got, []string{record}) {
			t.Errorf("the new entry is not found: %v", got)
		}
	})
	t.Run("an update that breaks a rule changes nothing", func(t *testing.T) {
		record := owner.path + "/" + fmt.Sprint(create(t, c, three)["id"])
		for update, want := range map[string]struct {
			rejection
			words string
		}{
			`{"$unset":["x"]}`: {malformed, "metadata"},
			`"x"`:              {malformed, "metadata"},
			`7`:                {malformed, "metadata"},
			`{"$pop":"x"}`:     {malformed, "metadata.$pop"},
			`{"$pop":[1]}`:     {malformed, "metadata.$pop[0]"},
			`{"$set":{}}`:      {malformed, "metadata.$set"},
			`{"$set":[{"name":"x","type":"number","value":"1"}]}`: {invalid, "metadata.$set[0].value"},
			`{"$set":[` + x + `],"$pop":["x"]}`:                   {invalid, "metadata.$set[0].name"},
			`{"$set":` + entries(62) + `}`:                        {invalid, "at most 64"},
			`[` + x + `,` + x + `]`:                               {invalid, "metadata[1].name"},
		} {
			want.check(t, c.Call(t, "PUT", record, `{"metadata":`+update+`}`), want.words)
		}
		matches(t, c.Must(t, "PUT", record, `{}`)["metadata"], `[`+x+`,`+y+`,`+z+`]`)
	})
}

// metadataFault is metadata that is rejected.
type metadataFault struct {
	metadata string
	want     rejection
	words    []string
}

func metadataFaults() map[string]metadataFault {
	one := func(entry string, want rejection, words ...string) metadataFault {
		return metadataFault{`[` + entry + `]`, want, words}
	}
	return map[string]metadataFault{
		"no name":                 one(`{"type":"string","value":"x"}`, malformed, "metadata[0].name"),
		"an empty name":           one(`{"name":"","type":"string","value":"x"}`, malformed, "metadata[0].name"),
		"a long name":             one(`{"name":"`+strings.Repeat("n", 1001)+`","type":"string","value":"x"}`, invalid, "metadata[0].name", "1000"),
		"no type":                 one(`{"name":"a","value":"x"}`, malformed, "metadata[0].type"),
		"an unknown type":         one(`{"name":"a","type":"date","value":"x"}`, invalid, "metadata[0].type", "boolean, number, string, object or array"),
		"an array of no subtype":  one(`{"name":"a","type":"array","value":[]}`, malformed, "metadata[0].subtype"),
		"an array of arrays":      one(`{"name":"a","type":"array","subtype":"array","value":[]}`, invalid, "metadata[0].subtype"),
		"a subtype of a string":   one(`{"name":"a","type":"string","subtype":"string","value":"x"}`, invalid, "metadata[0].subtype"),
		"no value":                one(`{"name":"a","type":"string"}`, invalid, "metadata[0].value"),
		"a null value":            one(`{"name":"a","type":"object","value":null}`, invalid, "metadata[0].value"),
		"a value of another type": one(`{"name":"a","type":"number","value":"7"}`, invalid, "metadata[0].value", "number"),
		"an element of another type": one(`{"name":"a","type":"array","subtype":"number","value":[1,"2"]}`,
			invalid, "metadata[0].value[1]", "number"),
		"an unknown visibility":     one(`{"name":"a","type":"number","value":1,"visibility":["api","everyone"]}`, invalid, "metadata[0].visibility[1]"),
		"a visibility as one text":  one(`{"name":"a","type":"number","value":1,"visibility":"api"}`, malformed, "metadata[0].visibility"),
		"a fault further on":        one(`{"name":"a","type":"number","value":1},{"name":"b","type":"number"}`, invalid, "metadata[1].value"),
		"one name twice":            one(`{"name":"a","type":"number","value":1},{"name":"a","type":"number","value":2}`, invalid, "metadata[1].name"),
		"an entry that is a string": one(`"a"`, malformed, "metadata[0]"),
		"too many entries":          {entries(65), invalid, []string{"metadata", "64"}},
		"too much in all":           one(`{"name":"a","type":"string","value":"`+strings.Repeat("x", 16<<10)+`"}`, invalid, "metadata", "16384"),
		"text instead of an array":  {`"a"`, malformed, []string{"metadata"}},
	}
}

// entries returns an array of n entries of metadata.
func entries(n int) string {
	each := make([]string, n)
	for i := range each {
		each[i] = fmt.Sprintf(`{"name":"entry %d","type":"number","value":%d}`, i, i)
	}
	return `[` + strings.Join(each, ",") + `]`
}
