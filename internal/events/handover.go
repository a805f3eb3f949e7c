package events

import (
	"maps"
	"slices"
	"sync"

	"dray/internal/lastmile"
)

// maxHandedOver is the maximum number of notifications that wait in memory for the
// webhook sender.
const maxHandedOver = 16_384

// handover passes committed notifications to the webhook sender of this process,
// so that they need not be read back. It is an optimization only: the sender
// also finds them in the database.
type handover struct {
	mu       sync.Mutex
	waiting  []lastmile.Notification
	overflow map[lastmile.WebhookID]lastmile.Notification // one for each webhook, without its body
}

// add queues notifications. Beyond the limit it only remembers which webhooks
// have any.
func (h *handover) add(notifications []lastmile.Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range notifications {
		if len(h.waiting) < maxHandedOver {
			h.waiting = append(h.waiting, n)
			continue
		}
		if h.overflow == nil {
			h.overflow = map[lastmile.WebhookID]lastmile.Notification{}
		}
		n.Body = nil
		h.overflow[n.Webhook] = n
	}
}

// drain removes and returns everything that is queued.
func (h *handover) drain() []lastmile.Notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.AppendSeq(h.waiting, maps.Values(h.overflow))
	h.waiting, h.overflow = nil, nil
	return all
}
