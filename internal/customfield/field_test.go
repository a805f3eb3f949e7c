package customfield_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
)

const fieldsOwner lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"

// only returns the contexts of a field for pickups (true) or drop-offs (false).
func only(pickup, required bool) *[]lastmile.CustomFieldContext {
	return &[]lastmile.CustomFieldContext{{Name: "save", Required: required, Conditions: when(pickup)}}
}

func when(pickup bool) []lastmile.Condition {
	return []lastmile.Condition{{FieldName: "pickupTask", Comparison: "equal_to", TargetValue: pickup}}
}

// everyTask returns the contexts of a field for all tasks.
func everyTask(required bool) *[]lastmile.CustomFieldContext {
	return &[]lastmile.CustomFieldContext{{Name: "save", Required: required}}
}

// define returns fields, which must be valid.
func define(t testing.TB, changes ...customfield.Change) customfield.Fields {
	t.Helper()
	var fields customfield.Fields
	for _, c := range changes {
		if c.Name == nil {
			c.Name = &c.Key
		}
		if _, err := fields.Define("field", fieldsOwner, c); err != nil {
			t.Fatal(err)
		}
	}
	return fields
}

// rejectedWith fails the test unless err has the code and its message contains
// all words.
func rejectedWith(t testing.TB, err error, code lastmile.Code, words ...string) {
	t.Helper()
	rejection, ok := errors.AsType[*lastmile.Error](err)
	if !ok || rejection.Code != code {
		t.Errorf("got %v, want code %v", err, code)
		return
	}
	for _, word := range words {
		if !strings.Contains(rejection.Message, word) {
			t.Errorf("%q does not say %q", rejection.Message, word)
		}
	}
}

