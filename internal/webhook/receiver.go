package webhook

import (
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Receiver is a server for trying out webhooks: it responds to handshakes,
// verifies signatures and prints the notifications it receives.
type Receiver struct {
	Secret []byte // secret of the organization; nil disables verification
	Out    io.Writer
	JSON   bool // print complete events, one per line

	mu sync.Mutex
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, request.URL.Query().Get("check")) //nolint:errcheck // the sender notices
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, 8<<20))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	verdict := r.verify(request.Header, body)
	r.write(request.Header, body, verdict)
	if verdict == "wrong" {
		http.Error(w, "wrong signature", http.StatusUnauthorized)
	}
}

// verify reports whether both signatures are valid, as "right" or "wrong".
func (r *Receiver) verify(header http.Header, body []byte) string {
	if r.Secret == nil {
		return "unchecked"
	}
	classic := hmac.Equal([]byte(header.Get("X-Onfleet-Signature")), []byte(Signature(r.Secret, body)))
	want := StandardSignature(r.Secret, header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), body)
	for signature := range strings.SplitSeq(header.Get("Webhook-Signature"), " ") {
		if classic && hmac.Equal([]byte(signature), []byte(want)) {
			return "right"
		}
	}
	return "wrong"
}

func (r *Receiver) write(header http.Header, body []byte, verdict string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.JSON {
		line, err := json.Marshal(map[string]any{
			"webhookId": header.Get("Webhook-Id"), "attempt": header.Get("Webhook-Attempt"), "signature": verdict, "event": json.RawMessage(body),
		})
		if err == nil {
			fmt.Fprintf(r.Out, "%s\n", line)
		}
		return
	}
	var event struct {
		TriggerName string
		TaskID      string
		WorkerID    string
	}
	json.Unmarshal(body, &event) //nolint:errcheck // a body that is not an event prints empty fields
	fmt.Fprintf(r.Out, "%-28s task %-24s worker %-24s signature %s\n", event.TriggerName, event.TaskID, event.WorkerID, verdict)
}
