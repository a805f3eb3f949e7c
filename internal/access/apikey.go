package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of the API keys of an organization.
const (
	MaxKeys        = 100 // maximum active keys
	MaxRevokedKeys = 100 // maximum revoked keys that are still listed
)

// NewKey is a new API key, which is shown only once.
type NewKey struct {
	Key    string
	Record lastmile.APIKey
}

// APIKeys manages the API keys of organizations.
type APIKeys struct {
	Store store.Transactor[KeyReader, KeyWriter]
	Now   func() time.Time
	NewID func() string
}

// newKeyRecord returns a new API key and its stored record.
func newKeyRecord(id lastmile.KeyID, org lastmile.OrganizationID, name string, now time.Time) (string, lastmile.APIKey) {
	key := newKey(RandomSecret(keyRandom))
	return key, lastmile.APIKey{ID: id, Organization: org, Name: name, Hint: key[len(key)-4:], Hash: hashKey(key).String(), Created: now}
}

// List returns the API keys of an organization, oldest first.
func (k *APIKeys) List(ctx context.Context, org lastmile.OrganizationID) (keys []lastmile.APIKey, err error) {
	err = k.Store.Read(ctx, func(r KeyReader) (err error) {
		if _, err = r.Organization(ctx, org); err != nil {
			return err
		}
		keys, err = r.Keys(ctx, org)
		return err
	})
	return keys, err
}

// Create creates another API key for an operator and returns it. The key is never shown
// again.
func (k *APIKeys) Create(ctx context.Context, org lastmile.OrganizationID, name string) (string, lastmile.APIKey, error) {
	key, record := newKeyRecord(lastmile.KeyID(k.NewID()), org, name, k.Now())
	err := k.Store.Write(ctx, func(w KeyWriter) error {
		if _, err := w.Organization(ctx, org); err != nil {
			return err
		}
		return w.SaveKey(ctx, record)
	})
	return key, record, err
}

// Add creates another API key for the caller's organization.
func (k *APIKeys) Add(ctx context.Context, who lastmile.Principal, name string) (NewKey, error) {
	if err := lastmile.RequireText("name", name); err != nil {
		return NewKey{}, err
	}
	key, record := newKeyRecord(lastmile.KeyID(k.NewID()), who.Organization, name, k.Now())
	return store.Idempotent(ctx, k.Store, who, func(w KeyWriter) (NewKey, error) {
		if err := makeRoomForKey(ctx, w, who.Organization); err != nil {
			return NewKey{}, err
		}
		return NewKey{Key: key, Record: record}, w.SaveKey(ctx, record)
	})
}

// makeRoomForKey returns an error if there are MaxKeys active keys. It deletes the oldest
// revoked keys beyond MaxRevokedKeys.
func makeRoomForKey(ctx context.Context, w KeyWriter, org lastmile.OrganizationID) error {
	keys, err := w.Keys(ctx, org)
	if err != nil {
		return err
	}
	var revoked []lastmile.APIKey
	for _, key := range keys {
		if !key.Active() {
			revoked = append(revoked, key)
		}
	}
	if active := len(keys) - len(revoked); active >= MaxKeys {
		return lastmile.Invalid("there are %d API keys already, and no more are allowed: revoke one first", active)
	}
	for _, key := range revoked[:max(0, len(revoked)-MaxRevokedKeys)] {
		if err := w.DeleteKey(ctx, org, key.ID); err != nil {
			return err
		}
	}
	return nil
}

// Rename changes the name of a key.
func (k *APIKeys) Rename(ctx context.Context, who lastmile.Principal, id lastmile.KeyID, name string) (key lastmile.APIKey, err error) {
	if err := lastmile.RequireText("name", name); err != nil {
		return key, err
	}
	err = k.Store.Write(ctx, func(w KeyWriter) (err error) {
		if key, err = w.Key(ctx, who.Organization, id); err != nil {
			return err
		}
		key.Name = name
		return w.SaveKey(ctx, key)
	})
	return key, err
}

// Revoke revokes a key. Revoking it again changes nothing. All nodes reject the
// key within MaxKeyAge, and normally at once.
func (k *APIKeys) Revoke(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) error {
	return k.Store.Write(ctx, func(w KeyWriter) error {
		key, err := w.Key(ctx, org, id)
		if err != nil || !key.Active() {
			return err
		}
		key.Revoked = k.Now()
		if err := w.SaveKey(ctx, key); err != nil {
			return err
		}
		return w.RaiseKeyGeneration(ctx)
	})
}
