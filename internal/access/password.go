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

// TemporaryPasswordLifetime is how long an invitation is good for.
const TemporaryPasswordLifetime = 72 * time.Hour

// temporaryPasswordLength gives 47 bits: letters and digits that nobody
// confuses, typed once.
const temporaryPasswordLength = 9

const unambiguous = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"

// Passwords hashes passwords, so many at once that the machine stays usable.
type Passwords struct{ slots chan struct{} }

// NewPasswords allows so many hashes at once.
func NewPasswords(atOnce int) *Passwords {
	return &Passwords{slots: make(chan struct{}, atOnce)}
}

// Hash returns what is stored of a password.
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

// Verify tells whether the password is the one that was hashed.
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

// Temporary makes the password a new worker signs in with for the first time,
// and the credential to store.
func (p *Passwords) Temporary(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) (string, store.Credential, error) {
	password := randomText(temporaryPasswordLength, unambiguous)
	hash, err := p.Hash(ctx, password)
	return password, store.Credential{
		Organization: org, Worker: worker, Hash: hash, Temporary: true, Expires: now.Add(TemporaryPasswordLifetime),
	}, err
}

// randomText draws characters of an alphabet of at most 256, each as likely as
// any other.
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
