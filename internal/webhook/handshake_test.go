package webhook

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestHandshakesAreLimitedByOrganizationAndHost(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	h := NewHandshakes(func() time.Time { return now })
	flood := func(org lastmile.OrganizationID, target string) (admitted int) {
		for admitted < 1000 {
			if err := h.admit(org, target); err != nil {
				if e, ok := errors.AsType[*lastmile.Error](err); !ok || e.Code != lastmile.CodeTooMany {
					t.Fatal(err)
				}
				return admitted
			}
			admitted++
		}
		return admitted
	}
	if got := flood("a", "https://hooks.example.com/x"); got != handshakeBurst {
		t.Errorf("%d handshakes at once, want %d", got, handshakeBurst)
	}
	now = now.Add(30 * time.Second)
	if got := flood("a", "https://other.example.com/x"); got != 30*handshakeRate {
		t.Errorf("%d handshakes in 30 s, want %d", got, 30*handshakeRate)
	}
	all := 0
	for i := range 2 * hostHandshakeBurst / handshakeBurst {
		all += flood(lastmile.OrganizationID(fmt.Sprint(i)), fmt.Sprintf("https://Victim.example.com:8443/%d", i))
		all += flood(lastmile.OrganizationID(fmt.Sprint(i)), "https://victim.example.com./")
	}
	if all != hostHandshakeBurst {
		t.Errorf("%d handshakes with one host at once, want %d", all, hostHandshakeBurst)
	}
	if got := flood("b", "https://hooks.example.com/x"); got != handshakeBurst {
		t.Errorf("%d handshakes with another host, want %d", got, handshakeBurst)
	}
}
