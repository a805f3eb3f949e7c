package events

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
)

const (
	// MaxPayload is the maximum length of a payload. PostgreSQL accepts less than
	// 8,000 bytes.
	MaxPayload = 7_900

	maxPending  = 4_096 // topics that wait to be sent; beyond it all subscribers are woken
	maxPayloads = 8     // payloads of one send; beyond it all subscribers are woken

	gather       = 5 * time.Millisecond // topics of commits within this time are sent together
	sendPatience = 5 * time.Second
	sendAgain    = time.Second // pause after a failed send
	lastSend     = time.Second // timeout of the last send when the process stops

	heartbeatEvery    = 15 * time.Second
	heartbeatPatience = 5 * time.Second
	reconnectAfter    = time.Second
	reconnectLongest  = 15 * time.Second
)

// everything stands for all topics in a payload.
const everything = "*"

// errDeaf means that the connection is open but no notifications arrive, as
// through a proxy that pools connections.
var errDeaf = errors.New("notifications do not arrive")

// batch is a bounded set of topics.
type batch struct {
	topics map[Topic]struct{}
	all    bool // everything
}

func (b *batch) empty() bool { return !b.all && len(b.topics) == 0 }

// add adds topics. A batch with too many topics is replaced by one of all topics.
func (b *batch) add(topics []Topic) {
	if b.all {
		return
	}
	if b.topics == nil {
		b.topics = map[Topic]struct{}{}
	}
	for _, topic := range topics {
		b.topics[topic] = struct{}{}
	}
	if len(b.topics) > maxPending {
		b.topics, b.all = nil, true
	}
}

// payloads encodes the batch as payloads from a node.
func (b *batch) payloads(node string) []string {
	var (
		all     []string
		current strings.Builder
	)
	for topic := range b.topics {
		if current.Len() > 0 && current.Len()+1+len(topic) > MaxPayload {
			all = append(all, current.String())
			current.Reset()
		}
		if current.Len() == 0 {
			current.WriteString(node)
		}
		current.WriteString(" " + string(topic))
	}
	if current.Len() > 0 {
		all = append(all, current.String())
	}
	if b.all || len(all) > maxPayloads {
		return []string{node + " " + everything}
	}
	return all
}

// announce wakes all subscribers of other processes: an earlier process of this
// node may have been killed between a commit and its notification.
func (h *Hub) announce() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending.merge(batch{all: true})
	signal(h.queued)
}

// send sends published topics to other processes until ctx ends. Topics that
// could not be sent stay pending.
func (h *Hub) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSend)
			defer cancel()
			if err := h.Flush(ending); err != nil {
				h.options.Log.Warn("send the last changes to other nodes", "error", err)
			}
			return
		case <-h.queued:
		}
		if !wait(ctx, gather) {
			continue
		}
		sending, cancel := context.WithTimeout(ctx, sendPatience)
		err := h.Flush(sending)
		cancel()
		if err != nil && ctx.Err() == nil {
			h.options.Log.Warn("send changes to other nodes", "error", err)
			wait(ctx, sendAgain)
			signal(h.queued)
		}
	}
}

// Flush sends the topics that were published and not sent yet. A process that
// does not Run calls it before it ends.
func (h *Hub) Flush(ctx context.Context) error {
	if h.options.Relay == nil {
		return nil
	}
	h.mu.Lock()
	sent := h.pending
	h.pending = batch{}
	h.mu.Unlock()
	if sent.empty() {
		return nil
	}
	err := h.options.Relay.Notify(ctx, sent.payloads(h.options.Node))
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.pending.merge(sent)
	}
	return err
}

// merge adds the topics of another batch.
func (b *batch) merge(other batch) {
	if other.all {
		b.topics, b.all = nil, true
		return
	}
	topics := make([]Topic, 0, len(other.topics))
	for topic := range other.topics {
		topics = append(topics, topic)
	}
	b.add(topics)
}

// listen receives changes by other processes until ctx ends. It reconnects when
// the connection is lost.
func (h *Hub) listen(ctx context.Context) {
	pause, level := reconnectAfter, slog.LevelWarn
	for ctx.Err() == nil {
		wasLive, err := h.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if wasLive {
			pause, level = reconnectAfter, slog.LevelWarn
		}
		h.options.Log.Log(ctx, level, "changes by other nodes do not arrive at once: polling instead", "error", err)
		wait(ctx, pause)
		pause, level = min(2*pause, reconnectLongest), slog.LevelDebug // one warning per outage
	}
}

// session listens on one connection until it is lost. The connection counts as
// live as long as this process receives its own heartbeats on it.
func (h *Hub) session(ctx context.Context) (wasLive bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	heard, beating := make(chan struct{}, 1), make(chan struct{})
	started := false
	err = h.options.Relay.Listen(ctx, func() {
		started = true
		go func() {
			defer close(beating)
			wasLive = h.beat(ctx, heard)
			cancel(errDeaf)
		}()
	}, func(payload string) { h.receive(payload, heard) })
	if errors.Is(context.Cause(ctx), errDeaf) {
		err = errors.Join(errDeaf, err)
	}
	cancel(nil)
	if started {
		<-beating
	}
	h.setLive(false)
	return wasLive, err
}

// beat sends heartbeats until one is not received, and reports whether any was.
// When the first one arrives, notifications arrive from then on. Earlier ones may
// have been missed, so beat wakes all subscribers.
func (h *Hub) beat(ctx context.Context, heard <-chan struct{}) (wasLive bool) {
	for {
		sending, cancel := context.WithTimeout(ctx, heartbeatPatience)
		err := h.options.Relay.Notify(sending, []string{h.options.Node})
		if err == nil {
			select {
			case <-heard:
			case <-sending.Done():
				err = errDeaf
			}
		}
		cancel()
		if err != nil {
			return wasLive
		}
		if !wasLive {
			wasLive = true
			h.setLive(true)
			h.wakeAll()
		}
		if !wait(ctx, heartbeatEvery) {
			return wasLive
		}
	}
}

// receive wakes the subscribers of topics that another process has published.
func (h *Hub) receive(payload string, heard chan<- struct{}) {
	node, rest, _ := strings.Cut(payload, " ")
	if node == h.options.Node {
		if rest == "" {
			signal(heard)
		}
		return
	}
	if rest == everything {
		h.wakeAll()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic := range strings.FieldsSeq(rest) {
		h.wake([]Topic{Topic(topic)})
	}
}
