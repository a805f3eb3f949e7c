package events

import (
	"maps"
	"slices"
	"sync"

	"dray/internal/lastmile"
)

// Limits of the notifications that wait in memory for the webhook sender.
const (
	maxHandedOver      = 16_384
	maxHandedOverBytes = 16 << 20 // of all bodies, except for that of the last notification
)

// handover passes committed notifications to the webhook sender of this process,
// so that they need not be read back. It is an optimization only: the sender
// also finds them in the database.
type handover struct {
	mu       sync.Mutex
	waiting  []lastmile.Notification
	bytes    int                                          // of the bodies in waiting
	overflow map[lastmile.WebhookID]lastmile.Notification // one for each webhook, without its body
}

// add queues notifications. Beyond a limit it only remembers which webhooks have any, until
// all are drained, so that no notification overtakes an earlier one.
func (h *handover) add(notifications []lastmile.Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range notifications {
		if h.overflow == nil && len(h.waiting) < maxHandedOver && h.bytes < maxHandedOverBytes {
			h.waiting = append(h.waiting, n)
			h.bytes += len(n.Body)
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
	h.waiting, h.bytes, h.overflow = nil, 0, nil
	return all
}
