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
	"sync"
	"time"

	"dray/internal/lastmile"
)

// signer signs notifications. The X-Onfleet-Signature, which existing receivers
// verify, uses the newest secret; the headers of Standard Webhooks carry a
// signature for every valid secret. It is not safe for concurrent use.
type signer struct {
	classic  hash.Hash
	standard []hash.Hash
}

// newSigner returns a signer for secrets, the newest first.
func newSigner(secrets [][]byte) *signer {
	s := &signer{classic: hmac.New(sha512.New, secrets[0])}
	for _, secret := range secrets {
		s.standard = append(s.standard, hmac.New(sha256.New, secret))
	}
	return s
}

// signerPool reuses the signers of one set of secrets. It is safe for concurrent
// use.
type signerPool struct {
	secrets [][]byte
	free    sync.Pool
}

func (p *signerPool) header(n lastmile.Notification, now time.Time) http.Header {
	s, ok := p.free.Get().(*signer)
	if !ok {
		s = newSigner(p.secrets)
	}
	defer p.free.Put(s)
	return s.header(n, now)
}

// header returns the headers of a notification.
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

// Signature returns the X-Onfleet-Signature of a body: its HMAC-SHA-512 in
// hexadecimal digits.
func Signature(secret, body []byte) string { return classic(hmac.New(sha512.New, secret), body) }

// StandardSignature returns a signature in the format of Standard Webhooks.
func StandardSignature(secret []byte, id, timestamp string, body []byte) string {
	return string(standard(nil, hmac.New(sha256.New, secret), id, timestamp, body))
}
