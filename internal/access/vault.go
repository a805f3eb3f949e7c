package access

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// MasterKeySize is the length of a master key in bytes.
const MasterKeySize = 32

// webhookSecretSize is the length of a webhook secret in bytes; it is shown as
// twice as many hexadecimal digits.
const webhookSecretSize = 64

// Vault seals the secrets that must be readable again, such as those that sign
// webhooks.
type Vault struct{ aead cipher.AEAD }

// NewVault makes a vault of a master key.
func NewVault(master []byte) (Vault, error) {
	if len(master) != MasterKeySize {
		return Vault{}, fmt.Errorf("the master key has %d bytes, not %d", len(master), MasterKeySize)
	}
	block, err := aes.NewCipher(master)
	if err != nil {
		return Vault{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Vault{aead: aead}, err
}

// Seal encrypts a secret for one organization.
func (v Vault) Seal(org lastmile.OrganizationID, secret []byte) []byte {
	return v.aead.Seal(nil, nil, secret, []byte(org))
}

// Open decrypts what Seal made for the organization.
func (v Vault) Open(org lastmile.OrganizationID, sealed []byte) ([]byte, error) {
	secret, err := v.aead.Open(nil, nil, sealed, []byte(org))
	if err != nil {
		return nil, errors.New("the secret was not sealed with this master key")
	}
	return secret, nil
}

// Fingerprint tells master keys apart without giving anything of them away.
func Fingerprint(master []byte) string {
	sum := sha256.Sum256(append([]byte("dray master key "), master...))
	return hex.EncodeToString(sum[:8])
}

func (d *Directory) newWebhookSecret(org lastmile.OrganizationID, now time.Time) (string, store.SealedSecret) {
	secret := make([]byte, webhookSecretSize)
	rand.Read(secret)
	return hex.EncodeToString(secret), store.SealedSecret{
		ID: d.NewID(), Organization: org, Sealed: d.Vault.Seal(org, secret), Created: now,
	}
}

// WebhookSecret opens the newest webhook secret of an organization.
func (d *Directory) WebhookSecret(ctx context.Context, org lastmile.OrganizationID) (string, error) {
	var sealed []store.SealedSecret
	err := d.Store.Read(ctx, func(r store.Reader) (err error) {
		sealed, err = r.WebhookSecrets(ctx, org)
		return err
	})
	if err != nil {
		return "", err
	}
	if len(sealed) == 0 {
		return "", lastmile.NotFound("webhook secret of organization", string(org))
	}
	secret, err := d.Vault.Open(org, sealed[0].Sealed)
	return hex.EncodeToString(secret), err
}
