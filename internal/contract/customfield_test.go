package contract_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
)

// fieldJSON returns a definition as it is shown: the members of changes, and defaults for
// the rest.
func fieldJSON(t testing.TB, changes string) string {
	t.Helper()
	shown := apptest.Response{Body: []byte(`{"description":"","asArray":false,"visibility":["admin","api","worker"],"editability":["admin","api"],
		"contexts":[{"isRequired":false,"conditions":[],"name":"save"}],"value":null}`)}.Object(t)
	maps.Copy(shown, apptest.Response{Body: []byte(changes)}.Object(t))
	return string(encode(t, shown))
}

// Conditions as they are sent and shown.
const (
	forPickups  = `[{"fieldName":"pickupTask","comparison":"equal_to","targetValue":true}]`
	forDropoffs = `[{"fieldName":"pickupTask","comparison":"equal_to","targetValue":false}]`
)

// inContext returns the contexts of a field.
func inContext(required bool, conditions string) string {
	return fmt.Sprintf(`"contexts":[{"name":"save","isRequired":%v,"conditions":%s}]`, required, conditions)
}

func defineFields(t testing.TB, c *apptest.Client, fields ...string) {
	t.Helper()
	c.Must(t, "POST", "/customFields", `{"model":"Task","field":[`+strings.Join(fields, ",")+`]}`)
}

// keys returns the keys of fields, in order.
func keys(t testing.TB, fields any) string {
	t.Helper()
	var all []string
	for _, f := range fields.([]any) {
		all = append(all, fmt.Sprint(f.(map[string]any)["key"]))
	}
	return strings.Join(all, " ")
}

func TestCustomFieldContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		list := func(path string) any { return c.Must(t, "GET", path, nil)["fields"] }

		t.Run("a definition is accepted as published clients send it", func(t *testing.T) {
			matches(t, c.Must(t, "GET", "/customFields/Task", nil), `{"fields":[]}`)
			made := c.Must(t, "POST", "/customFields", `{"model":"Task","field":[{"description":"this is a test","asArray":false,"visibility":["admin","api","worker"],
				"editability":["admin","api"],"key":"test","name":"test","type":"single_line_text_field",
				"contexts":[{"isRequired":false,"conditions":[],"name":"save"}],"value":"order 123"}],"integration":"shopify"}`)
			want := fieldJSON(t, `{"key":"test","name":"test","type":"single_line_text_field","description":"this is a test","value":"order 123"}`)
			matches(t, made, `{"fields":[`+want+`]}`)
			for _, path := range []string{"/customFields/Task", "/customFields/task", "/customFields/Task?integration=shopify"} {
				matches(t, c.Must(t, "GET", path, nil), `{"fields":[`+want+`]}`)
			}
			matches(t, c.Must(t, "GET", "/customFields/Task?integration=other", nil), `{"fields":[]}`)
			matches(t, stranger.Must(t, "GET", "/customFields/Task", nil), `{"fields":[]}`)
		})
		t.Run("one definition needs no array, and most of its members have defaults", func(t *testing.T) {
			made := c.Must(t, "POST", "/customFields", `{"model":"task","field":{"name":"Order total","type":"decimal"}}`)
			matches(t, made, `{"fields":[`+fieldJSON(t, `{"key":"Order_total","name":"Order total","type":"decimal"}`)+`]}`)
			full := `{"key":"k9_","name":"N","type":"Url","description":"D","asArray":true,"visibility":[],"editability":["worker"],
				"contexts":[{"isRequired":true,"conditions":` + forPickups + `,"name":"save"},{"isRequired":false,"conditions":` + forDropoffs + `,"name":"save"}],
				"value":["https://a.example"]}`
			matches(t, c.Must(t, "POST", "/customFields", `{"model":"Task","field":`+full+`}`), `{"fields":[`+full+`]}`)
			if got := keys(t, list("/customFields/Task")); got != "test Order_total k9_" {
				t.Errorf("listed %s", got)
			}
		})
		t.Run("a key is the organization's own", func(t *testing.T) {
			defineFields(t, stranger, `{"key":"test","name":"theirs","type":"date"}`)
			matches(t, c.Must(t, "GET", "/customFields/Task?integration=shopify", nil)["fields"].([]any)[0].(map[string]any)["name"], `"test"`)
		})
		t.Run("an invalid definition is rejected, with its whole request", func(t *testing.T) {
			before := string(encode(t, list("/customFields/Task")))
			field := func(s string) string { return `{"model":"Task","field":[{"name":"ok","type":"date"},` + s + `]}` }
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                   {``, malformed, []string{"model"}},
				"no model":                  {`{"field":{"name":"n","type":"date"}}`, malformed, []string{"model"}},
				"another model":             {`{"model":"Worker","field":{"name":"n","type":"date"}}`, invalid, []string{"model", "Task"}},
				"no field":                  {`{"model":"Task"}`, malformed, []string{"field"}},
				"an empty list":             {`{"model":"Task","field":[]}`, malformed, []string{"field"}},
				"null":                      {`{"model":"Task","field":null}`, malformed, []string{"field"}},
				"a text":                    {`{"model":"Task","field":"n"}`, malformed, []string{"field"}},
				"no name":                   {field(`{"type":"date"}`), malformed, []string{"field[1].name"}},
				"no type":                   {field(`{"name":"n"}`), malformed, []string{"field[1].type"}},
				"an unknown type":           {field(`{"name":"n","type":"checklist"}`), invalid, []string{"field[1].type", "integer"}},
				"a type as a number":        {field(`{"name":"n","type":1}`), malformed, []string{"field[1].type", "string"}},
				"one field, not in a list":  {`{"model":"Task","field":{"name":"n","type":"date","editability":[1]}}`, malformed, []string{"field[0].editability[0]"}},
				"one field, another editor": {`{"model":"Task","field":{"name":"n","type":"date","editability":["recipient"]}}`, invalid, []string{"field[0].editability[0]"}},
				"a key with a dash":         {field(`{"name":"n","type":"date","key":"a-b"}`), invalid, []string{"field[1].key"}},
				"a key that is taken":       {field(`{"name":"n","type":"date","key":"test"}`), duplicate, []string{"test"}},
				"a key sent twice":          {field(`{"name":"ok","type":"date"}`), duplicate, []string{"ok"}},
				"an unknown viewer":         {field(`{"name":"n","type":"date","visibility":["public"]}`), invalid, []string{"field[1].visibility[0]"}},
				"an unknown editor":         {field(`{"name":"n","type":"date","editability":["recipient"]}`), invalid, []string{"field[1].editability[0]"}},
				"another context":           {field(`{"name":"n","type":"date","contexts":[{"name":"complete","isRequired":true,"conditions":[]}]}`), invalid, []string{"field[1].contexts"}},
				"another condition":         {field(`{"name":"n","type":"date",` + inContext(true, `[{"fieldName":"notes","comparison":"equal_to","targetValue":true}]`) + `}`), invalid, []string{"pickupTask"}},
				"a default of another type": {field(`{"name":"n","type":"date","value":"tomorrow"}`), invalid, []string{"field[1].value", "date"}},
				"an array for one value":    {field(`{"name":"n","type":"date","value":["2026-01-31"]}`), invalid, []string{"field[1].value"}},
				"one value for an array":    {field(`{"name":"n","type":"date","asArray":true,"value":"2026-01-31"}`), invalid, []string{"field[1].value", "array"}},
			} {
				t.Run(name, func(t *testing.T) {
					cause := tt.want.check(t, c.Call(t, "POST", "/customFields", tt.body), tt.words...)
					if tt.want == duplicate {
						matches(t, cause, `{"type":"duplicateKey","key":"key","value":"`+tt.words[0]+`"}`)
					}
				})
			}
			matches(t, list("/customFields/Task"), before)
			invalid.check(t, c.Call(t, "GET", "/customFields/Worker", nil), "model")
		})
		t.Run("an update changes only what was sent", func(t *testing.T) {
			changed := c.Must(t, "PUT", "/customFields", `{"model":"Task","field":[{"key":"test","name":"Renamed","value":null},{"key":"k9_","description":"Changed"}]}`)
			if got := keys(t, changed["fields"]); got != "test k9_" {
				t.Errorf("changed %s", got)
			}
			matches(t, list("/customFields/Task?integration=shopify"), `[`+fieldJSON(t, `{"key":"test","name":"Renamed","type":"single_line_text_field","description":"this is a test"}`)+`]`)
			before := string(encode(t, list("/customFields/Task")))
			for body, want := range map[string]struct {
				rejection
				word string
			}{
				`{"model":"Task","field":[{"key":"test","name":"X"},{"name":"no key"}]}`:            {malformed, "field[1].key"},
				`{"model":"Task","field":[{"key":"test","name":"X"},{"key":"nope"}]}`:               {notFound, "nope"},
				`{"model":"Task","field":[{"key":"test","name":"X"},{"key":"k9_","name":""}]}`:      {malformed, "field[1].name"},
				`{"model":"Task","field":{"key":"test","type":"date"}}`:                             {invalid, "type"},
				`{"model":"Task","field":{"key":"test","asArray":true}}`:                            {invalid, "asArray"},
				`{"model":"Task","field":{"key":"test","value":1}}`:                                 {invalid, "value"},
				`{"field":{"key":"test","name":"X"}}`:                                               {malformed, "model"},
				`{"model":"Task"}`:                                                                  {malformed, "field"},
				`{"model":"Task","field":{"key":"test","contexts":[{"name":"x","conditions":[]}]}}`: {invalid, "contexts"},
			} {
				want.check(t, send(t, c, "PUT", "/customFields", body), want.word)
			}
			matches(t, list("/customFields/Task"), before)
			changed = c.Must(t, "PUT", "/customFields", `{"model":"Task","field":{"key":"test"},"integration":"other"}`)
			matches(t, list("/customFields/Task?integration=other"), string(encode(t, changed["fields"])))
		})
		t.Run("fields are deleted by a body that names them", func(t *testing.T) {
			for _, body := range []string{`"gone"`, `["gone"]`, `{"key":"gone"}`, `[{"key":"gone","name":"gone"}]`} {
				defineFields(t, c, `{"key":"gone","name":"gone","type":"date"}`)
				if a := c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":`+body+`}`).OK(t); len(a.Body) > 0 {
					t.Errorf("responded with %q", a.Body)
				}
				notFound.check(t, c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":`+body+`}`), "gone")
			}
			before := string(encode(t, list("/customFields/Task")))
			notFound.check(t, c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":["test","nope"]}`), "nope")
			for _, body := range []string{``, `null`, `{}`, `{"model":"Task"}`, `{"model":"Task","field":[]}`, `{"model":"Task","field":7}`, `{"model":"Task","field":[7]}`} {
				malformed.check(t, send(t, c, "DELETE", "/customFields", body))
			}
			matches(t, list("/customFields/Task"), before)
		})
		t.Run("of concurrent requests that define one key, one succeeds", func(t *testing.T) {
			var group sync.WaitGroup
			responses := make([]apptest.Response, 16)
			for i := range responses {
				group.Go(func() {
					responses[i] = send(t, c, "POST", "/customFields", fmt.Sprintf(`{"model":"Task","field":[{"name":"own %d","type":"date"},{"name":"raced","type":"date"}]}`, i))
				})
			}
			group.Wait()
			done := 0
			for _, a := range responses {
				if a.Status == http.StatusOK {
					done++
				} else {
					duplicate.check(t, a, "raced")
				}
			}
			if done != 1 {
				t.Errorf("%d fields of one key", done)
			}
			seen := map[string]bool{}
			for key := range strings.FieldsSeq(keys(t, list("/customFields/Task"))) {
				if seen[key] {
					t.Errorf("%s is listed twice", key)
				}
				seen[key] = true
			}
		})
		t.Run("an organization has at most a hundred", func(t *testing.T) {
			other := p.Organization(t, "Many")
			var many []string
			for i := range 100 {
				many = append(many, fmt.Sprintf(`{"name":"f%d","type":"boolean"}`, i))
			}
			defineFields(t, other, many...)
			invalid.check(t, other.Call(t, "POST", "/customFields", `{"model":"Task","field":{"name":"more","type":"boolean"}}`), "100")
		})
	})
}

func TestTaskCustomFieldContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		w := newWorld(t, p, "acme", "212")
		c := w.Client
		defineFields(t, c,
			`{"key":"order","name":"Order","type":"single_line_text_field"}`,
			`{"key":"count","name":"Count","type":"integer","value":1}`,
			`{"key":"links","name":"Links","type":"Url","asArray":true}`,
			`{"key":"ready","name":"Ready","type":"date",`+inContext(true, forPickups)+`}`,
			`{"key":"floor","name":"Floor","type":"decimal",`+inContext(false, forDropoffs)+`}`,
		)
		task := func(more string) string {
			return `{"destination":"` + w.own["destination"] + `","recipients":[]` + more + `}`
		}
		fields := func(values string) string { return task(`,"customFields":` + values) }
		value := func(t *testing.T, task map[string]any, key string) any {
			t.Helper()
			for _, f := range task["customFields"].([]any) {
				if f := f.(map[string]any); f["key"] == key {
					return f["value"]
				}
			}
			return "none"
		}
		order := func(value string) string {
			return fieldJSON(t, `{"key":"order","name":"Order","type":"single_line_text_field","value":`+value+`}`)
		}
		count := func(value string) string {
			return fieldJSON(t, `{"key":"count","name":"Count","type":"integer","value":`+value+`}`)
		}

		t.Run("a task shows the definition with the value, and defaults", func(t *testing.T) {
			made := c.Must(t, "POST", "/tasks", fields(`[{"key":"order","value":"order 123"}]`))
			matches(t, made["customFields"], `[`+order(`"order 123"`)+`,`+count(`1`)+`]`)
			matches(t, c.Must(t, "GET", "/tasks/"+fmt.Sprint(made["id"]), nil)["customFields"], string(encode(t, made["customFields"])))
			matches(t, c.Must(t, "POST", "/tasks", task(``))["customFields"], `[`+count(`1`)+`]`)
			matches(t, c.Must(t, "POST", "/tasks", fields(`[]`))["customFields"], `[`+count(`1`)+`]`)
			matches(t, c.Must(t, "POST", "/tasks", fields(`[{"key":"count","value":null}]`))["customFields"], `[`+count(`1`)+`]`)
		})
		t.Run("a value is of its field's type", func(t *testing.T) {
			for body, kept := range map[string]string{
				`{"key":"links","value":["https://a.example/?b=c","http://d.example"]}`: `["https://a.example/?b=c","http://d.example"]`,
				`{"key":"links","value":[]}`:        `[]`,
				`{"key":"floor","value":-1.5}`:      `-1.5`,
				`{"key":"count","value":12345678}`:  `12345678`,
				`{"key":"order","value":"é \"<&>"}`: `"é \"<&>"`,
			} {
				key := body[len(`{"key":"`):][:5]
				matches(t, value(t, c.Must(t, "POST", "/tasks", fields(`[`+body+`]`)), key), kept)
			}
			for _, kept := range []string{`1767225600000`, `"2026-01-31"`, `"2026-01-31T12:00:00Z"`} {
				made := c.Must(t, "POST", "/tasks", task(`,"pickupTask":true,"customFields":[{"key":"ready","value":`+kept+`}]`))
				matches(t, value(t, made, "ready"), kept)
			}
			for body, words := range map[string][]string{
				`[{"key":"order","value":1}]`:                                   {"customFields[0].value", "order", "single_line_text_field"},
				`[{"key":"order","value":"two\nlines"}]`:                        {"customFields[0].value", "one line"},
				`[{"key":"order","value":["a"]}]`:                               {"customFields[0].value"},
				`[{"key":"order","value":"a"},{"key":"count","value":1.5}]`:     {"customFields[1].value", "whole number"},
				`[{"key":"count","value":"1"}]`:                                 {"customFields[0].value"},
				`[{"key":"links","value":"https://a.example"}]`:                 {"customFields[0].value", "array"},
				`[{"key":"links","value":["https://a.example","x"]}]`:           {"customFields[0].value[1]", "http"},
				`[{"key":"floor","value":true}]`:                                {"customFields[0].value"},
				`[{"key":"nope","value":1}]`:                                    {"nope"},
				`[{"key":"Order","value":"a"}]`:                                 {"Order"},
				`[{"key":"order","value":"a"},{"key":"order","value":"b"}]`:     {"order", "twice"},
				`[{"key":"ready","value":"2026-01-31"}]`:                        {"ready", "drop-off"},
				`[{"key":"order","value":"` + strings.Repeat("x", 1001) + `"}]`: {"customFields[0].value", "1000"},
			} {
				invalid.check(t, c.Call(t, "POST", "/tasks", fields(body)), words...)
			}
			malformed.check(t, send(t, c, "POST", "/tasks", fields(`[{"value":1}]`)), "customFields[0].key")
			malformed.check(t, send(t, c, "POST", "/tasks", fields(`{"order":"a"}`)), "customFields")
		})
		t.Run("a required field must have a value in tasks to which it applies", func(t *testing.T) {
			malformed.check(t, c.Call(t, "POST", "/tasks", task(`,"pickupTask":true`)), "ready")
			malformed.check(t, c.Call(t, "POST", "/tasks", task(`,"pickupTask":true,"customFields":[{"key":"ready","value":null}]`)), "ready")
			invalid.check(t, c.Call(t, "POST", "/tasks", task(`,"pickupTask":true,"customFields":[{"key":"ready","value":"2026-01-31"},{"key":"floor","value":1}]`)), "floor", "pickup")
		})
		t.Run("an update is merged into the values of the task", func(t *testing.T) {
			made := c.Must(t, "POST", "/tasks", fields(`[{"key":"order","value":"a"},{"key":"floor","value":2}]`))
			path := "/tasks/" + fmt.Sprint(made["id"])
			for _, step := range []struct{ name, body, want string }{
				{"something else", `{"notes":"n"}`, `order=a count=1 floor=2`},
				{"null", `{"customFields":null}`, `order=a count=1 floor=2`},
				{"nothing", `{"customFields":[]}`, `order=a count=1 floor=2`},
				{"one", `{"customFields":[{"key":"count","value":7}]}`, `order=a count=7 floor=2`},
				{"one less", `{"customFields":[{"key":"order","value":null}]}`, `count=7 floor=2`},
				{"one more", `{"customFields":[{"key":"order","value":"b"}]}`, `count=7 floor=2 order=b`},
				{"none that was there", `{"customFields":[{"key":"links","value":null}]}`, `count=7 floor=2 order=b`},
			} {
				var shown []string
				updated := c.Must(t, "PUT", path, step.body)
				for _, f := range updated["customFields"].([]any) {
					f := f.(map[string]any)
					shown = append(shown, fmt.Sprintf("%v=%v", f["key"], f["value"]))
				}
				if got := strings.Join(shown, " "); got != step.want {
					t.Errorf("%s: %s, want %s", step.name, got, step.want)
				}
				matches(t, c.Must(t, "GET", path, nil), string(encode(t, updated)))
			}
			before := c.Must(t, "GET", path, nil)
			for _, body := range []string{
				`{"notes":"x","customFields":[{"key":"nope","value":1}]}`,
				`{"notes":"x","customFields":[{"key":"nope","value":null}]}`,
				`{"notes":"x","customFields":[{"key":"count","value":"1"}]}`,
				`{"notes":"x","customFields":[{"key":"ready","value":"2026-01-31"}]}`,
			} {
				invalid.check(t, c.Call(t, "PUT", path, body), "customFields[0]")
			}
			// What was read can be sent back.
			c.Must(t, "PUT", path, map[string]any{"customFields": before["customFields"]})
			after := c.Must(t, "GET", path, nil)
			matches(t, after["customFields"], string(encode(t, before["customFields"])))
			matches(t, after["notes"], `"n"`)
		})
		t.Run("a task that becomes a pickup has the fields of pickups", func(t *testing.T) {
			path := "/tasks/" + id(t, c, "/tasks", fields(`[{"key":"floor","value":2}]`))
			invalid.check(t, c.Call(t, "PUT", path, `{"pickupTask":true,"customFields":[{"key":"ready","value":"2026-01-31"}]}`), "floor", "pickup")
			malformed.check(t, c.Call(t, "PUT", path, `{"pickupTask":true,"customFields":[{"key":"floor","value":null}]}`), "ready")
			matches(t, c.Must(t, "GET", path, nil)["pickupTask"], `false`)
			changed := c.Must(t, "PUT", path, `{"pickupTask":true,"customFields":[{"key":"floor","value":null},{"key":"ready","value":"2026-01-31"}]}`)
			if got := keys(t, changed["customFields"]); got != "count ready" {
				t.Errorf("the task has %s", got)
			}
			malformed.check(t, c.Call(t, "PUT", path, `{"customFields":[{"key":"ready","value":null}]}`), "ready")
		})
		t.Run("tasks keep their fields when definitions change", func(t *testing.T) {
			defineFields(t, c, `{"key":"old","name":"Old","type":"integer"}`)
			made := c.Must(t, "POST", "/tasks", fields(`[{"key":"old","value":1}]`))
			path := "/tasks/" + fmt.Sprint(made["id"])
			c.Must(t, "PUT", "/customFields", `{"model":"Task","field":{"key":"old","name":"New"}}`)
			matches(t, c.Must(t, "GET", path, nil)["customFields"], string(encode(t, made["customFields"])))
			c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":"old"}`).OK(t)
			matches(t, c.Must(t, "GET", path, nil)["customFields"], string(encode(t, made["customFields"])))
			invalid.check(t, c.Call(t, "PUT", path, `{"customFields":[{"key":"old","value":2}]}`), "old")
			matches(t, value(t, c.Must(t, "PUT", path, `{"customFields":[{"key":"old","value":1}]}`), "old"), `1`)
			matches(t, value(t, c.Must(t, "PUT", path, `{"customFields":[{"key":"old","value":null}]}`), "old"), `"none"`)
		})
		t.Run("a clone has the values of its source", func(t *testing.T) {
			source := c.Must(t, "POST", "/tasks", fields(`[{"key":"order","value":"a"},{"key":"floor","value":2}]`))
			path := "/tasks/" + fmt.Sprint(source["id"]) + "/clone"
			matches(t, c.Must(t, "POST", path, nil)["customFields"], string(encode(t, source["customFields"])))
			other := c.Must(t, "POST", path, `{"options":{"overrides":{"pickupTask":true,"customFields":[{"key":"ready","value":"2026-01-31"}]}}}`)
			if got := keys(t, other["customFields"]); got != "order count ready" {
				t.Errorf("the clone has %s", got)
			}
		})
		t.Run("an active task accepts no values, a completed one does", func(t *testing.T) {
			made := w.make(t, "task")
			start(t, p.Store.Write, w, made)
			matches(t, value(t, c.Must(t, "PUT", "/tasks/"+made, `{"customFields":[{"key":"order","value":"a"}]}`), "order"), `"none"`)
			c.Call(t, "POST", "/tasks/"+made+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
			matches(t, value(t, c.Must(t, "PUT", "/tasks/"+made, `{"customFields":[{"key":"order","value":"a"}]}`), "order"), `"a"`)
			matches(t, c.Must(t, "PUT", "/tasks/"+made, `{"pickupTask":true}`)["pickupTask"], `false`)
		})
		t.Run("a field that the API may not edit is the dashboard's", func(t *testing.T) {
			defineFields(t, c, `{"key":"inner","name":"Inner","type":"boolean","editability":["admin"]}`)
			invalid.check(t, c.Call(t, "POST", "/tasks", fields(`[{"key":"inner","value":true}]`)), "inner")
			admin, _ := c.Admin(t, `{"name":"Ada","email":"ada@acme.example","type":"super"}`)
			made := admin.Call(t, "POST", "/api/v2/tasks", fields(`[{"key":"inner","value":true}]`)).OK(t).Object(t)
			matches(t, value(t, made, "inner"), `true`)
			invalid.check(t, c.Call(t, "PUT", "/tasks/"+made["id"].(string), `{"customFields":[{"key":"inner","value":null}]}`), "inner")
		})
	})
}

func TestTemplateContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		w := newWorld(t, p, "acme", "212")
		c, stranger := w.Client, p.Organization(t, "Zenith")
		const path = "/cfGroups/task"
		c.Call(t, "DELETE", path+"/"+w.own["template"], nil)
		defineFields(t, c,
			`{"key":"any","name":"Any","type":"single_line_text_field"}`,
			`{"key":"preset","name":"Preset","type":"integer","value":5}`,
			`{"key":"pickup","name":"Pickup","type":"date",`+inContext(true, forPickups)+`}`,
			`{"key":"dropoff","name":"Drop-off","type":"boolean",`+inContext(false, forDropoffs)+`}`,
		)
		template := func(name, conditions, keys string) string {
			return `{"name":"` + name + `","contextSaveConditions":` + conditions + `,"fields":` + keys + `}`
		}

		t.Run("a template is shown as it was sent", func(t *testing.T) {
			matches(t, list(t, c, path), `[]`)
			for name, tt := range map[string]struct{ conditions, fields string }{
				"Both":      {`[]`, `["any","preset"]`},
				"Pickups":   {forPickups, `["pickup","any"]`},
				"Drop-offs": {forDropoffs, `["dropoff"]`},
				"Empty":     {`[]`, `[]`},
			} {
				made := c.Must(t, "POST", path, template(name, tt.conditions, tt.fields))
				matches(t, made, `{"id":"<id>","name":"`+name+`","deletedAt":null,"contextSaveConditions":`+tt.conditions+`,"fields":`+tt.fields+`,"isDefault":false}`)
				matches(t, c.Must(t, "GET", path+"/"+fmt.Sprint(made["id"]), nil), string(encode(t, made)))
				matches(t, record(t, list(t, c, path), made["id"]), string(encode(t, made)))
			}
			matches(t, list(t, stranger, path), `[]`)
		})
		t.Run("an invalid template is rejected", func(t *testing.T) {
			before := string(encode(t, list(t, c, path)))
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                            {``, malformed, []string{"name"}},
				"no name":                            {`{"contextSaveConditions":[],"fields":[]}`, malformed, []string{"name"}},
				"a blank name":                       {template(" ", `[]`, `[]`), malformed, []string{"name"}},
				"a name that is in use":              {template("Both", `[]`, `[]`), duplicate, []string{"name", "Both"}},
				"no conditions":                      {`{"name":"X","fields":[]}`, malformed, []string{"contextSaveConditions"}},
				"no fields":                          {`{"name":"X","contextSaveConditions":[]}`, malformed, []string{"fields"}},
				"conditions as an object":            {template("X", `{}`, `[]`), malformed, []string{"contextSaveConditions"}},
				"fields as a text":                   {template("X", `[]`, `"any"`), malformed, []string{"fields"}},
				"two conditions":                     {template("X", strings.Replace(forPickups, `]`, `,`, 1)+forDropoffs[1:], `[]`), invalid, []string{"contextSaveConditions"}},
				"a condition on another field":       {template("X", strings.Replace(forPickups, "pickupTask", "notes", 1), `[]`), invalid, []string{"contextSaveConditions"}},
				"another comparison":                 {template("X", strings.Replace(forPickups, "equal_to", "not_equal_to", 1), `[]`), invalid, []string{"contextSaveConditions"}},
				"a target that is a text":            {template("X", strings.Replace(forPickups, "true", `"true"`, 1), `[]`), invalid, []string{"contextSaveConditions"}},
				"a target that is null":              {template("X", strings.Replace(forPickups, "true", `null`, 1), `[]`), invalid, []string{"contextSaveConditions"}},
				"an empty condition":                 {template("X", `[{}]`, `[]`), invalid, []string{"contextSaveConditions"}},
				"a field that does not exist":        {template("X", `[]`, `["any","nope"]`), invalid, []string{"nope"}},
				"a pickup's field for both":          {template("X", `[]`, `["pickup"]`), invalid, []string{"pickup"}},
				"a drop-off's field for both":        {template("X", `[]`, `["dropoff"]`), invalid, []string{"dropoff"}},
				"a drop-off's field for pickups":     {template("X", forPickups, `["any","dropoff"]`), invalid, []string{"dropoff"}},
				"a pickup's field for drop-offs":     {template("X", forDropoffs, `["pickup"]`), invalid, []string{"pickup"}},
				"a name that is longer than allowed": {template(strings.Repeat("x", 1001), `[]`, `[]`), invalid, []string{"name", "1000"}},
			} {
				t.Run(name, func(t *testing.T) {
					cause := tt.want.check(t, c.Call(t, "POST", path, tt.body), tt.words...)
					if tt.want == duplicate {
						matches(t, cause, `{"type":"duplicateKey","key":"name","value":"Both"}`)
					}
				})
			}
			matches(t, list(t, c, path), before)
		})
		t.Run("an update needs the fields, and changes what else was sent", func(t *testing.T) {
			made := c.Must(t, "POST", path, template("Changing", `[]`, `["any"]`))
			at := path + "/" + fmt.Sprint(made["id"])
			malformed.check(t, send(t, c, "PUT", at, `{"name":"New"}`), "fields")
			invalid.check(t, c.Call(t, "PUT", at, `{"name":"New","fields":["pickup"]}`), "pickup")
			duplicate.check(t, c.Call(t, "PUT", at, `{"name":"Both","fields":[]}`), "Both")
			matches(t, c.Must(t, "GET", at, nil), string(encode(t, made)))
			changed := c.Must(t, "PUT", at, `{"name":"New","fields":["any"]}`)
			matches(t, changed, `{"id":"`+fmt.Sprint(made["id"])+`","name":"New","deletedAt":null,"contextSaveConditions":[],"fields":["any"],"isDefault":false}`)
			changed = c.Must(t, "PUT", at, `{"contextSaveConditions":`+forPickups+`,"fields":["pickup","any","pickup"]}`)
			matches(t, changed["fields"], `["pickup","any"]`)
			matches(t, c.Must(t, "PUT", at, `{"name":"New","fields":["pickup"]}`)["contextSaveConditions"], forPickups)
		})
		t.Run("deleting a template returns 204", func(t *testing.T) {
			at := path + "/" + id(t, c, path, template("Going", `[]`, `[]`))
			a := c.Call(t, "DELETE", at, nil)
			if a.Status != http.StatusNoContent || len(a.Body) > 0 {
				t.Errorf("responded with %d %q", a.Status, a.Body)
			}
			if a.Header.Get("X-RateLimit-Remaining") == "" || a.Header.Get("X-Request-Id") == "" {
				t.Errorf("responded with %v", a.Header)
			}
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				cause := notFound.check(t, c.Call(t, method, at, `{"fields":[]}`))
				matches(t, cause, `"Custom fields group not found."`)
			}
			c.Must(t, "POST", path, template("Going", `[]`, `[]`))
		})
		t.Run("a field that a template uses cannot be deleted or made unfit for it", func(t *testing.T) {
			defineFields(t, c, `{"key":"held","name":"Held","type":"date"}`)
			at := path + "/" + id(t, c, path, template("Holder", `[]`, `["held"]`))
			invalid.check(t, c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":"held"}`), "held", "Holder")
			invalid.check(t, c.Call(t, "PUT", "/customFields", `{"model":"Task","field":{"key":"held",`+inContext(false, forPickups)+`}}`), "held", "Holder")
			c.Must(t, "PUT", at, `{"fields":[]}`)
			c.Call(t, "DELETE", "/customFields", `{"model":"Task","field":"held"}`).OK(t)
		})
		t.Run("a task made from a template has its fields only", func(t *testing.T) {
			pickups := id(t, c, path, template("Made from", forPickups, `["any","preset"]`))
			task := func(more string) string {
				return `{"destination":"` + w.own["destination"] + `","recipients":[],"customFieldGroup":"` + pickups + `"` + more + `}`
			}
			made := c.Must(t, "POST", "/tasks", task(`,"pickupTask":true,"customFields":[{"key":"any","value":"a"}]`))
			if got := keys(t, made["customFields"]); got != "any preset" {
				t.Errorf("the task has %s", got)
			}
			invalid.check(t, c.Call(t, "POST", "/tasks", task(`,"pickupTask":true,"customFields":[{"key":"pickup","value":"2026-01-31"}]`)), "pickup", "Made from")
			invalid.check(t, c.Call(t, "POST", "/tasks", task(``)), "customFieldGroup", "drop-off")
			at := "/tasks/" + fmt.Sprint(made["id"])
			invalid.check(t, c.Call(t, "PUT", at, `{"customFieldGroup":"`+pickups+`","customFields":[{"key":"pickup","value":"2026-01-31"}]}`), "pickup")
			matches(t, c.Must(t, "PUT", at, `{"customFieldGroup":"`+pickups+`","customFields":[{"key":"any","value":"b"}]}`)["customFields"].([]any)[0].(map[string]any)["value"], `"b"`)
			cause := notFound.check(t, c.Call(t, "POST", "/tasks", strings.Replace(task(``), pickups, unknownID, 1)))
			matches(t, cause, `"Custom fields group not found."`)
			theirs := id(t, stranger, path, template("Theirs", `[]`, `[]`))
			outsideScope.check(t, c.Call(t, "POST", "/tasks", strings.Replace(task(``), pickups, theirs, 1)), theirs)
		})
		t.Run("of concurrent requests for one name, one succeeds", func(t *testing.T) {
			var group sync.WaitGroup
			responses := make([]apptest.Response, 16)
			for i := range responses {
				group.Go(func() { responses[i] = send(t, c, "POST", path, template("Raced", `[]`, `[]`)) })
			}
			group.Wait()
			done := 0
			for _, a := range responses {
				if a.Status == http.StatusOK {
					done++
				} else {
					duplicate.check(t, a, "Raced")
				}
			}
			if done != 1 {
				t.Errorf("%d templates of one name", done)
			}
		})
	})
}
