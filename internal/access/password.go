package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// The cost of a password hash: OWASP's minimum for argon2id.
const (
	hashMemory  = 19 * 1024 // KiB
	hashTime    = 2
	hashThreads = 1
	hashSize    = 32
	saltSize    = 16
)

// TemporaryPasswordLifetime is how long an invitation is valid.
const TemporaryPasswordLifetime = 72 * time.Hour

// temporaryPasswordLength gives 47 bits of letters and digits that are hard to
// confuse. The password is typed once.
const temporaryPasswordLength = 9

const unambiguous = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"

// Passwords hashes passwords, with limited concurrency because hashing is
// expensive.
type Passwords struct{ slots chan struct{} }

// NewPasswords returns a Passwords that computes at most limit hashes at a time.
func NewPasswords(limit int) *Passwords {
	return &Passwords{slots: make(chan struct{}, limit)}
}

// Hash returns the hash of a password, as it is stored.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	sum, err := p.derive(ctx, password, salt)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashTime, hashThreads, encode(salt), encode(sum)), nil
}

// Verify reports whether a hash is that of the password.
func (p *Passwords) Verify(ctx context.Context, password, hash string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("a password hash of an unknown form")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("decode salt: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("decode hash: %w", err)
	}
	sum, err := p.derive(ctx, password, salt)
	return err == nil && subtle.ConstantTimeCompare(sum, want) == 1, err
}

func (p *Passwords) derive(ctx context.Context, password string, salt []byte) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), salt, hashTime, hashMemory, hashThreads, hashSize), nil
}

// Temporary returns the password with which a new worker first signs in, and the
// credential to store.
func (p *Passwords) Temporary(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) (string, store.Credential, error) {
	password := randomText(temporaryPasswordLength, unambiguous)
	hash, err := p.Hash(ctx, password)
	return password, store.Credential{
		Organization: org, Worker: worker, Hash: hash, Temporary: true, Expires: now.Add(TemporaryPasswordLifetime),
	}, err
}

// randomText returns characters of an alphabet of at most 256, all with the same
// probability.
func randomText(length int, alphabet string) string {
	limit := 256 - 256%len(alphabet)
	text := make([]byte, 0, length)
	buffer := make([]byte, length)
	for len(text) < length {
		rand.Read(buffer)
		for _, b := range buffer {
			if int(b) < limit && len(text) < length {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}

// RandomSecret returns random letters and digits.
func RandomSecret(length int) string { return randomText(length, base62) }

// RandomShortID returns eight random hexadecimal digits.
func RandomShortID() string { return randomText(8, "0123456789abcdef") }
