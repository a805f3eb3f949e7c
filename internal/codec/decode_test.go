package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// taskLike has a field of every kind that bodies have.
type taskLike struct {
	Destination struct {
		Address struct {
			Number string `json:"number"`
			Street string `json:"street"`
			City   string `json:"city"`
		} `json:"address"`
		Location wire.LonLat `json:"location"`
	} `json:"destination"`
	Recipients    []recipientLike           `json:"recipients"`
	Notes         string                    `json:"notes"`
	Quantity      float64                   `json:"quantity"`
	Priority      int                       `json:"priority"`
	Small         uint8                     `json:"small"`
	Tiny          int8                      `json:"tiny"`
	Ratio         float32                   `json:"ratio"`
	PickupTask    bool                      `json:"pickupTask"`
	Skip          wire.Flag                 `json:"skip"`
	CompleteAfter wire.Millis               `json:"completeAfter"`
	Begin         wire.UnixSeconds          `json:"begin"`
	ServiceTime   wire.Minutes              `json:"serviceTime"`
	Travel        wire.Seconds              `json:"travel"`
	Worker        *lastmile.WorkerID        `json:"worker"`
	Excluded      []lastmile.WorkerID       `json:"excluded"`
	Capacity      wire.Optional[float64]    `json:"capacity,omitzero"`
	Window        wire.Optional[windowLike] `json:"window,omitzero"`
	Pair          [2]int                    `json:"pair"`
	Teams         map[string][]string       `json:"teams"`
	Metadata      wire.Metadata             `json:"metadata"`
	Picky         picky                     `json:"picky"`
}

type recipientLike struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

type windowLike struct {
	Times []wire.Millis `json:"times"`
}

// picky is a type of another package that returns its own errors.
type picky struct{ said string }

