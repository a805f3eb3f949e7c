package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"time"

	"dray/internal/lastmile"
)

// signer signs notifications, one after the other: with the signature that
// existing receivers verify, made with the newest secret, and with the headers
// of Standard Webhooks, which have a signature for each secret that is still
// good.
type signer struct {
	classic  hash.Hash
	standard []hash.Hash
}

// newSigner makes a signer of secrets, the newest of which is the first.
func newSigner(secrets [][]byte) *signer {
	s := &signer{classic: hmac.New(sha512.New, secrets[0])}
	for _, secret := range secrets {
		s.standard = append(s.standard, hmac.New(sha256.New, secret))
	}
	return s
}

// header makes the headers of a notification.
func (s *signer) header(n lastmile.Notification, now time.Time) http.Header {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	var signatures []byte
	for i, mac := range s.standard {
		if i > 0 {
			signatures = append(signatures, ' ')
		}
		signatures = standard(signatures, mac, n.ID, timestamp, n.Body)
	}
	header := http.Header{
		"Content-Type":        {"application/json"},
		"Webhook-Id":          {n.ID},
		"Webhook-Timestamp":   {timestamp},
		"Webhook-Attempt":     {strconv.FormatInt(n.Attempts+1, 10)},
		"Webhook-Signature":   {string(signatures)},
		"X-Onfleet-Signature": {classic(s.classic, n.Body)},
	}
	if n.Task != "" {
		header["Webhook-Sequence"] = []string{strconv.FormatInt(n.Sequence, 10)}
	}
	return header
}

func classic(mac hash.Hash, body []byte) string {
	mac.Reset()
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func standard(to []byte, mac hash.Hash, id, timestamp string, body []byte) []byte {
	mac.Reset()
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return base64.StdEncoding.AppendEncode(append(to, "v1,"...), mac.Sum(nil))
}

// Signature is the signature that existing receivers verify: HMAC-SHA-512 of
// the body, in hexadecimal digits.
func Signature(secret, body []byte) string { return classic(hmac.New(sha512.New, secret), body) }

// StandardSignature is a signature as Standard Webhooks has it.
func StandardSignature(secret []byte, id, timestamp string, body []byte) string {
	return string(standard(nil, hmac.New(sha256.New, secret), id, timestamp, body))
}
