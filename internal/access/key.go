package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"maps"
	"strings"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// The form of an API key: the prefix, 43 random characters (256 bits) and a
// checksum, so that typing errors and guesses are rejected without a query.
const (
	keyPrefix   = "dray_"
	keyRandom   = 43
	keyChecksum = 6
	keyLength   = len(keyPrefix) + keyRandom + keyChecksum
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MaxKeyAge is the maximum time for which a node may use cached keys without
// having checked that no key was revoked.
const MaxKeyAge = 2 * time.Second

// newKey returns an API key of random base62 characters.
func newKey(random string) string {
	body := keyPrefix + random
	return body + checksum(body)
}

// wellFormed reports whether s has the form of an API key.
func wellFormed(s string) bool {
	if len(s) != keyLength || !strings.HasPrefix(s, keyPrefix) {
		return false
	}
	body, sum := s[:keyLength-keyChecksum], s[keyLength-keyChecksum:]
	return checksum(body) == sum
}

func checksum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	var sum [keyChecksum]byte
	for i := range sum {
		sum[i] = base62[n%62]
		n /= 62
	}
	return string(sum[:])
}

// keyHash is the stored hash of a key. A fast hash is sufficient for a secret of
// 256 random bits.
type keyHash [sha256.Size]byte

func hashKey(key string) keyHash { return sha256.Sum256([]byte(key)) }

// String returns the hash as it is stored.
func (h keyHash) String() string { return hex.EncodeToString(h[:]) }

// Keys authenticates API keys.
type Keys struct {
	Store store.Transactor[Reader, Writer]
	Now   func() time.Time

	mu         sync.Mutex
	known      map[keyHash]lastmile.APIKey // cached active keys
	generation int64
	refreshed  time.Time // when the generation was last read
	used       map[lastmile.KeyID]time.Time
	revoked    chan struct{} // closed when the generation changes; nil while no caller waits
}

// Revoked returns a channel that is closed when a key or a session, of any
// organization, has been revoked.
func (k *Keys) Revoked() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revoked == nil {
		k.revoked = make(chan struct{})
	}
	return k.revoked
}

// renew discards the cache of an older generation. The caller holds the lock.
func (k *Keys) renew(generation int64) {
	k.known, k.generation = map[keyHash]lastmile.APIKey{}, generation
	if k.revoked != nil {
		close(k.revoked)
		k.revoked = nil
	}
}

// maxKnown bounds the number of cached keys.
const maxKnown = 10_000

// Authenticate returns the principal of a key, or lastmile.Unauthenticated.
func (k *Keys) Authenticate(ctx context.Context, key string) (lastmile.Principal, error) {
	if len(key) != keyLength {
		return lastmile.Principal{}, lastmile.Unauthenticated()
	}
	hash, now := hashKey(key), k.Now()
	if found, ok := k.cached(hash, now); ok {
		return lastmile.Principal{Organization: found.Organization, Key: found.ID}, nil
	}
	if !wellFormed(key) {
		return lastmile.Principal{}, lastmile.Unauthenticated()
	}
	var (
		found      lastmile.APIKey
		generation int64
	)
	err := k.Store.Read(ctx, func(r Reader) (err error) {
		if generation, err = r.KeyGeneration(ctx); err != nil {
			return err
		}
		found, err = r.KeyByHash(ctx, hash.String())
		return err
	})
	if err != nil {
		return lastmile.Principal{}, err
	}
	if !found.Active() {
		return lastmile.Principal{}, lastmile.Unauthenticated()
	}
	k.cache(hash, found, generation, now)
	return lastmile.Principal{Organization: found.Organization, Key: found.ID}, nil
}

// cached returns a key from the cache, unless the cache is too old.
func (k *Keys) cached(hash keyHash, now time.Time) (lastmile.APIKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := now.Sub(k.refreshed); age.Abs() > MaxKeyAge { // or the clock was set back
		return lastmile.APIKey{}, false
	}
	found, ok := k.known[hash]
	if ok {
		k.markUsed(found.ID, now)
	}
	return found, ok
}

func (k *Keys) cache(hash keyHash, found lastmile.APIKey, generation int64, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if generation != k.generation {
		k.renew(generation)
	}
	if k.known == nil || len(k.known) >= maxKnown {
		k.known = map[keyHash]lastmile.APIKey{}
	}
	k.known[hash] = found
	k.markUsed(found.ID, now)
}

func (k *Keys) markUsed(id lastmile.KeyID, now time.Time) {
	if k.used == nil {
		k.used = map[lastmile.KeyID]time.Time{}
	}
	k.used[id] = now
}

// Refresh checks whether any key was revoked, and clears the cache if so. It is
// called a few times a second.
func (k *Keys) Refresh(ctx context.Context) error {
	asked := k.Now()
	var generation int64
	err := k.Store.Read(ctx, func(r Reader) (err error) {
		generation, err = r.KeyGeneration(ctx)
		return err
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if generation != k.generation {
		k.renew(generation)
	}
	k.refreshed = asked
	return nil
}

// SaveUse stores when keys were last used. If it fails, the next call tries again.
func (k *Keys) SaveUse(ctx context.Context) error {
	k.mu.Lock()
	used := k.used
	k.used = nil
	k.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := k.Store.Write(ctx, func(w Writer) error { return w.SaveKeyUse(ctx, used) })
	if err != nil {
		k.mu.Lock()
		maps.Copy(used, k.used) // these times are later
		k.used = used
		k.mu.Unlock()
	}
	return err
}
