package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// signed makes the headers of a notification: the signature that existing
// receivers verify, made with the newest secret, and the headers of Standard
// Webhooks with a signature for each secret that is still good.
func signed(n lastmile.Notification, secrets [][]byte, now time.Time) http.Header {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	header := http.Header{
		"Content-Type":      {"application/json"},
		"Webhook-Id":        {n.ID},
		"Webhook-Timestamp": {timestamp},
		"Webhook-Attempt":   {strconv.FormatInt(n.Attempts+1, 10)},
	}
	if n.Task != "" {
		header["Webhook-Sequence"] = []string{strconv.FormatInt(n.Sequence, 10)}
	}
	signatures := make([]string, 0, len(secrets))
	for i, secret := range secrets {
		if i == 0 {
			header["X-Onfleet-Signature"] = []string{Signature(secret, n.Body)}
		}
		signatures = append(signatures, StandardSignature(secret, n.ID, timestamp, n.Body))
	}
	if len(signatures) > 0 {
		header["Webhook-Signature"] = []string{strings.Join(signatures, " ")}
	}
	return header
}

// Signature is the signature that existing receivers verify: HMAC-SHA-512 of
// the body, in hexadecimal digits.
func Signature(secret, body []byte) string {
	mac := hmac.New(sha512.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// StandardSignature is a signature as Standard Webhooks has it.
func StandardSignature(secret []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