func (p *picky) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"plain"`:
		return errors.New("must be an id or an object")
	case `"rejection"`:
		return lastmile.Duplicate("phone", "+1").Because("taken")
	case `"named"`:
		return lastmile.Invalid("the field picky must be kinder")
	}
	p.said = string(data)
	return nil
}

func (p picky) MarshalJSON() ([]byte, error) {
	if p.said == "" {
		return []byte("null"), nil
	}
	return []byte(p.said), nil
}

func TestDecodeRejects(t *testing.T) {
	const (
		malformed = lastmile.CodeMalformed
		invalid   = lastmile.CodeInvalid
	)
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	tests := map[string]struct {
		body string
		code lastmile.Code
		want string // beginning of the message
	}{
		"an array for an object":          {`[]`, malformed, "the request body must be an object, not an array"},
		"a string for an object":          {`"x"`, malformed, "the request body must be an object, not a string"},
		"true for an object":              {`true`, malformed, "the request body must be an object, not a boolean"},
		"a number for a string":           {`{"destination":{"address":{"number":543}}}`, malformed, "destination.address.number must be a string, not a number"},
		"null among objects":              {`{"recipients":[{"name":"R"},null]}`, malformed, "recipients[1] must be an object, not null"},
		"null among strings":              {`{"teams":{"a":["b",null]}}`, malformed, "teams.a[1] must be a string, not null"},
		"an empty id":                     {`{"excluded":[""]}`, malformed, "excluded[0] must be an id, not an empty string"},
		"an empty id among others":        {`{"notes":"","excluded":["a","b\"c" , "" ]}`, malformed, "excluded[2] must be an id, not an empty string"},
		"an empty id and other notations": {`{"priority":"2","excluded":["a",""]}`, malformed, "excluded[1] must be an id, not an empty string"},
		"null among numbers":              {`{"pair":[1,null]}`, malformed, "pair[1] must be a number, not null"},
		"an object for a string":          {`{"notes":{}}`, malformed, "notes must be a string, not an object"},
		"a string for a boolean":          {`{"pickupTask":"true"}`, malformed, "pickupTask must be a boolean, not a string"},
		"a string for a number":           {`{"quantity":"one"}`, malformed, "quantity must be a number, not a string"},
		"an empty string for a number":    {`{"quantity":""}`, malformed, "quantity must be a number, not a string"},
		"a spaced string for a number":    {`{"quantity":" 1"}`, malformed, "quantity must be a number, not a string"},
		"a hexadecimal string":            {`{"priority":"0x10"}`, malformed, "priority must be a number, not a string"},
		"a string over 2^53":              {`{"quantity":"1e16"}`, invalid, "quantity must be a number between -2^53 and 2^53, not 1e16"},
		"a boolean for a number":          {`{"priority":true}`, malformed, "priority must be a number, not a boolean"},
		"a string for a whole number":     {`{"priority":"1 "}`, malformed, "priority must be a number, not a string"},
		"a fraction for a whole number":   {`{"priority":1.5}`, malformed, "priority must be a whole number, not 1.5"},
		"a fraction in a string":          {`{"priority":"1.5"}`, malformed, "priority must be a whole number, not 1.5"},
		"a number that does not fit":      {`{"small":256}`, invalid, "small must be a whole number between 0 and 255, not 256"},
		"a negative count":                {`{"small":-1}`, invalid, "small must be a whole number between 0 and 255, not -1"},
		"a number that is too low":        {`{"tiny":-129}`, invalid, "tiny must be a whole number between -128 and 127, not -129"},
		"an exponent that is too high":    {`{"tiny":1e3}`, invalid, "tiny must be a whole number between -128 and 127, not 1e3"},
		"a string that does not fit":      {`{"small":"256.0"}`, invalid, "small must be a whole number between 0 and 255, not 256.0"},
		"a string for a small number":     {`{"ratio":"x"}`, malformed, "ratio must be a number, not a string"},
		"null and more of it":             {`{"x":nulll}`, invalid, "the request body is not valid JSON: at byte 9 in x there is 'l' instead of a comma or }"},
		"an object for an array":          {`{"recipients":{}}`, malformed, "recipients must be an array, not an object"},
		"a number in an array of objects": {`{"recipients":[{},7]}`, malformed, "recipients[1] must be an object, not a number"},
		"a wrong field in an array":       {`{"recipients":[{},{},{"name":[]}]}`, malformed, "recipients[2].name must be a string, not an array"},
		"a number for an id":              {`{"worker":1}`, malformed, "worker must be a string, not a number"},
		"too few in a fixed array":        {`{"pair":[1]}`, malformed, "pair must be an array of exactly 2 elements"},
		"too many in a fixed array":       {`{"pair":[1,2,3]}`, malformed, "pair must be an array of exactly 2 elements"},
		"a wrong value in a map":          {`{"teams":{"a~/b":"x"}}`, malformed, `teams["a~/b"] must be an array, not a string`},
		"a wrong element in a map":        {`{"teams":{"ab":["x",1]}}`, malformed, `teams.ab[1] must be a string, not a number`},

		"a date for a time":                {`{"completeAfter":"2021-01-01"}`, malformed, `completeAfter must be a time in Unix milliseconds, not "2021-01-01"`},
		"seconds for milliseconds":         {`{"completeAfter":1609459200}`, invalid, "completeAfter must be a time in Unix milliseconds between the years 2000 and 2100, not 1609459200"},
		"a wrong optional":                 {`{"capacity":"x"}`, malformed, "capacity must be a number, not a string"},
		"a wrong field in an optional":     {`{"window":{"times":[null,true]}}`, malformed, "window.times[1] must be a time in Unix milliseconds, not true"},
		"a type's plain error":             {`{"picky":"plain"}`, malformed, "picky must be an id or an object"},
		"a type's rejection":               {`{"picky":"rejection"}`, lastmile.CodeDuplicate, `picky phone "+1" is already in use: taken`},
		"a type's rejection with its path": {`{"picky":"named"}`, invalid, "the field picky must be kinder"},
		"metadata of a wrong type":         {`{"metadata":[{"name":1}]}`, malformed, "metadata[0].name must be a string, not a number"},

		"nothing but an open brace": {`{`, invalid, "the request body is not valid JSON: at byte 1 there is the end instead of a key in double quotes"},
		"a missing comma":           {`{"notes":"a" "b":1}`, invalid, `the request body is not valid JSON: at byte 13 in notes there is '"' instead of a comma or }`},
		"a trailing comma":          {`{"recipients":[1,]}`, invalid, `the request body is not valid JSON: at byte 17 in recipients[1] there is ']' instead of a value`},
		"a missing colon":           {`{"notes" 1}`, invalid, `the request body is not valid JSON: at byte 9 in notes there is '1' instead of a colon`},
		"single quotes":             {`{'notes':1}`, invalid, `the request body is not valid JSON: at byte 1 there is '\'' instead of a key in double quotes`},
		"an open string":            {`{"notes":"abc`, invalid, `the request body is not valid JSON: at byte 13 in notes there is the end instead of a closing double quote`},
		"a wrong escape":            {`{"notes":"\x"}`, invalid, `the request body is not valid JSON: at byte 11 in notes there is 'x' instead of one of "\/bfnrtu`},
		"a short unicode escape":    {`{"notes":"\u12"}`, invalid, `the request body is not valid JSON: at byte 12 in notes there is '1' instead of four hexadecimal digits`},
		"NaN":                       {`{"quantity":NaN}`, invalid, `the request body is not valid JSON: at byte 12 in quantity there is 'N' instead of a value`},
		"a misspelt word":           {`{"quantity":nul}`, invalid, `the request body is not valid JSON: at byte 12 in quantity there is 'n' instead of null`},
		"a leading zero":            {`{"quantity":01}`, invalid, `the request body is not valid JSON: at byte 13 in quantity there is '1' instead of a comma or }`},
		"a bare minus":              {`{"quantity":-}`, invalid, `the request body is not valid JSON: at byte 13 in quantity there is '}' instead of a digit`},
		"a bare point":              {`{"quantity":1.}`, invalid, `the request body is not valid JSON: at byte 14 in quantity there is '}' instead of a digit`},
		"a bare exponent":           {`{"quantity":1e+}`, invalid, `the request body is not valid JSON: at byte 15 in quantity there is '}' instead of a digit`},
		"a byte order mark":         {"\uFEFF{}", invalid, "the request body must not begin with a byte order mark"},
		"a second value":            {`{} {}`, invalid, `the request body must be one JSON value, but '{' follows it at byte 3`},
		"null and more":             {`null 1`, invalid, `the request body must be one JSON value, but '1' follows it at byte 5`},
		"UTF-16":                    {"\xff\xfe{\x00}\x00", invalid, "the request body is not valid JSON: at byte 0 there is the byte 0xff instead of a value"},
		"NUL bytes":                 {"\x00", invalid, `the request body is not valid JSON: at byte 0 there is '\x00' instead of a value`},

		"a key given twice":                 {`{"notes":"a","notes":"b"}`, invalid, "notes is given more than once"},
		"a key given twice, escaped":        {`{"notes":"a","not\u0065s":"b"}`, invalid, "notes is given more than once"},
		"a key given twice in an array":     {`{"recipients":[{"name":"a","name":"a"}]}`, invalid, "recipients[0].name is given more than once"},
		"an unknown key given twice":        {`{"x":1,"x":1}`, invalid, "x is given more than once"},
		"a key given twice in an unknown":   {`{"x":[{"y":{"z":1,"z":1}}]}`, invalid, "x[0].y.z is given more than once"},
		"a key given twice in metadata":     {`{"metadata":[{"value":{"a":1,"a":2}}]}`, invalid, "metadata[0].value.a is given more than once"},
		"a key given twice in an optional":  {`{"window":{"a":1,"a":2}}`, invalid, "window.a is given more than once"},
		"invalid UTF-8":                     {"{\"notes\":\"a\xff\"}", invalid, "notes is not valid UTF-8 at byte 11"},
		"an overlong encoding":              {"{\"notes\":\"\xc0\x80\"}", invalid, "notes is not valid UTF-8 at byte 10"},
		"an encoded surrogate":              {"{\"notes\":\"\xed\xa0\x80\"}", invalid, "notes is not valid UTF-8 at byte 10"},
		"invalid UTF-8 in a key":            {"{\"destination\":{\"\xff\":1}}", invalid, "destination has a key that is not valid UTF-8 at byte 17"},
		"a high surrogate alone":            {`{"notes":"\ud800"}`, invalid, `notes holds half of a surrogate pair, \ud800`},
		"a high surrogate before a letter":  {`{"notes":"\ud800\u0041"}`, invalid, `notes holds half of a surrogate pair, \ud800`},
		"a low surrogate alone":             {`{"notes":"\uDC00"}`, invalid, `notes holds half of a surrogate pair, \udc00`},
		"an escaped NUL":                    {`{"notes":"a\u0000"}`, invalid, "notes holds the control character U+0000"},
		"a raw NUL":                         {"{\"notes\":\"a\x00\"}", invalid, "notes holds the control character U+0000"},
		"an escaped escape character":       {`{"notes":"\u001B"}`, invalid, "notes holds the control character U+001B"},
		"a backspace":                       {`{"notes":"\b"}`, invalid, "notes holds the control character U+0008"},
		"a form feed":                       {`{"notes":"\f"}`, invalid, "notes holds the control character U+000C"},
		"a raw newline":                     {"{\"notes\":\"\n\"}", invalid, `notes holds U+000A as it is: write it as \n`},
		"a NUL in a key":                    {`{"a\u0000":1}`, invalid, "the request body has a key that holds the control character U+0000"},
		"a NUL in an unknown key's value":   {`{"x":{"y":["\u0000"]}}`, invalid, "x.y[0] holds the control character U+0000"},
		"nesting too deep":                  {`{"x":` + deep(32) + `}`, invalid, "x[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0] is nested too deeply: at most 32 levels are allowed"},
		"nesting much too deep":             {strings.Repeat(`{"a":`, 100_000), invalid, "a.a.a.a"},
		"too many members":                  {`{"x":` + members(257) + `}`, invalid, "x has too many members: at most 256 are allowed"},
		"too many elements":                 {`{"x":{"y":` + elements(10_001) + `}}`, invalid, "x.y has too many elements: at most 10000 are allowed"},
		"a number over 2^53":                {`{"quantity":9007199254740993}`, invalid, "quantity must be a number between -2^53 and 2^53, not 9007199254740993"},
		"a number under -2^53":              {`{"quantity":-9007199254740993}`, invalid, "quantity must be a number between -2^53 and 2^53"},
		"a number just over 2^53":           {`{"quantity":9007199254740992.1}`, invalid, "quantity must be a number between -2^53 and 2^53"},
		"a number over 2^53, with exponent": {`{"quantity":1e16}`, invalid, "quantity must be a number between -2^53 and 2^53, not 1e16"},
		"a number over the largest float":   {`{"quantity":1e999}`, invalid, "quantity must be a number between -2^53 and 2^53, not 1e999"},
		"a large number under an unknown":   {`{"x":[0,-1e999]}`, invalid, "x[1] must be a number between -2^53 and 2^53"},
		"a number of very many digits":      {`{"quantity":` + strings.Repeat("9", 100_000) + `}`, invalid, "quantity must be a number between -2^53 and 2^53, not 999"},
		"a path with unusual keys":          {`{"a b\n":{"é":"\u0000"}}`, invalid, `["a b\n"]["é"] holds the control character`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var into taskLike
			err := codec.Decode([]byte(test.body), &into)
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok {
				t.Fatalf("got %v, want a rejection", err)
			}
			if rejection.Code != test.code {
				t.Errorf("code is %v, want %v", rejection.Code, test.code)
			}
			if !strings.HasPrefix(rejection.Error(), test.want) {
				t.Errorf("\n got %q\nwant %q", rejection, test.want)
			}
			if len(rejection.Message) > 4096 {
				t.Errorf("the message is %d bytes long", len(rejection.Message))
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	tests := map[string]struct {
		body string
		want func(*taskLike)
	}{
		"an empty body":                    {"", nil},
		"white space":                      {" \t\r\n", nil},
		"null":                             {" null\n", nil},
		"an empty object":                  {"{}", nil},
		"unknown keys":                     {`{"x":[{"y":null}],"Notes":"other letter case","NOTES":1}`, nil},
		"null for everything":              {`{"destination":null,"recipients":null,"notes":null,"quantity":null,"completeAfter":null,"worker":null,"skip":null,"serviceTime":null,"travel":null,"begin":null}`, nil},
		"tab, newline and carriage return": {`{"notes":"a\tb\nc\r\u0009\u000a\u000D"}`, func(b *taskLike) { b.Notes = "a\tb\nc\r\t\n\r" }},
		"a surrogate pair":                 {`{"notes":"\ud83d\uDE9A"}`, func(b *taskLike) { b.Notes = "🚚" }},
		"escapes":                          {`{"n\u006ftes":"\"\\\/"}`, func(b *taskLike) { b.Notes = `"\/` }},
		"text that looks like an escape":   {`{"notes":"\\u0000"}`, func(b *taskLike) { b.Notes = `\u0000` }},
		"2^53":                             {`{"quantity":9007199254740992}`, func(b *taskLike) { b.Quantity = 1 << 53 }},
		"-2^53 with an exponent":           {`{"quantity":-9.007199254740992E+15}`, func(b *taskLike) { b.Quantity = -1 << 53 }},
		"a whole number with a fraction":   {`{"priority":21.0,"small":2.50e2,"notes":"x"}`, func(b *taskLike) { b.Priority, b.Small, b.Notes = 21, 250, "x" }},
		"numbers in strings":               {`{"priority":"21","quantity":"2.5","ratio":"0.5","tiny":"-1e2","pair":["1",2.0]}`, func(b *taskLike) { b.Priority, b.Quantity, b.Ratio, b.Tiny, b.Pair = 21, 2.5, 0.5, -100, [2]int{1, 2} }},
		"an optional number in a string":   {`{"capacity":"1.5"}`, func(b *taskLike) { b.Capacity.Present, b.Capacity.Value = true, 1.5 }},
		"coordinates in strings":           {`{"destination":{"location":["-122.5","37.5"]}}`, func(b *taskLike) { b.Destination.Location = wire.LonLat{Lon: -122.5, Lat: 37.5} }},
		"a very small number":              {`{"quantity":1e-400}`, nil},
		"an optional null":                 {`{"capacity":null}`, func(b *taskLike) { b.Capacity.Present, b.Capacity.Null = true, true }},
		"an optional value":                {`{"capacity":0}`, func(b *taskLike) { b.Capacity.Present = true }},
		"the maximum of nesting":           {`{"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`, nil},
		"the maximum of members":           {`{"x":` + members(256) + `}`, nil},
		"the maximum of elements":          {`{"x":` + elements(10_000) + `}`, nil},
		"many objects of a few members":    {`{"x":[` + strings.Repeat(`{"a":1,"b":2},`, 500) + `{}]}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got, want taskLike
			if err := codec.Decode([]byte(test.body), &got); err != nil {
				t.Fatal(err)
			}
			if test.want != nil {
				test.want(&want)
			}
			if got.picked() != "null" && got.picked() != "" {
				t.Fatal("read what was not there")
			}
			got.Picky = picky{}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
		})
	}
}

func (b *taskLike) picked() string { return b.Picky.said }

func TestNoBodyLeavesTheTargetAlone(t *testing.T) {
	for _, body := range []string{"", "  ", "null", "\nnull\t"} {
		into := taskLike{Notes: "as before"}
		if err := codec.Decode([]byte(body), &into); err != nil || into.Notes != "as before" {
			t.Errorf("%q: %v, %q", body, err, into.Notes)
		}
	}
}

func TestDecodeBlamesUsForUnreadableTypes(t *testing.T) {
	var into struct {
		C chan int `json:"c"`
	}
	err := codec.Decode([]byte(`{"c":1}`), &into)
	if _, ok := errors.AsType[*lastmile.Error](err); ok || err == nil {
		t.Errorf("got %v, want an error that is no rejection", err)
	}
}

// TestNothingWithControlCharactersPasses puts every control character, in every notation, at
// every position of a body, and expects it to be rejected.
func TestNothingWithControlCharactersPasses(t *testing.T) {
	for c := range 0x20 {
		if c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		for _, written := range []string{fmt.Sprintf(`\u%04x`, c), fmt.Sprintf(`\u%04X`, c), string(rune(c))} {
			for _, shape := range []string{
				`%s`, `"%s"`, `"é%sx"`, `"\\%s"`, `{"%s":1}`, `{"a%s":{}}`, `["%s"]`, `{"x":[[{"y":"%s"}]]}`, `{}%s`, `[%s]`,
				`{"metadata":[{"name":"%s"}]}`, `{"metadata":[{"value":{"%s":1}}]}`, `{"notes":"a","x":"%s"}`,
			} {
				var into any
				body := fmt.Sprintf(shape, written)
				if err := codec.Decode([]byte(body), &into); err == nil {
					t.Errorf("%q passed", body)
				}
			}
		}
	}
}

// TestMemoryFollowsTheBody checks that Decode allocates at most a few times the size of the
// body, for bodies designed to take much memory.
func TestMemoryFollowsTheBody(t *testing.T) {
	const times = 8
	bodies := map[string]string{
		"long text":             `{"notes":"` + strings.Repeat("é", 200_000) + `"}`,
		"escaped text":          `{"notes":"` + strings.Repeat(`\n`, 200_000) + `"}`,
		"unknown elements":      `{"x":[` + strings.Repeat(elements(9_000)+",", 40) + `0]}`,
		"unknown members":       `{"x":[` + strings.Repeat(members(250)+",", 400) + `0]}`,
		"deep and wide":         `{"x":[` + strings.Repeat(strings.Repeat("[", 30)+strings.Repeat("]", 30)+",", 5_000) + `0]}`,
		"too much metadata":     `{"metadata":[{"value":[` + strings.Repeat(elements(9_000)+",", 40) + `0]}]}`,
		"too many entries":      `{"metadata":[` + strings.Repeat("{},", 9_000) + `{}]}`,
		"a long key":            `{"` + strings.Repeat("k", 400_000) + `":"\u0000"}`,
		"a long key, duplicate": `{"` + strings.Repeat("k", 100_000) + `":1,"` + strings.Repeat("k", 100_000) + `":1}`,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			data := []byte(body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var into taskLike
			err := codec.Decode(data, &into)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes took %d (%.1f times), error: %t", len(data), used, float64(used)/float64(len(data)), err != nil)
			if used > uint64(times*len(data)) {
				t.Errorf("a body of %d bytes took %d", len(data), used)
			}
		})
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func elements(n int) string {
	return "[" + strings.Repeat("1,", n-1) + "1]"
}

// typicalBody is a task as integrations send it, of about 600 bytes.
const typicalBody = `{"destination":{"address":{"number":"543","street":"Howard St","apartment":"5F","city":"San Francisco","state":"California","postalCode":"94105","country":"United States"},"location":[-122.396832,37.789271],"notes":"Ring twice"},` +
	`"recipients":[{"name":"Blas Silkovich","phone":"+16505554481","notes":"Knows Neiman, VIP status."}],` +
	`"completeAfter":1791111600000,"completeBefore":1791118800000,"pickupTask":false,"quantity":2,"serviceTime":4.5,` +
	`"metadata":[{"name":"orderId","type":"string","value":"A-10023","visibility":["api","dashboard"]}],` +
	`"notes":"Order 332: 24oz Stumptown Finca El Puente, 10 x Aji de Gallina Empanadas"}`

func TestTypicalBody(t *testing.T) {
	var got taskLike
	if err := codec.Decode([]byte(typicalBody), &got); err != nil {
		t.Fatal(err)
	}
	if got.Destination.Location.Point() != (lastmile.Point{Lon: -122.396832, Lat: 37.789271}) ||
		!got.CompleteAfter.Time().Equal(time.UnixMilli(1791111600000)) ||
		got.ServiceTime.Duration() != 4*time.Minute+30*time.Second ||
		got.Recipients[0].Phone != "+16505554481" || got.Metadata[0].Value != "A-10023" {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(typicalBody)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var into taskLike
		if err := codec.Decode(data, &into); err != nil {
			b.Fatal(err)
		}
	}
	ours := b.Elapsed()
	b.StopTimer()
	start := time.Now()
	for range b.N {
		var into taskLike
		if err := json.Unmarshal(data, &into); err != nil {
			b.Fatal(err)
		}
	}
	theirs := time.Since(start)
	b.ReportMetric(float64(ours)/float64(theirs), "x-encoding/json")
}

// FuzzDecode checks that encoding/json decodes every accepted body to the same value, that the
// value can be encoded and decoded again, and that every rejection has a readable message.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", typicalBody, `{"a":1,"a":2}`, `{"notes":"\u0000"}`, `{"x":"\ud800"}`, `{"x":1e999}`,
		`[[[[[]]]]]`, `{"completeAfter":1609459200000.0}`, `{"completeAfter":"1609459200000"}`, "\uFEFF{}", "{}{}",
		`{"destination":{"location":[-180,90]}}`, `{"capacity":null,"window":{"times":[1609459200000]}}`,
		`{"metadata":[{"name":"a","type":"array","subtype":"number","value":[1,2]}]}`, `{"skip":"true","travel":"7","begin":1609459200}`,
		`{"serviceTime":0.1,"pair":[1,2],"small":255,"teams":{"a":["b"]}}`, `{"quantity":-0.0}`, `{"picky":"plain"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAny(t, data)
		var into taskLike
		err := codec.Decode(data, &into)
		if err != nil {
			checkRefusal(t, data, err)
			return
		}
		written, err := json.Marshal(into)
		if err != nil {
			t.Fatalf("%q was accepted but cannot be written: %v", data, err)
		}
		var again taskLike
		if err := codec.Decode(written, &again); err != nil {
			t.Fatalf("%q was accepted, but not as it is written again, %q: %v", data, written, err)
		}
		if twice, _ := json.Marshal(again); string(twice) != string(written) {
			t.Fatalf("%q changes when it is read again: %q", written, twice)
		}
	})
}

// checkAny compares Decode with encoding/json on bodies of any shape.
func checkAny(t *testing.T, data []byte) {
	var got, want any
	if err := codec.Decode(data, &got); err != nil {
		checkRefusal(t, data, err)
		return
	}
	if strings.TrimSpace(string(data)) == "" {
		return
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatalf("%q was accepted, but encoding/json says %v", data, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q was read as %#v, but by encoding/json as %#v", data, got, want)
	}
	if text := fmt.Sprintf("%#v", got); strings.Contains(text, `\x00`) {
		t.Fatalf("%q let a NUL through", data)
	}
}

func checkRefusal(t *testing.T, data []byte, err error) {
	rejection, ok := errors.AsType[*lastmile.Error](err)
	if !ok {
		t.Fatalf("%q: %v is no rejection", data, err)
	}
	if len(rejection.Message) < 10 || len(rejection.Message) > 8192 || strings.ContainsAny(rejection.Message, "\x00\n") {
		t.Fatalf("%q: not a message to show: %q", data, rejection.Message)
	}
}

// TestWhatWeWritePasses checks that Decode restores random values that encoding/json encoded.
func TestWhatWeWritePasses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		value := randomValue(random, 0)
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := codec.Decode(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !reflect.DeepEqual(got, value) {
			t.Fatalf("%s was read as %#v", data, got)
		}
	}
}

func randomValue(r *rand.Rand, depth int) any {
	kinds := 6
	if depth > 5 {
		kinds = 4
	}
	switch r.IntN(kinds) {
	case 0:
		return r.IntN(2) == 0
	case 1:
		return randomText(r)
	case 2:
		return float64(r.Int64N(1<<54) - 1<<53)
	case 3:
		return r.NormFloat64()
	case 4:
		list := []any{}
		for range r.IntN(5) {
			list = append(list, randomValue(r, depth+1))
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(5) {
		object[randomText(r)] = randomValue(r, depth+1)
	}
	return object
}

func randomText(r *rand.Rand) string {
	letters := []rune("ab\"\\/\n\t\r <>&é漢🚚\u2028\u007f\uFFFD")
	text := make([]rune, r.IntN(8))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}
