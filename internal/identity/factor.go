package identity

import (
	"crypto/hmac"
	"crypto/sha1" // RFC 6238: authenticator apps know no other
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// The parameters of one-time codes (RFC 6238), which are what authenticator apps
// assume.
const (
	FactorSecretSize = 20 // bytes
	codePeriod       = 30 * time.Second
	codeDigits       = 6
	codeSkew         = 1 // periods that the clock of a phone may be off
)

// RecoveryCodes is the number of codes that replace a lost phone, each once.
const RecoveryCodes = 10

// RecoveryCodeSize is the length of a recovery code in bytes: 80 bits, so that a fast
// hash protects it.
const RecoveryCodeSize = 10

// Code returns the code of a period.
func Code(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step)) // not negative
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%0*d", codeDigits, binary.BigEndian.Uint32(sum[offset:])&0x7fffffff%1_000_000)
}

// StepAt returns the period of a time.
func StepAt(t time.Time) int64 { return t.Unix() / int64(codePeriod/time.Second) }

// AcceptCode returns the period of a code, which must be later than that of the last
// accepted one.
func AcceptCode(secret []byte, code string, last int64, now time.Time) (step int64, ok bool) {
	current := StepAt(now)
	for s := current - codeSkew; s <= current+codeSkew; s++ {
		// All are compared, so that the time does not depend on which one it is.
		if subtle.ConstantTimeCompare([]byte(Code(secret, s)), []byte(code)) == 1 && s > last && !ok {
			step, ok = s, true
		}
	}
	return step, ok
}

// plain returns a typed code without what people add to read it.
func plain(code string) string {
	return strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(strings.ToLower(code))
}

// OneTimeCode returns a typed code if it has the form of one of an authenticator app;
// any other may be a recovery code.
func OneTimeCode(typed string) (string, bool) {
	code := plain(typed)
	return code, len(code) == codeDigits && strings.Trim(code, "0123456789") == ""
}

// EncodeSecret returns the secret of a second factor as people type it.
func EncodeSecret(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// FactorURI returns the URI that an authenticator app reads from a QR code.
func FactorURI(secret []byte, email string) string {
	query := url.Values{"secret": {EncodeSecret(secret)}, "issuer": {"Dray"}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {"30"}}
	return "otpauth://totp/" + url.PathEscape("Dray:"+email) + "?" + query.Encode()
}

// RecoveryCode returns a recovery code of random bytes as it is shown.
func RecoveryCode(random []byte) string {
	text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random))
	var groups []string
	for len(text) > 4 {
		groups, text = append(groups, text[:4]), text[4:]
	}
	return strings.Join(append(groups, text), "-")
}

// HashRecoveryCode returns the stored hash of a code as it is typed.
func HashRecoveryCode(admin lastmile.AdminID, typed string) string {
	sum := sha256.Sum256([]byte(string(admin) + " " + plain(typed)))
	return hex.EncodeToString(sum[:])
}
