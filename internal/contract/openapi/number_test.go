package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/spec"
	"dray/internal/wire"
)

// number is a place for a number in the body of a request.
type number struct {
	path  string
	body  func(value string) string
	value string // an acceptable whole number
	whole bool   // fractions are rejected
	plain bool   // a string there would be something else
}

// numbersOf lists the places for numbers in a request of a type. It finds them in
// the Go types, so that a new field is found as well.
func numbersOf(t reflect.Type, path string, body func(string) string) []number {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	zero := reflect.New(t).Elem().Interface()
	switch known := zero.(type) {
	case wire.SentTask: // decoded later, as the body of POST /tasks
		return nil
	case wire.TaskPlacement: // begins with a position or is a list of ids
		return []number{{path + "[0]", func(v string) string { return body("[" + v + "]") }, "21", true, true}}
	case wire.LonLat:
		return []number{{path + "[0]", func(v string) string { return body("[" + v + ",3]") }, "21", false, false}}
	case interface{ JSONSchema() string }:
		return numberOf(known.JSONSchema(), path, body)
	case interface{ OneOf() []any }:
		var all []number
		for _, form := range known.OneOf() {
			all = append(all, numbersOf(reflect.TypeOf(form), path, body)...)
		}
		return all
	case interface{ SchemaOf() any }:
		return numbersOf(reflect.TypeOf(known.SchemaOf()), path, body)
	}
	switch t.Kind() {
	case reflect.Slice:
		return numbersOf(t.Elem(), path+"[0]", func(v string) string { return body("[" + v + "]") })
	case reflect.Array:
		return numbersOf(t.Elem(), path+"[0]", func(v string) string {
			return body("[" + strings.Repeat(v+",", t.Len()-1) + v + "]")
		})
	case reflect.Struct:
		return membersOf(t, path, body)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return []number{{path, body, "21", true, false}}
	case reflect.Float32, reflect.Float64:
		return []number{{path, body, "21", false, false}}
	default:
		return nil
	}
}

// numberOf is the place of a type that describes its JSON itself.
func numberOf(schema, path string, body func(string) string) []number {
	var described struct {
		Type        any
		Description string
	}
	if err := json.Unmarshal([]byte(schema), &described); err != nil {
		panic(err)
	}
	at := number{path: path, body: body, value: "21"}
	switch described.Type {
	case "integer":
		at.whole = true
	case "number":
	default:
		return nil
	}
	switch {
	case strings.Contains(described.Description, "Unix time in milliseconds"):
		at.value, at.whole = "1894021200000", false // fractions are cut off
	case strings.Contains(described.Description, "Unix time"):
		at.value, at.whole = "1894021200", false
	}
	return []number{at}
}

func membersOf(t reflect.Type, path string, body func(string) string) (all []number) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, numbersOf(f.Type, path, body)...)
		case f.IsExported():
			inner := func(v string) string { return body(`{"` + name + `":` + v + `}`) }
			all = append(all, numbersOf(f.Type, path+"."+name, inner)...)
		}
	}
	return all
}

func TestNumbersOfRequests(t *testing.T) {
	found := map[string]bool{}
	eachAPI(t, func(t *testing.T, api spec.API) {
		for _, op := range api.Operations {
			if op.Body == nil {
				continue
			}
			for _, n := range numbersOf(op.Body, "", func(v string) string { return v }) {
				t.Run(op.Method+" "+op.Path+" "+n.path, func(t *testing.T) { testNumber(t, op.Body, n) })
				found[op.Method+" "+op.Path+" "+n.path] = true
			}
		}
	})
	for _, one := range []string{
		"POST /tasks .priority", "POST /tasks .requirements.minimumAge", "POST /tasks .serviceTime", "POST /tasks .destination.location[0]",
		"POST /tasks .completeAfter", "PUT /tasks/{id} .appearance.triangleColor", "POST /tasks/{id}/clone .options.overrides.quantity",
		"POST /webhooks .trigger", "POST /workers .additionalCapacities.capacityA", "POST /workers/{id}/schedule .entries[0].shifts[0][0]",
		"POST /positions .positions[0].speed",
	} {
		if !found[one] {
			t.Errorf("%s was not found", one)
		}
	}
}

// TestNumbersBesideTheRest checks that a body that is read again, because of the
// notation of a number, is read as if it was read once.
func TestNumbersBesideTheRest(t *testing.T) {
	eachAPI(t, func(t *testing.T, api spec.API) {
		tested := 0
		for _, op := range api.Operations {
			if op.Body == nil || op.Body.Kind() != reflect.Struct || !strings.HasPrefix(op.Example, "{") {
				continue
			}
			for _, n := range numbersOf(op.Body, "", func(v string) string { return v }) {
				name := strings.TrimPrefix(n.path, ".")
				if strings.ContainsAny(name, ".[") || strings.Contains(op.Example, `"`+name+`"`) {
					continue
				}
				tested++
				read := func(format string) any {
					into := reflect.New(op.Body)
					body := strings.TrimSuffix(strings.TrimSpace(op.Example), "}") + fmt.Sprintf(format, name, n.value)
					if err := codec.Decode([]byte(body), into.Interface()); err != nil {
						t.Fatalf("%s %s: %v: %s", op.Method, op.Path, err, body)
					}
					return into.Elem().Interface()
				}
				if want, got := read(`,"%s":%s}`), read(`,"%s":"%s"}`); !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s with %s: got %+v, want %+v", op.Method, op.Path, name, got, want)
				}
			}
		}
		t.Logf("%d fields", tested)
	})
}

// testNumber checks the one rule for numbers: their notation does not matter.
func testNumber(t *testing.T, body reflect.Type, n number) {
	read := func(value string) (any, error) {
		into := reflect.New(body)
		err := codec.Decode([]byte(n.body(value)), into.Interface())
		return into.Elem().Interface(), err
	}
	want, err := read(n.value)
	if err != nil {
		t.Fatalf("%s: %v", n.body(n.value), err)
	}
	same := []string{n.value + ".0", n.value + "0e-1", n.value[:1] + "." + n.value[1:] + fmt.Sprintf("e+%d", len(n.value)-1)}
	if !n.plain {
		same = append(same, `"`+n.value+`"`, `"`+n.value+`.00"`)
	}
	for _, notation := range same {
		if got, err := read(notation); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v (%v), and %s as %+v", notation, got, err, n.value, want)
		}
	}
	wrong := []string{"true", `{"a":1}`}
	if n.whole {
		wrong = append(wrong, n.value+".5")
	}
	if !n.plain {
		wrong = append(wrong, `"x"`, `""`, `" 21"`)
	}
	for _, value := range wrong {
		_, err := read(value)
		if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || rejected.Code != lastmile.CodeMalformed {
			t.Errorf("%s is read with the error %v, want one about its form", value, err)
		}
	}
}
