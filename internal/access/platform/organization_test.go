package platform_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

func TestNewOrganizationHasOwner(t *testing.T) {
	o := apptest.NewOrg(t)
	email := strings.ToLower(apptest.NewID[string]()) + "@example.com"
	draft := lastmile.OrganizationDraft{Name: "Acme", Email: email, Country: "US", Timezone: "America/New_York"}
	made, err := o.Organizations.Create(t.Context(), draft)
	if err != nil {
		t.Fatal(err)
	}
	who, err := o.Keys.Authenticate(t.Context(), made.APIKey)
	if err != nil || who.Organization != made.Organization.ID {
		t.Fatalf("the first key is of %+v: %v", who, err)
	}
	admins, err := o.Admins.List(t.Context(), who, nil)
	if err != nil || len(admins) != 1 || admins[0].Email != email || !admins[0].AccountOwner || admins[0].Type != lastmile.AdminSuper {
		t.Fatalf("the administrators are %+v: %v", admins, err)
	}
	expectCode(t, o.Admins.Delete(t.Context(), who, admins[0].ID), lastmile.CodeInvalid)
	_, err = o.Organizations.Create(t.Context(), draft)
	expectCode(t, err, lastmile.CodeDuplicate)
	draft.Timezone = "Mars/Olympus"
	_, err = o.Organizations.Create(t.Context(), draft)
	expectCode(t, err, lastmile.CodeInvalid)
}

func TestOnlyConnectedOrganizationsSeeEachOther(t *testing.T) {
	o, other, stranger := apptest.NewOrg(t), apptest.NewOrg(t), apptest.NewOrg(t)
	one, two := o.Principal.Organization, other.Principal.Organization
	_, err := o.Organizations.Delegatee(t.Context(), o.Principal, two)
	expectCode(t, err, lastmile.CodeOutsideScope)
	if err := o.Clients.Connect(t.Context(), one, two); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who lastmile.Principal
		id  lastmile.OrganizationID
	}{{o.Principal, two}, {other.Principal, one}, {o.Principal, one}} {
		if got, err := o.Organizations.Delegatee(t.Context(), c.who, c.id); err != nil || got.ID != c.id {
			t.Errorf("%s reads %s: %v", c.who.Organization, c.id, err)
		}
	}
	_, err = o.Organizations.Delegatee(t.Context(), stranger.Principal, one)
	expectCode(t, err, lastmile.CodeOutsideScope)
	expectCode(t, o.Clients.Connect(t.Context(), one, one), lastmile.CodeInvalid)
	expectCode(t, o.Clients.Connect(t.Context(), one, apptest.NewID[lastmile.OrganizationID]()), lastmile.CodeNotFound)
}

func TestOldWebhookSecretSignsForADay(t *testing.T) {
	o := apptest.NewOrg(t)
	org := o.Principal.Organization
	secrets := func() [][]byte {
		t.Helper()
		found, err := o.Organizations.WebhookSecrets(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := secrets()
	o.Advance(time.Hour)
	shown, err := o.Organizations.RotateWebhookSecret(t.Context(), lastmile.Principal{Organization: org})
	if err != nil {
		t.Fatal(err)
	}
	both := secrets()
	if len(first) != 1 || len(both) != 2 || hex.EncodeToString(both[0]) != shown || !bytes.Equal(both[1], first[0]) {
		t.Errorf("the secrets are %x, want the new one first", both)
	}
	o.Advance(access.SecretOverlap + time.Millisecond)
	if after := secrets(); len(after) != 1 || !bytes.Equal(after[0], both[0]) {
		t.Errorf("the secrets are %x a day later", after)
	}
}

func TestWebhookSecretsAreBounded(t *testing.T) {
	o := apptest.NewOrg(t)
	org := o.Principal.Organization
	var shown []string
	for range 2 * access.MaxWebhookSecrets {
		o.Advance(time.Minute)
		secret, err := o.Organizations.RotateWebhookSecret(t.Context(), lastmile.Principal{Organization: org})
		if err != nil {
			t.Fatal(err)
		}
		shown = append([]string{secret}, shown...)
	}
	found, err := o.Organizations.WebhookSecrets(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	var signing []string
	for _, secret := range found {
		signing = append(signing, hex.EncodeToString(secret))
	}
	if want := shown[:access.MaxWebhookSecrets]; !slices.Equal(signing, want) {
		t.Errorf("%d secrets sign, want the newest %d", len(signing), len(want))
	}
	var stored []store.SealedSecret
	err = o.Store.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
		stored, err = r.WebhookSecrets(t.Context(), org)
		return err
	})
	if err != nil || len(stored) != access.MaxWebhookSecrets {
		t.Errorf("%d secrets are stored, want %d: %v", len(stored), access.MaxWebhookSecrets, err)
	}
}

func TestVault(t *testing.T) {
	vault, err := access.NewVault(make([]byte, access.MasterKeySize))
	if err != nil {
		t.Fatal(err)
	}
	sealed := vault.Seal("acme", []byte("secret"))
	if opened, err := vault.Open("acme", sealed); err != nil || string(opened) != "secret" {
		t.Errorf("opened %q: %v", opened, err)
	}
	if _, err := vault.Open("zenith", sealed); err == nil {
		t.Error("a secret was opened for another organization")
	}
	other, err := access.NewVault(bytes.Repeat([]byte{1}, access.MasterKeySize))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open("acme", sealed); err == nil {
		t.Error("a secret was opened with another master key")
	}
	if _, err := access.NewVault([]byte("short")); err == nil {
		t.Error("a short master key was accepted")
	}
}
