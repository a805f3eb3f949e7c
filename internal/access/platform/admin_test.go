package platform_test

import (
	"strings"
	"testing"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestAdmins(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	ctx := t.Context()
	email := func() *string { return new(strings.ToLower(apptest.NewID[string]()) + "@example.com") }
	used := email()
	made, err := o.Admins.Create(ctx, o.Principal, access.AdminDraft{
		Change: lastmile.AdminChange{Name: new("Ada"), Email: used}, Phone: new("(212) 555-0123"),
	})
	if err != nil || made.Phone != "+12125550123" || made.AccountOwner {
		t.Fatalf("the administrator is %+v: %v", made, err)
	}
	for name, c := range map[string]struct {
		draft access.AdminDraft
		want  lastmile.Code
	}{
		"an e-mail address in use": {access.AdminDraft{Change: lastmile.AdminChange{Name: new("Bob"), Email: used}}, lastmile.CodeDuplicate},
		"no e-mail address":        {access.AdminDraft{Change: lastmile.AdminChange{Name: new("Bob")}}, lastmile.CodeMalformed},
		"an invalid phone number": {
			access.AdminDraft{Change: lastmile.AdminChange{Name: new("Bob"), Email: email()}, Phone: new("12")}, lastmile.CodeInvalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := other.Admins.Create(ctx, other.Principal, c.draft)
			expectCode(t, err, c.want)
		})
	}
	changed, err := o.Admins.Update(ctx, o.Principal, made.ID, access.AdminDraft{Change: lastmile.AdminChange{Name: new("Ada L."), Email: used}, Phone: new("")})
	if err != nil || changed.Name != "Ada L." || changed.Phone != "" {
		t.Errorf("the administrator is %+v: %v", changed, err)
	}
	_, err = other.Admins.Update(ctx, other.Principal, made.ID, access.AdminDraft{})
	expectCode(t, err, lastmile.CodeOutsideScope)
	expectCode(t, other.Admins.Delete(ctx, other.Principal, made.ID), lastmile.CodeOutsideScope)
	if err := o.Admins.Delete(ctx, o.Principal, made.ID); err != nil {
		t.Fatal(err)
	}
	if left, err := o.Admins.List(ctx, o.Principal, nil); err != nil || len(left) != 0 {
		t.Errorf("the administrators are %+v: %v", left, err)
	}
}
