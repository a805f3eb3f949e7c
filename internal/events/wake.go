package events

import "sync"

// Wake wakes the loops that wait for one kind of work. The zero Wake is ready to
// use.
type Wake struct {
	mu       sync.Mutex
	channels []chan struct{}
}

// Channel returns a new channel that receives a value after each Signal. Signals
// that the receiver has not seen yet are merged into one.
func (w *Wake) Channel() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{}, 1)
	w.channels = append(w.channels, c)
	return c
}

// Signal wakes all receivers. It never blocks.
func (w *Wake) Signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.channels {
		signal(c)
	}
}

// signal sends to a channel with room for one value, unless it is full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
