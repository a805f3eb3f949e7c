package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// dump writes a value so that equal values have the same text: times in milliseconds, the
// values of pointers, and no difference between a nil and an empty list.
func dump(v any) string {
	var out strings.Builder
	describe(&out, reflect.ValueOf(v))
	return out.String()
}

func describe(out *strings.Builder, v reflect.Value) {
	if v.IsValid() && v.Type() == reflect.TypeFor[time.Time]() {
		at := v.Interface().(time.Time)
		if at.IsZero() {
			out.WriteString("never")
		} else {
			fmt.Fprint(out, at.UnixMilli())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			out.WriteString("none")
		} else {
			describe(out, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fmt.Fprintf(out, " %s:", v.Type().Field(i).Name)
			describe(out, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out.WriteString(" [")
			describe(out, v.Index(i))
			out.WriteString("]")
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			fmt.Fprintf(out, " %s=", key)
			describe(out, v.MapIndex(key))
		}
	default:
		fmt.Fprintf(out, "%v", v)
	}
}
