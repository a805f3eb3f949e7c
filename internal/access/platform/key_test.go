package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestKeysAuthenticate(t *testing.T) {
	o := apptest.NewOrg(t)
	key, record, err := o.APIKeys.Create(t.Context(), o.Principal.Organization, "second")
	if err != nil || !strings.HasSuffix(key, record.Hint) || strings.Contains(record.Hash, key) {
		t.Fatalf("the key is %q with the record %+v: %v", key, record, err)
	}
	who, err := o.Keys.Authenticate(t.Context(), key)
	if err != nil || who.Organization != o.Principal.Organization || who.Key != record.ID {
		t.Errorf("the caller is %+v: %v", who, err)
	}
	for name, wrong := range map[string]string{
		"empty": "", "mistyped": key[:len(key)-1] + "!", "cut off": key[:20], "never made": strings.Repeat("a", len(key)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Keys.Authenticate(t.Context(), wrong)
			expectCode(t, err, lastmile.CodeUnauthenticated)
		})
	}
	_, _, err = o.APIKeys.Create(t.Context(), apptest.NewID[lastmile.OrganizationID](), "of no organization")
	expectCode(t, err, lastmile.CodeNotFound)
}

// A node may use a cached key until it refreshes its keys, but never longer than
// MaxKeyAge.
func TestRevokedKeyIsRejected(t *testing.T) {
	o := apptest.NewOrg(t)
	ctx := t.Context()
	key, record, err := o.APIKeys.Create(ctx, o.Principal.Organization, "to be revoked")
	if err != nil {
		t.Fatal(err)
	}
	node := &access.Keys{Store: o.Keys.Store, Now: o.Now}
	if err := node.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	authenticate := func() error {
		_, err := node.Authenticate(ctx, key)
		return err
	}
	if err := authenticate(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // revoking it again changes nothing
		if err := o.APIKeys.Revoke(ctx, o.Principal.Organization, record.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := authenticate(); err != nil {
		t.Errorf("the node has not refreshed its keys yet: %v", err)
	}
	o.Advance(access.MaxKeyAge + time.Millisecond)
	expectCode(t, authenticate(), lastmile.CodeUnauthenticated)

	fresh := &access.Keys{Store: o.Keys.Store, Now: o.Now}
	_, err = fresh.Authenticate(ctx, key)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	expectCode(t, o.APIKeys.Revoke(ctx, o.Principal.Organization, apptest.NewID[lastmile.KeyID]()), lastmile.CodeNotFound)
}

func TestRefreshDropsRevokedKeysAtOnce(t *testing.T) {
	o := apptest.NewOrg(t)
	ctx := t.Context()
	key, record, err := o.APIKeys.Create(ctx, o.Principal.Organization, "to be revoked")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Keys.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Keys.Authenticate(ctx, key); err != nil {
		t.Fatal(err)
	}
	if err := o.APIKeys.Revoke(ctx, o.Principal.Organization, record.ID); err != nil {
		t.Fatal(err)
	}
	if err := o.Keys.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = o.Keys.Authenticate(ctx, key)
	expectCode(t, err, lastmile.CodeUnauthenticated)
}

func TestUseIsSavedAfterAFailure(t *testing.T) {
	o := apptest.NewOrg(t)
	key, record, err := o.APIKeys.Create(t.Context(), o.Principal.Organization, "used")
	if err != nil {
		t.Fatal(err)
	}
	used := o.Now()
	if _, err := o.Keys.Authenticate(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Keys.SaveUse(interrupted); err == nil {
		t.Fatal("the use was saved")
	}
	if err := o.Keys.SaveUse(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := o.APIKeys.List(t.Context(), o.Principal.Organization)
	at := slices.IndexFunc(keys, func(k lastmile.APIKey) bool { return k.ID == record.ID })
	if err != nil || at < 0 || !keys[at].LastUsed.Equal(used) {
		t.Errorf("the keys are %+v: %v", keys, err)
	}
}

func TestSaveUse(t *testing.T) {
	o := apptest.NewOrg(t)
	key, record, err := o.APIKeys.Create(t.Context(), o.Principal.Organization, "used")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Keys.Authenticate(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := o.Keys.SaveUse(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := o.APIKeys.List(t.Context(), o.Principal.Organization)
	at := slices.IndexFunc(keys, func(k lastmile.APIKey) bool { return k.ID == record.ID })
	if err != nil || at < 0 || !keys[at].LastUsed.Equal(o.Now()) {
		t.Errorf("the keys are %+v: %v", keys, err)
	}
}
