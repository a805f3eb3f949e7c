package events

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Relay passes topics between the processes that use one database.
type Relay interface {
	// Notify sends payloads to every process that listens, this one included.
	// Each has at most MaxPayload bytes.
	Notify(ctx context.Context, payloads []string) error
	// Listen passes on payloads until ctx ends or the connection is lost, and
	// returns why. It calls listening once, when payloads begin to arrive.
	Listen(ctx context.Context, listening func(), receive func(payload string)) error
}

// HubOptions are the dependencies of a Hub.
type HubOptions struct {
	Log   *slog.Logger
	Node  string // identifies this process among all that use the database
	Relay Relay  // nil if there is none

	// Version returns a value that changes with every commit of another process.
	// It is called every Poll while no relay works. It is nil if no other process
	// uses the database.
	Version func(ctx context.Context) (string, error)
	Poll    time.Duration
}

// Hub wakes subscribers when something they follow has changed.
type Hub struct {
	options HubOptions
	queued  chan struct{} // receives a value when pending has topics

	mu          sync.Mutex
	subscribers map[Topic]*audience
	all         map[*Subscription]struct{}
	wakes       uint64 // number of wake-ups so far
	pending     batch  // for the relay
	live        bool   // notifications of other processes arrive
}

// audience has the subscribers of a topic.
type audience struct {
	members map[*Subscription]struct{}
	version uint64 // value of Hub.wakes at the last change of the topic
}

// NewHub returns a Hub. It reaches other processes only while Run runs.
func NewHub(o HubOptions) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{
		options: o, queued: make(chan struct{}, 1),
		subscribers: map[Topic]*audience{}, all: map[*Subscription]struct{}{},
	}
}

// Subscription is a subscriber of some topics. It must be closed.
type Subscription struct {
	hub     *Hub
	changed chan struct{}
	topics  []Topic // guarded by hub.mu
}

// Subscribe adds a subscriber. A subscriber reads the current state after
// subscribing, so that it cannot miss a change in between.
func (h *Hub) Subscribe(topics ...Topic) *Subscription {
	s := &Subscription{hub: h, changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all[s] = struct{}{}
	h.join(s, topics)
	return s
}

// Changed returns a channel that receives a value after one of the topics has
// changed, or may have. Changes that the receiver has not seen yet are merged
// into one, however slow it is.
func (s *Subscription) Changed() <-chan struct{} { return s.changed }

// Follow replaces the topics.
func (s *Subscription) Follow(topics ...Topic) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.leave(s)
	s.hub.join(s, topics)
}

// Close removes the subscriber.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.leave(s)
	delete(s.hub.all, s)
}

// join adds a subscriber to topics. The caller holds the lock.
func (h *Hub) join(s *Subscription, topics []Topic) {
	s.topics = slices.Clone(topics)
	for _, topic := range topics {
		if h.subscribers[topic] == nil {
			h.wakes++ // data read while there was no subscriber may be older than the last change
			h.subscribers[topic] = &audience{members: map[*Subscription]struct{}{}, version: h.wakes}
		}
		h.subscribers[topic].members[s] = struct{}{}
	}
}

// leave removes a subscriber from its topics. The caller holds the lock.
func (h *Hub) leave(s *Subscription) {
	for _, topic := range s.topics {
		of := h.subscribers[topic]
		if of == nil { // it was named twice
			continue
		}
		if delete(of.members, s); len(of.members) == 0 {
			delete(h.subscribers, topic)
		}
	}
	s.topics = nil
}

// Publish wakes the subscribers of topics: those of this process before it
// returns, those of other processes a few milliseconds later. It is called after
// the commit of the change, and never blocks on the database.
func (h *Hub) Publish(topics ...Topic) {
	if len(topics) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake(topics)
	if h.options.Relay != nil {
		h.pending.add(topics)
		signal(h.queued)
	}
}

// wake wakes the subscribers of topics. The caller holds the lock.
func (h *Hub) wake(topics []Topic) {
	h.wakes++
	for _, topic := range topics {
		if of := h.subscribers[topic]; of != nil {
			of.version = h.wakes
			for s := range of.members {
				signal(s.changed)
			}
		}
	}
}

// Version returns a number that changes with every change of a topic that has
// subscribers. Data that a subscriber read after calling Version is current as long as
// the number is the same.
func (h *Hub) Version(topic Topic) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if of := h.subscribers[topic]; of != nil {
		return of.version
	}
	return 0
}

// wakeAll wakes every subscriber of this process.
func (h *Hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakes++
	for _, of := range h.subscribers {
		of.version = h.wakes
	}
	for s := range h.all {
		signal(s.changed)
	}
}

// Live reports whether changes made by other processes arrive without polling.
func (h *Hub) Live() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.live
}

func (h *Hub) setLive(live bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live = live
}

// Run connects the hub with other processes until ctx ends.
func (h *Hub) Run(ctx context.Context) {
	var group sync.WaitGroup
	if h.options.Version != nil {
		group.Go(func() { h.poll(ctx) })
	}
	if h.options.Relay != nil {
		h.announce()
		group.Go(func() { h.listen(ctx) })
		group.Go(func() { h.send(ctx) })
	}
	group.Wait()
}

// poll wakes all subscribers when another process has changed the database and
// the relay does not work.
func (h *Hub) poll(ctx context.Context) {
	ticker := time.NewTicker(h.options.Poll)
	defer ticker.Stop()
	last, failing := "", false // an empty version makes the first poll wake all
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if h.Live() {
			last = ""
			continue
		}
		version, err := h.options.Version(ctx)
		if err != nil {
			if !failing && ctx.Err() == nil {
				h.options.Log.Warn("check for changes by other processes", "error", err)
			}
			failing = true
			continue
		}
		failing = false
		if version != last {
			last = version
			h.wakeAll()
		}
	}
}

// wait sleeps for d. It reports false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