func TestCustomFieldDefinitions(t *testing.T) {
	date, odd := lastmile.FieldDate, lastmile.CustomFieldType("checklist")
	text := func(s string) *string { return &s }
	value := func(v any) *any { return &v }
	list := func(s ...string) *[]string { return &s }
	tests := map[string]struct {
		change customfield.Change
		code   lastmile.Code
		word   string
	}{
		"only a name and a type":                    {customfield.Change{Name: text("When"), Type: &date}, 0, ""},
		"no name":                                   {customfield.Change{Key: "k", Type: &date}, lastmile.CodeMalformed, "field.name"},
		"a blank name":                              {customfield.Change{Key: "k", Name: text(" "), Type: &date}, lastmile.CodeMalformed, "field.name"},
		"no type":                                   {customfield.Change{Name: text("When")}, lastmile.CodeMalformed, "field.type"},
		"a type that does not exist":                {customfield.Change{Name: text("When"), Type: &odd}, lastmile.CodeInvalid, "single_line_text_field"},
		"a key with a space":                        {customfield.Change{Key: "a b", Name: text("When"), Type: &date}, lastmile.CodeInvalid, "field.key"},
		"a key with an accent":                      {customfield.Change{Key: "é", Name: text("When"), Type: &date}, lastmile.CodeInvalid, "field.key"},
		"a key that is too long":                    {customfield.Change{Key: strings.Repeat("k", 101), Name: text("When"), Type: &date}, lastmile.CodeInvalid, "field.key"},
		"a key that is taken":                       {customfield.Change{Key: "taken", Name: text("When"), Type: &date}, lastmile.CodeDuplicate, "taken"},
		"a name without valid characters for a key": {customfield.Change{Name: text("数量"), Type: &date}, lastmile.CodeMalformed, "field.key"},
		"a name whose key is taken":                 {customfield.Change{Name: text("taken!"), Type: &date}, lastmile.CodeDuplicate, "taken"},
		"an unknown value in visibility":            {customfield.Change{Name: text("When"), Type: &date, Visibility: list("api", "public")}, lastmile.CodeInvalid, "field.visibility[1]"},
		"an unknown value in editability":           {customfield.Change{Name: text("When"), Type: &date, Editability: list("recipient")}, lastmile.CodeInvalid, "field.editability[0]"},
		"a default":                                 {customfield.Change{Name: text("When"), Type: &date, Value: value("2026-01-31")}, 0, ""},
		"no default":                                {customfield.Change{Name: text("When"), Type: &date, Value: value(nil)}, 0, ""},
		"a default of another type":                 {customfield.Change{Name: text("When"), Type: &date, Value: value(true)}, lastmile.CodeInvalid, "field.value"},
		"a context of another name":                 {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Name: "complete"}}}, lastmile.CodeInvalid, "field.contexts"},
		"a context without a name":                  {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Required: true}}}, 0, ""},
		"a condition on another field":              {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Conditions: []lastmile.Condition{{FieldName: "notes", Comparison: "equal_to", TargetValue: true}}}}}, lastmile.CodeInvalid, "pickupTask"},
		"another comparison":                        {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Conditions: []lastmile.Condition{{FieldName: "pickupTask", Comparison: "not", TargetValue: true}}}}}, lastmile.CodeInvalid, "equal_to"},
		"a condition without a value":               {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Conditions: []lastmile.Condition{{FieldName: "pickupTask", Comparison: "equal_to"}}}}}, lastmile.CodeInvalid, "targetValue"},
		"two conditions at once":                    {customfield.Change{Name: text("When"), Type: &date, Contexts: &[]lastmile.CustomFieldContext{{Conditions: append(when(true), when(false)...)}}}, lastmile.CodeInvalid, "one condition"},
		"too many contexts":                         {customfield.Change{Name: text("When"), Type: &date, Contexts: new(make([]lastmile.CustomFieldContext, 11))}, lastmile.CodeInvalid, "at most 10"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fields := define(t, customfield.Change{Key: "taken", Type: &date})
			made, err := fields.Define("field", fieldsOwner, test.change)
			if test.code != 0 {
				rejectedWith(t, err, test.code, test.word)
				if len(fields) != 1 {
					t.Error("a field that was rejected is there")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(fields) != 2 || made.Position <= fields[0].Position || made.Contexts[0].Name != "save" || !customfield.AppliesTo(made, true) || !customfield.AppliesTo(made, false) {
				t.Errorf("made %+v", made)
			}
		})
	}

	t.Run("a key is derived from the name", func(t *testing.T) {
		for name, want := range map[string]string{"Order number": "Order_number", " a--b ": "a_b", "newTest": "newTest", "Größe (cm)": "Gr_e_cm"} {
			var fields customfield.Fields
			made, err := fields.Define("field", fieldsOwner, customfield.Change{Name: &name, Type: &date})
			if err != nil || made.Key != want {
				t.Errorf("%q became %q, want %q: %v", name, made.Key, want, err)
			}
		}
	})
	t.Run("the number of fields is limited", func(t *testing.T) {
		var fields customfield.Fields
		for i := range customfield.MaxFields {
			name := fmt.Sprint("f", i)
			if _, err := fields.Define("field", fieldsOwner, customfield.Change{Name: &name, Type: &date}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := fields.Define("field", fieldsOwner, customfield.Change{Name: text("more"), Type: &date})
		rejectedWith(t, err, lastmile.CodeInvalid, "100")
	})
	t.Run("the size of all defaults is limited", func(t *testing.T) {
		lines := make([]any, 30)
		for i := range lines {
			lines[i] = strings.Repeat("x", 1_000)
		}
		fields := define(t,
			customfield.Change{Key: "a", Type: new(lastmile.FieldMultiLine), AsArray: new(true), Value: value(lines)},
			customfield.Change{Key: "b", Type: new(lastmile.FieldMultiLine), AsArray: new(true), Value: value(lines)},
			customfield.Change{Key: "c", Type: new(lastmile.FieldMultiLine)})
		long := value(strings.Repeat("x", 9_000))
		_, err := fields.Define("field[0]", fieldsOwner, customfield.Change{Name: text("d"), Type: new(lastmile.FieldMultiLine), Value: long})
		rejectedWith(t, err, lastmile.CodeInvalid, "field[0].value", "65536")
		if len(fields) != 3 {
			t.Error("a field that was rejected is there")
		}
		if _, err := fields.ForTask(false).Create(nil); err != nil {
			t.Errorf("a task with all defaults cannot be created: %v", err)
		}
		if _, err := slices.Clone(fields).Change("field[1]", customfield.Change{Key: "c", Value: value("short")}); err != nil {
			t.Error(err)
		}
		_, err = slices.Clone(fields).Change("field[1]", customfield.Change{Key: "c", Value: long})
		rejectedWith(t, err, lastmile.CodeInvalid, "field[1].value", "65536")
	})
	t.Run("a change keeps properties that were not sent", func(t *testing.T) {
		fields := define(t, customfield.Change{Key: "a", Type: &date, Description: text("d"), Value: value("2026-01-31"), Contexts: only(true, true)})
		changed, err := fields.Change("field", customfield.Change{Key: "a", Name: text("new"), Value: value(nil)})
		if err != nil || changed.Name != "new" || changed.Description != "d" || changed.Value != nil || !customfield.RequiredFor(changed, true) || customfield.AppliesTo(changed, false) {
			t.Errorf("changed to %+v: %v", changed, err)
		}
		line, array := lastmile.FieldSingleLine, true
		for word, c := range map[string]customfield.Change{
			"field.key":     {Name: text("x")},
			"field.type":    {Key: "a", Type: &line},
			"field.asArray": {Key: "a", AsArray: &array},
		} {
			_, err := fields.Change("field", c)
			code := lastmile.CodeInvalid
			if c.Key == "" {
				code = lastmile.CodeMalformed
			}
			rejectedWith(t, err, code, word)
		}
		_, err = fields.Change("field", customfield.Change{Key: "b"})
		rejectedWith(t, err, lastmile.CodeNotFound, "b")
	})
}

// valueCases are values and the types that accept them.
var valueCases = []struct {
	json string
	of   []lastmile.CustomFieldType
}{
	{`null`, nil},
	{`{}`, nil},
	{`{"a":1}`, nil},
	{`[]`, nil},
	{`["a"]`, nil},
	{`true`, []lastmile.CustomFieldType{"boolean"}},
	{`false`, []lastmile.CustomFieldType{"boolean"}},
	{`0`, []lastmile.CustomFieldType{"integer", "decimal"}},
	{`-7`, []lastmile.CustomFieldType{"integer", "decimal"}},
	{`1e3`, []lastmile.CustomFieldType{"integer", "decimal"}},
	{`1.5`, []lastmile.CustomFieldType{"decimal"}},
	{`9007199254740992`, []lastmile.CustomFieldType{"integer", "decimal"}},
	{`1e300`, []lastmile.CustomFieldType{"decimal"}},
	{`1767225600000`, []lastmile.CustomFieldType{"integer", "decimal", "date"}},
	{`1767225600000.5`, []lastmile.CustomFieldType{"decimal"}},
	{`1767225600`, []lastmile.CustomFieldType{"integer", "decimal"}}, // seconds
	{`""`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"text"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"two\nlines"`, []lastmile.CustomFieldType{"multi_line_text_field"}},
	{`"12"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"true"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"2026-01-31"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "date"}},
	{`"1980-05-01"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "date"}},
	{`"2026-01-31T12:00:00Z"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "date"}},
	{`"2026-01-31T12:00:00.123+02:00"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "date"}},
	{`"2026-02-30"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"31/01/2026"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"https://example.com/a?b=c#d"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "Url"}},
	{`"HTTP://example.com"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field", "Url"}},
	{`"http://"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"http://:80"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"example.com"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"ftp://example.com"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"javascript:alert(1)"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
	{`"http://a b"`, []lastmile.CustomFieldType{"single_line_text_field", "multi_line_text_field"}},
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func TestCustomFieldValuesAreOfTheirType(t *testing.T) {
	for _, test := range valueCases {
		for _, kind := range lastmile.CustomFieldTypes {
			want := false
			for _, of := range test.of {
				want = want || of == kind
			}
			one, several := lastmile.CustomField{Key: "k", Type: kind}, lastmile.CustomField{Key: "k", Type: kind, AsArray: true}
			value := decoded(t, test.json)
			if err := customfield.CheckValue(one, "v", value); (err == nil) != want {
				t.Errorf("%s as %s: %v", test.json, kind, err)
			}
			if err := customfield.CheckValue(several, "v", []any{value}); (err == nil) != want {
				t.Errorf("[%s] as an array of %s: %v", test.json, kind, err)
			}
			if err := customfield.CheckValue(several, "v", value); err == nil && test.json[0] != '[' {
				t.Errorf("%s as an array of %s passed", test.json, kind)
			}
		}
	}
	t.Run("the length of texts is limited", func(t *testing.T) {
		for kind, limit := range map[lastmile.CustomFieldType]int{lastmile.FieldSingleLine: 1_000, lastmile.FieldMultiLine: 10_000, lastmile.FieldURL: 2_000} {
			field := lastmile.CustomField{Key: "k", Type: kind}
			full := "http://a/" + strings.Repeat("é", limit-len("http://a/"))
			if err := customfield.CheckValue(field, "v", full); err != nil {
				t.Errorf("%s of %d characters: %v", kind, limit, err)
			}
			rejectedWith(t, customfield.CheckValue(field, "v", full+"x"), lastmile.CodeInvalid, "v", fmt.Sprint(limit))
		}
	})
	t.Run("the length of arrays is limited", func(t *testing.T) {
		field := lastmile.CustomField{Key: "k", Type: lastmile.FieldBoolean, AsArray: true}
		long := make([]any, 101)
		for i := range long {
			long[i] = true
		}
		if err := customfield.CheckValue(field, "v", long[:100]); err != nil {
			t.Error(err)
		}
		rejectedWith(t, customfield.CheckValue(field, "v", long), lastmile.CodeInvalid, "at most 100")
	})
}

// sheetFields returns one field of each kind.
func sheetFields(t testing.TB) customfield.Fields {
	t.Helper()
	line, whole, date := lastmile.FieldSingleLine, lastmile.FieldInteger, lastmile.FieldDate
	var standard any = 5.0
	return define(
		t,
		customfield.Change{Key: "any", Type: &line},
		customfield.Change{Key: "preset", Type: &whole, Value: &standard},
		customfield.Change{Key: "pickup", Type: &line, Contexts: only(true, false)},
		customfield.Change{Key: "dropoff", Type: &line, Contexts: only(false, false)},
		customfield.Change{Key: "ship", Type: &date, Contexts: only(true, true)},
		customfield.Change{Key: "secret", Type: &line, Editability: &[]string{"admin"}},
		customfield.Change{Key: "inner", Type: &line, Editability: &[]string{"api"}},
		customfield.Change{Key: "taken", Type: &line, Editability: &[]string{"admin"}, Contexts: only(true, false)},
	)
}

// shownValues returns values as JSON, in order.
func shownValues(values []lastmile.CustomFieldValue) string {
	var out []string
	for _, v := range values {
		text, err := json.Marshal(v.Value)
		if err != nil {
			return err.Error()
		}
		out = append(out, v.Field.Key+"="+string(text))
	}
	return strings.Join(out, " ")
}

func sentValues(t testing.TB, text string) []lastmile.FieldValue {
	t.Helper()
	var sent []lastmile.FieldValue
	if err := json.Unmarshal([]byte(text), &sent); err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestCustomFieldsOfATask(t *testing.T) {
	const ship = `{"Key":"ship","Value":"2026-01-31"}`
	type sheet = customfield.TaskFields
	type change = func(sheet, []lastmile.CustomFieldValue, []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error)
	create := func(s sheet, _ []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
		return s.Create(sent)
	}
	admin := lastmile.Principal{Admin: "a"}
	byAdmin := func(do change) change {
		return func(s sheet, has []lastmile.CustomFieldValue, sent []lastmile.FieldValue) ([]lastmile.CustomFieldValue, error) {
			return do(s.SetBy(admin), has, sent)
		}
	}
	tests := map[string]struct {
		has    string // fields of the existing pickup; empty for a new task
		do     change
		pickup bool
		sent   string
		want   string
		code   lastmile.Code
		words  []string
	}{
		"a new task gets the defaults":                            {do: create, sent: `[]`, want: `preset=5`},
		"a value that is sent replaces the default":               {do: create, sent: `[{"Key":"preset","Value":1}]`, want: `preset=1`},
		"null is the same as not sent":                            {do: create, sent: `[{"Key":"preset"},{"Key":"any"}]`, want: `preset=5`},
		"fields are in the order of definition":                   {do: create, sent: `[{"Key":"dropoff","Value":"d"},{"Key":"any","Value":"a"}]`, want: `any="a" preset=5 dropoff="d"`},
		"a required field must be sent":                           {do: create, pickup: true, sent: `[]`, code: lastmile.CodeMalformed, words: []string{"ship", "pickup"}},
		"a required field must have a value":                      {do: create, pickup: true, sent: `[{"Key":"ship"}]`, code: lastmile.CodeMalformed, words: []string{"ship"}},
		"a required field is sent":                                {do: create, pickup: true, sent: `[` + ship + `]`, want: `preset=5 ship="2026-01-31"`},
		"an unknown key is rejected":                              {do: create, sent: `[{"Key":"any","Value":"a"},{"Key":"nope","Value":1}]`, code: lastmile.CodeInvalid, words: []string{"customFields[1].key", "nope"}},
		"keys are case-sensitive":                                 {do: create, sent: `[{"Key":"Any","Value":"a"}]`, code: lastmile.CodeInvalid, words: []string{"Any"}},
		"no key is rejected":                                      {do: create, sent: `[{"Value":"a"}]`, code: lastmile.CodeMalformed, words: []string{"customFields[0].key"}},
		"a key twice is rejected":                                 {do: create, sent: `[{"Key":"any","Value":"a"},{"Key":"any","Value":"b"}]`, code: lastmile.CodeInvalid, words: []string{"customFields[1].key", "twice"}},
		"a value of another type is rejected":                     {do: create, sent: `[{"Key":"preset","Value":"1"}]`, code: lastmile.CodeInvalid, words: []string{"customFields[0].value", "preset", "integer"}},
		"a pickup's field on a drop-off":                          {do: create, sent: `[{"Key":"pickup","Value":"p"}]`, code: lastmile.CodeInvalid, words: []string{"pickup", "drop-off"}},
		"a drop-off's field on a pickup":                          {do: create, pickup: true, sent: `[` + ship + `,{"Key":"dropoff","Value":"p"}]`, code: lastmile.CodeInvalid, words: []string{"dropoff", "pickup"}},
		"an administrator sets a field of administrators":         {do: byAdmin(create), sent: `[{"Key":"secret","Value":"s"}]`, want: `preset=5 secret="s"`},
		"an administrator may not edit a field of the API":        {do: byAdmin(create), sent: `[{"Key":"inner","Value":"s"}]`, code: lastmile.CodeInvalid, words: []string{"inner", "admin"}},
		"the API may not remove a value that it may not edit":     {has: `[` + ship + `,{"Key":"secret","Value":"s"}]`, do: sheet.Update, pickup: true, sent: `[{"Key":"secret"}]`, code: lastmile.CodeInvalid, words: []string{"secret", "api"}},
		"an administrator removes such a value":                   {has: `[` + ship + `,{"Key":"secret","Value":"s"}]`, do: byAdmin(sheet.Update), pickup: true, sent: `[{"Key":"secret"}]`, want: `preset=5 ship="2026-01-31"`},
		"a value that no longer applies can be removed":           {has: `[{"Key":"ship","Value":"2026-01-31"},{"Key":"taken","Value":"s"}]`, do: sheet.Convert, sent: `[{"Key":"ship"},{"Key":"taken"}]`, want: `preset=5`},
		"a field that the API may not edit":                       {do: create, sent: `[{"Key":"secret","Value":"s"}]`, code: lastmile.CodeInvalid, words: []string{"secret"}},
		"an update keeps fields that are not sent":                {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"any","Value":"a"}]`, want: `preset=5 ship="2026-01-31" any="a"`},
		"an update keeps the position of a field":                 {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"preset","Value":6}]`, want: `preset=6 ship="2026-01-31"`},
		"null removes a field":                                    {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"preset"},{"Key":"pickup","Value":"p"}]`, want: `ship="2026-01-31" pickup="p"`},
		"null for a field without a value does nothing":           {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"any"}]`, want: `preset=5 ship="2026-01-31"`},
		"a required field cannot be removed":                      {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"ship"}]`, code: lastmile.CodeMalformed, words: []string{"ship"}},
		"an update of an unknown key":                             {has: `[` + ship + `]`, do: sheet.Update, pickup: true, sent: `[{"Key":"nope"}]`, code: lastmile.CodeInvalid, words: []string{"nope"}},
		"a task that stops being a pickup":                        {has: `[` + ship + `]`, do: sheet.Convert, sent: `[]`, code: lastmile.CodeInvalid, words: []string{"ship", "null"}},
		"a task that stops being a pickup and removes its fields": {has: `[` + ship + `]`, do: sheet.Convert, sent: `[{"Key":"ship"},{"Key":"dropoff","Value":"d"}]`, want: `preset=5 dropoff="d"`},
		"a clone has the fields of its source":                    {has: `[` + ship + `]`, do: sheet.Clone, pickup: true, sent: `[{"Key":"any","Value":"a"}]`, want: `preset=5 ship="2026-01-31" any="a"`},
		"a clone has no fields that do not apply to it":           {has: `[` + ship + `]`, do: sheet.Clone, sent: `[]`, want: `preset=5`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fields := sheetFields(t)
			var has []lastmile.CustomFieldValue
			if test.has != "" {
				var err error
				if has, err = fields.ForTask(true).SetBy(admin).Create(sentValues(t, test.has)); err != nil {
					t.Fatal(err)
				}
			}
			before := shownValues(has)
			got, err := test.do(fields.ForTask(test.pickup), has, sentValues(t, test.sent))
			if test.code != 0 {
				rejectedWith(t, err, test.code, test.words...)
			} else if shown := shownValues(got); err != nil || shown != test.want {
				t.Errorf("got %s, want %s: %v", shown, test.want, err)
			}
			if shownValues(has) != before {
				t.Errorf("what the task had became %s", shownValues(has))
			}
		})
	}
	t.Run("an unchanged value is accepted even if the definition was deleted", func(t *testing.T) {
		has := []lastmile.CustomFieldValue{{Field: lastmile.CustomField{Key: "gone"}, Value: "x"}}
		got, err := sheetFields(t).ForTask(false).Update(has, sentValues(t, `[{"Key":"gone","Value":"x"}]`))
		if err != nil || shownValues(got) != `gone="x"` {
			t.Errorf("got %s: %v", shownValues(got), err)
		}
		if _, err = sheetFields(t).ForTask(false).Update(has, sentValues(t, `[{"Key":"gone","Value":"y"}]`)); err == nil {
			t.Error("a field without a definition took a new value")
		}
		if got, err = sheetFields(t).ForTask(false).Update(has, sentValues(t, `[{"Key":"gone"}]`)); err != nil || len(got) > 0 {
			t.Errorf("got %s: %v", shownValues(got), err)
		}
	})
	t.Run("the size of all values together is limited", func(t *testing.T) {
		kind, array := lastmile.FieldMultiLine, true
		fields := define(t, customfield.Change{Key: "a", Type: &kind, AsArray: &array}, customfield.Change{Key: "b", Type: &kind, AsArray: &array})
		long := strings.Repeat("x", 10_000)
		has, err := fields.ForTask(false).Create([]lastmile.FieldValue{{Key: "a", Value: []any{long, long, long}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = fields.ForTask(false).Update(has, []lastmile.FieldValue{{Key: "b", Value: []any{long, long, long, long}}})
		rejectedWith(t, err, lastmile.CodeInvalid, "65536")
	})
	t.Run("an empty value is not enough for a required field", func(t *testing.T) {
		line, array := lastmile.FieldSingleLine, true
		fields := define(t, customfield.Change{Key: "a", Type: &line, Contexts: everyTask(true)})
		_, err := fields.ForTask(false).Create(sentValues(t, `[{"Key":"a","Value":" "}]`))
		rejectedWith(t, err, lastmile.CodeMalformed, "a")
		fields = define(t, customfield.Change{Key: "a", Type: &line, AsArray: &array, Contexts: everyTask(true)})
		_, err = fields.ForTask(false).Create(sentValues(t, `[{"Key":"a","Value":[]}]`))
		rejectedWith(t, err, lastmile.CodeMalformed, "a")
	})
}

func TestTemplates(t *testing.T) {
	name, now := "T", time.Now()
	template := func(conditions []lastmile.Condition, keys ...string) (customfield.Template, error) {
		return customfield.NewTemplate("t", fieldsOwner, customfield.TemplateChange{Name: &name, Conditions: &conditions, Fields: &keys}, sheetFields(t), now)
	}
	odd := []lastmile.Condition{{FieldName: "pickupTask", Comparison: "equal_to", TargetValue: "true"}}
	tests := map[string]struct {
		conditions []lastmile.Condition
		fields     []string
		code       lastmile.Code
		words      []string
	}{
		"for both, with fields for both":                {nil, []string{"any", "preset"}, 0, nil},
		"for both, without fields":                      {nil, nil, 0, nil},
		"for both, with a pickup's field":               {nil, []string{"any", "pickup"}, lastmile.CodeInvalid, []string{"pickup", "drop-off"}},
		"for both, with a drop-off's field":             {nil, []string{"dropoff"}, lastmile.CodeInvalid, []string{"dropoff"}},
		"for pickups, with a pickup's field":            {when(true), []string{"pickup", "any"}, 0, nil},
		"for pickups, with a drop-off's field":          {when(true), []string{"dropoff"}, lastmile.CodeInvalid, []string{"dropoff", "pickup"}},
		"for drop-offs, with a drop-off's field":        {when(false), []string{"dropoff", "any"}, 0, nil},
		"for drop-offs, with a pickup's field":          {when(false), []string{"pickup"}, lastmile.CodeInvalid, []string{"pickup"}},
		"with a field that does not exist":              {nil, []string{"nope"}, lastmile.CodeInvalid, []string{"nope"}},
		"with a value that is not true or false":        {odd, nil, lastmile.CodeInvalid, []string{"contextSaveConditions"}},
		"with both conditions":                          {append(when(true), when(false)...), nil, lastmile.CodeInvalid, []string{"contextSaveConditions"}},
		"with the same condition twice":                 {append(when(true), when(true)...), nil, lastmile.CodeInvalid, []string{"contextSaveConditions"}},
		"with a condition on another field of the task": {[]lastmile.Condition{{FieldName: "state", Comparison: "equal_to", TargetValue: true}}, nil, lastmile.CodeInvalid, []string{"contextSaveConditions"}},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			made, err := template(test.conditions, test.fields...)
			if test.code != 0 {
				rejectedWith(t, err, test.code, test.words...)
			} else if err != nil || len(made.Fields) != len(test.fields) {
				t.Errorf("made %+v: %v", made, err)
			}
		})
	}
	t.Run("its tasks have only its fields and must be of its kind", func(t *testing.T) {
		chosen, err := template(when(true), "pickup", "preset")
		if err != nil {
			t.Fatal(err)
		}
		_, err = chosen.ForTask(sheetFields(t), false)
		rejectedWith(t, err, lastmile.CodeInvalid, "customFieldGroup", "drop-off")
		sheet, err := chosen.ForTask(sheetFields(t), true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sheet.Create(sentValues(t, `[{"Key":"pickup","Value":"p"}]`))
		if err != nil || shownValues(got) != `preset=5 pickup="p"` {
			t.Errorf("got %s: %v", shownValues(got), err)
		}
		_, err = sheet.Create(sentValues(t, `[{"Key":"any","Value":"a"}]`))
		rejectedWith(t, err, lastmile.CodeInvalid, "any", `"T"`)
	})
	t.Run("names are unique", func(t *testing.T) {
		made, err := template(nil)
		if err != nil {
			t.Fatal(err)
		}
		other := made
		other.ID = "o"
		rejectedWith(t, made.CheckAmong([]customfield.Template{other}), lastmile.CodeDuplicate, "T")
		if err := made.CheckAmong([]customfield.Template{made}); err != nil {
			t.Error(err)
		}
	})
}

func FuzzCustomFieldValues(f *testing.F) {
	for i, test := range valueCases {
		f.Add(test.json, uint8(i), false)
		f.Add("["+test.json+"]", uint8(i), true)
	}
	f.Fuzz(func(t *testing.T, text string, nth uint8, array bool) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil || value == nil {
			return
		}
		kind := lastmile.CustomFieldTypes[int(nth)%len(lastmile.CustomFieldTypes)]
		fields := define(t, customfield.Change{Key: "k", Type: &kind, AsArray: &array})
		values, err := fields.ForTask(false).Create([]lastmile.FieldValue{{Key: "k", Value: value}})
		if err != nil {
			if _, ok := errors.AsType[*lastmile.Error](err); !ok {
				t.Errorf("%s is no rejection: %v", text, err)
			}
			return
		}
		// An accepted value is stored exactly, and accepted again.
		kept, err := json.Marshal(values[0].Value)
		if err != nil {
			t.Fatalf("%s cannot be written: %v", text, err)
		}
		again := decoded(t, string(kept))
		if !reflect.DeepEqual(again, value) {
			t.Errorf("%s became %s", text, kept)
		}
		if _, err := fields.ForTask(false).Create([]lastmile.FieldValue{{Key: "k", Value: again}}); err != nil {
			t.Errorf("%s was taken, and %s is not: %v", text, kept, err)
		}
	})
}

func TestTheDefinitionsAreLimitedTogether(t *testing.T) {
	long, text := strings.Repeat("d", lastmile.MaxText), lastmile.CustomFieldTypes[0]
	field := func(i int) customfield.Change {
		return customfield.Change{Key: fmt.Sprintf("key%d", i), Name: new("name"), Type: &text, Description: &long}
	}
	var fields customfield.Fields
	for i := range customfield.MaxFields {
		if _, err := fields.Define("field[7]", fieldsOwner, field(i)); err != nil {
			rejectedWith(t, err, lastmile.CodeInvalid, "field[7]", "65536")
			break
		}
	}
	full := len(fields)
	if full < 50 || full == customfield.MaxFields {
		t.Fatalf("%d fields with the longest description were defined", full)
	}
	if _, err := fields.Change("field[0]", customfield.Change{Key: "key0", Name: &long}); err == nil {
		t.Error("a name was made longer than the limit")
	}
	if _, err := fields.Change("field[0]", customfield.Change{Key: "key0", Name: new("name"), Description: new("short")}); err != nil {
		t.Errorf("a description cannot become shorter: %v", err)
	}
	old := slices.Clone(fields)
	for range 50 { // as older versions accepted them
		old = append(old, fields[1])
	}
	if _, err := old.Change("field[0]", customfield.Change{Key: "key2", Description: new("short")}); err != nil {
		t.Errorf("definitions that are too large cannot become smaller: %v", err)
	}
	if _, err := old.Change("field[0]", customfield.Change{Key: "key2", Description: new("not as short")}); err == nil {
		t.Error("definitions that are too large became larger")
	}
}

func TestATaskDoesNotCollectDefinitions(t *testing.T) {
	long, text := strings.Repeat("d", lastmile.MaxText), lastmile.CustomFieldTypes[0]
	var has []lastmile.CustomFieldValue
	for i := range 3 { // each time, the organization has other fields
		var fields customfield.Fields
		var sent []lastmile.FieldValue
		for j := range 25 {
			key := fmt.Sprintf("key%d_%d", i, j)
			if _, err := fields.Define("field", fieldsOwner, customfield.Change{Key: key, Name: new("name"), Type: &text, Description: &long}); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, lastmile.FieldValue{Key: key, Value: "v"})
		}
		values, err := fields.ForTask(false).Update(has, sent)
		if i < 2 {
			if has = values; err != nil {
				t.Fatal(err)
			}
			continue
		}
		rejectedWith(t, err, lastmile.CodeInvalid, "customFields", "null")
		if _, err := fields.ForTask(false).Update(has, []lastmile.FieldValue{{Key: "key0_0"}}); err != nil {
			t.Errorf("a field cannot be removed: %v", err)
		}
	}
}
