package events

// Sizes returns how many topics and how many subscribers a hub knows.
func Sizes(h *Hub) (topics, subscribers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subscribers), len(h.all)
}
