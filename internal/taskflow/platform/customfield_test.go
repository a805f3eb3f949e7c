package platform_test

import (
	"fmt"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/customfield"
	"dray/internal/lastmile"
)

func TestCustomFieldsAreDefinedChangedAndDeleted(t *testing.T) {
	o := apptest.NewOrg(t)
	define := func(keys ...string) error {
		var changes []customfield.Change
		for _, key := range keys {
			changes = append(changes, fieldChange(key))
		}
		_, err := o.Fields.Define(t.Context(), o.Principal, changes)
		return err
	}
	if err := define("floor", "door"); err != nil {
		t.Fatal(err)
	}
	if err := define("gate", "floor"); apptest.Code(err) == 0 {
		t.Errorf("a key was defined twice: %v", err)
	}
	fields, err := o.Fields.List(t.Context(), o.Principal, "")
	if err != nil || len(fields) != 2 {
		t.Errorf("the fields are %+v, want all or none of a request: %v", fields, err)
	}
	if err := o.Fields.Delete(t.Context(), o.Principal, []string{"floor", "unknown"}); apptest.Code(err) != lastmile.CodeNotFound {
		t.Errorf("deleted an unknown field: %v", err)
	}
	if err := o.Fields.Delete(t.Context(), o.Principal, []string{"floor"}); err != nil {
		t.Fatal(err)
	}
	if fields, err = o.Fields.List(t.Context(), o.Principal, ""); err != nil || len(fields) != 1 || fields[0].Key != "door" {
		t.Errorf("the fields are %+v: %v", fields, err)
	}
	for _, err := range []error{define(), o.Fields.Delete(t.Context(), o.Principal, nil)} {
		expectCode(t, err, lastmile.CodeMalformed)
	}
}

func TestChangesOfCustomFieldsAreLimited(t *testing.T) {
	o := apptest.NewOrg(t)
	if _, err := o.Fields.Define(t.Context(), o.Principal, []customfield.Change{fieldChange("floor")}); err != nil {
		t.Fatal(err)
	}
	many := make([]string, customfield.MaxFields+1)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	for name, keys := range map[string][]string{"twice": {"floor", "floor"}, "101 entries": many} {
		var changes []customfield.Change
		for _, key := range keys {
			changes = append(changes, customfield.Change{Key: key})
		}
		_, err := o.Fields.Update(t.Context(), o.Principal, changes)
		for _, err := range []error{err, o.Fields.Delete(t.Context(), o.Principal, keys)} {
			if apptest.Code(err) != lastmile.CodeInvalid || !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "100") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// fieldChange defines a line of text that every task has.
func fieldChange(key string) customfield.Change {
	return customfield.Change{
		Key: key, Name: &key, Description: new(""), Type: new(lastmile.FieldSingleLine), AsArray: new(false),
		Visibility: &[]string{customfield.ForAdmin}, Editability: &[]string{customfield.ForAdmin},
		Contexts: &[]lastmile.CustomFieldContext{{}},
	}
}
