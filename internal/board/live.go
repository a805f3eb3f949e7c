package board

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of streams.
const (
	// LiveInterval is the minimum time between two batches of positions or estimates.
	LiveInterval = time.Second
	// MaxLive is the maximum number of estimates of an organization that are followed.
	MaxLive = 20_000
	// MaxListPage is the total size in bytes at which a page of lists for a stream ends.
	MaxListPage = 128 << 10
	// MaxListEntries is the maximum number of log entries of lists read at once for a stream.
	MaxListEntries = 500
	// listRate is the number of bytes of lists that all streams of an organization read in a
	// second.
	listRate = 16 << 20
	// clocksDiffer is the maximum difference between the clocks of nodes.
	clocksDiffer = 10 * time.Second
)

// Live lets clients follow changes of the board that are not events. Positions and estimates
// are not logged: a client that was disconnected gets the latest.
type Live struct {
	Store           store.Transactor[LiveReader, LiveReader]
	Hub             *events.Hub
	Now             func() time.Time
	EncodePositions func([]Moved) ([]byte, error)
	EncodeEstimates func([]Estimated) ([]byte, error)

	reads rate.Turns // one read of positions and estimates at a time, by organization
	pages rate.Turns // one page of lists at a time, by organization

	mu    sync.Mutex
	known map[lastmile.OrganizationID]*followed
}

// followed is an organization whose board is followed.
type followed struct {
	followers int
	state     *state // nil if unknown
	expired   atomic.Bool
	latest    *listPage // for followers that have caught up; nil if unknown
}

// listPage is a page of the log of lists, as read for a follower.
type listPage struct {
	after   int64  // the entry after which it begins
	seq     int64  // the event before which it ends
	version uint64 // version of the log before the page was read; while it is the same, the page is current
	entries []ListEntry
	last    int64 // the last entry that was considered
	end     int64 // the last entry before the event
	fleet   int64
}

// state is the latest positions and estimates of an organization. It does not change.
type state struct {
	moved     map[lastmile.WorkerID]Moved
	estimated map[lastmile.WorkerID]Estimated
	encoded   sync.Map // WorkerID → []byte: all estimates of a worker, encoded once for all clients
}

// Moved is the position of a worker.
type Moved struct {
	Worker lastmile.WorkerID
	lastmile.Position
	Seen time.Time
}

// Estimated has the estimates of the tasks of a worker.
type Estimated struct {
	Worker lastmile.WorkerID
	At     time.Time // when they were made
	Delay  *time.Duration
	Tasks  []EstimatedTask
}

// EstimatedTask has the estimates of a task.
type EstimatedTask struct {
	ID             lastmile.TaskID
	State          lastmile.TaskState
	CompleteBefore time.Time
	Estimates      lastmile.Estimates
}

// Wanted is what a client follows.
type Wanted struct{ Lists, Positions bool }

// Message is a message to a client.
type Message struct {
	Logged bool  // it has a position in the event log; otherwise it is only the latest state
	Seq    int64 // the event that it follows
	Name   string
	Data   []byte
}

// Follower follows the board for one client.
type Follower struct {
	live      *Live
	who       lastmile.Principal
	want      Wanted
	lists     *events.Subscription
	moves     *events.Subscription
	since     time.Time     // the client knows older estimates
	fleet     int64         // the version of teams, hubs and schedules that was sent
	nth, seq  int64         // the last entry that was sent, and the event up to which entries were sent
	ready     chan struct{} // closed when positions and estimates may be sent
	relisted  bool          // there may be lists to send
	notified  bool          // there may be positions or estimates to send
	moved     map[lastmile.WorkerID]Moved
	estimated map[lastmile.WorkerID]time.Time
	repeated  map[lastmile.WorkerID][]lastmile.TaskID // tasks whose estimates are sent again
}

// Follow begins to follow a board after an event. The follower must be closed.
func (l *Live) Follow(ctx context.Context, who lastmile.Principal, seq int64, want Wanted) (*Follower, error) {
	f := &Follower{live: l, who: who, want: want, seq: seq, ready: make(chan struct{}), relisted: true, notified: true, moved: map[lastmile.WorkerID]Moved{}, estimated: map[lastmile.WorkerID]time.Time{}, repeated: map[lastmile.WorkerID][]lastmile.TaskID{}}
	close(f.ready)
	err := l.Store.Read(ctx, func(r LiveReader) (err error) {
		oldest, at, err := r.EventKept(ctx, who.Organization, seq)
		if err != nil {
			return err
		}
		if seq < oldest-1 {
			return lastmile.Invalid("since: the events after number %d are no longer stored; read the board again and continue from its cursor", seq).Because("cursorTooOld")
		}
		if !at.IsZero() {
			f.since = at.Add(-clocksDiffer)
		}
		f.nth, err = r.ListsBefore(ctx, who.Organization, seq)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.lists, f.moves = l.Hub.Subscribe(events.BoardTopic(who.Organization)), l.Hub.Subscribe(events.MoveTopic(who.Organization))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[lastmile.OrganizationID]*followed{}
	}
	if l.known[who.Organization] == nil {
		l.known[who.Organization] = &followed{}
	}
	l.known[who.Organization].followers++
	return f, nil
}

// Close ends the follower.
func (f *Follower) Close() {
	f.lists.Close()
	f.moves.Close()
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.known[f.who.Organization]
	if of.followers--; of.followers == 0 {
		delete(l.known, f.who.Organization)
	}
}

// Until calls stop when there may be something to send. It returns after that, or when ctx
// ends. It must have returned before Take is called.
func (f *Follower) Until(ctx context.Context, stop func()) {
	ready, moves := f.ready, (<-chan struct{})(nil)
	for !f.relisted {
		select {
		case <-f.lists.Changed():
			f.relisted = true
		case <-moves:
			f.notified = true
			stop()
			return
		case <-ready:
			if f.notified {
				stop()
				return
			}
			ready, moves = nil, f.moves.Changed()
		case <-ctx.Done():
			return
		}
	}
	stop()
}

// Repeat makes Take return the estimates of a task again. The event of a task is sent some
// time after it happened, with estimates of that time, and newer ones may have been sent
// before it.
func (f *Follower) Repeat(task lastmile.TaskID, worker lastmile.WorkerID) {
	if task != "" && worker != "" && f.want.Lists && len(f.repeated[worker]) < MaxListed {
		f.repeated[worker] = append(f.repeated[worker], task)
		f.notified = true
	}
}

// Take returns the changes since the last call; those of lists only up to an event.
func (f *Follower) Take(ctx context.Context, seq int64) (messages []Message, err error) {
	if f.want.Lists && (f.relisted || seq > f.seq) {
		if messages, err = f.takeLists(ctx, seq); err != nil {
			return nil, err
		}
	}
	f.relisted = f.relisted && f.want.Lists
	select {
	case <-f.ready:
	default:
		return messages, nil
	}
	if !f.notified {
		return messages, nil
	}
	now, fresh, err := f.live.read(ctx, f.who.Organization)
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	f.ready, f.notified = ready, !fresh // the state may have been read before the change
	time.AfterFunc(LiveInterval, func() { close(ready) })
	sees, err := f.sees(ctx)
	if err != nil {
		return nil, err
	}
	if f.want.Positions {
		if messages, err = f.addPositions(messages, now, sees); err != nil {
			return nil, err
		}
	}
	if f.want.Lists {
		messages, err = f.addEstimates(messages, now, sees)
	}
	return messages, err
}

// takeLists returns the next entries of the log of lists, up to an event.
func (f *Follower) takeLists(ctx context.Context, seq int64) (messages []Message, err error) {
	page, err := f.readLists(ctx, seq)
	if err != nil {
		return nil, err
	}
	for _, e := range page.entries {
		messages = append(messages, Message{Logged: true, Seq: e.Seq, Name: e.Name, Data: e.Body})
	}
	if page.fleet != f.fleet { // only the latest version matters
		messages = append(messages, Message{Name: "fleet", Data: fmt.Appendf(nil, `{"version":%d}`, page.fleet)})
		f.fleet = page.fleet
	}
	f.nth = max(f.nth, page.last)
	f.relisted, f.seq = f.nth < page.end, seq
	return messages, nil
}

// readLists reads the next page when it is the organization's turn. Followers that are at
// the same position get the same page, so that a change of a list is read only once, however
// many clients follow the board.
func (f *Follower) readLists(ctx context.Context, seq int64) (page *listPage, err error) {
	org := f.who.Organization
	end, err := f.live.pages.Take(ctx, string(org))
	if err != nil {
		return nil, err
	}
	var read *listPage // nil for a page that was read before
	defer func() { rate.After(read.pause(), end) }()
	version := f.live.Hub.Version(events.BoardTopic(org))
	f.live.mu.Lock()
	of := f.live.known[org]
	f.live.mu.Unlock()
	if known := of.latest; known != nil && f.who.Manager() == "" && known.after == f.nth && known.seq == seq && known.version == version {
		return known, nil
	}
	page = &listPage{after: f.nth, seq: seq, version: version}
	err = f.live.Store.Read(ctx, func(r LiveReader) (err error) {
		if page.fleet, err = r.FleetVersion(ctx, org); err != nil {
			return err
		}
		if page.end, err = r.ListsBefore(ctx, org, seq+1); err != nil || page.end <= f.nth {
			return err
		}
		page.entries, page.last, err = r.ListEntries(ctx, org, f.who.Manager(), f.nth, seq, MaxListPage)
		return err
	})
	if err != nil {
		return nil, err
	}
	read = page
	if f.who.Manager() == "" && max(page.after, page.last) >= page.end {
		of.latest = page
	}
	return page, nil
}

// pause returns how long the organization's turn lasts after the page was read.
func (p *listPage) pause() (pause time.Duration) {
	if p == nil {
		return 0
	}
	for _, e := range p.entries {
		pause += time.Duration(len(e.Body)) * time.Second / listRate
	}
	return pause
}

// sees returns a function that reports whether the client may see a worker.
func (f *Follower) sees(ctx context.Context) (func(lastmile.WorkerID) bool, error) {
	if f.who.Manager() == "" {
		return func(lastmile.WorkerID) bool { return true }, nil
	}
	own := map[lastmile.WorkerID]bool{}
	err := f.live.Store.Read(ctx, func(r LiveReader) error {
		_, workers, err := r.Managed(ctx, f.who.Organization, f.who.Manager())
		for _, id := range workers {
			own[id] = true
		}
		return err
	})
	return func(id lastmile.WorkerID) bool { return own[id] }, err
}

func (f *Follower) addPositions(messages []Message, now *state, sees func(lastmile.WorkerID) bool) ([]Message, error) {
	var batch []Moved
	for _, id := range slices.Sorted(maps.Keys(now.moved)) {
		moved, last := now.moved[id], f.moved[id]
		if sees(id) && (!moved.At.Equal(last.At) || !moved.Seen.Equal(last.Seen)) {
			batch = append(batch, moved)
			f.moved[id] = moved
		}
	}
	if len(batch) == 0 {
		return messages, nil
	}
	data, err := f.live.EncodePositions(batch)
	return append(messages, Message{Name: "positions", Data: data}), err
}

func (f *Follower) addEstimates(messages []Message, now *state, sees func(lastmile.WorkerID) bool) ([]Message, error) {
	var all [][]byte
	for _, id := range slices.Sorted(maps.Keys(now.estimated)) {
		made := now.estimated[id]
		known := made.At.Before(f.since) || made.At.Equal(f.estimated[id])
		if !sees(id) || known && f.repeated[id] == nil {
			continue
		}
		f.estimated[id] = made.At
		data, err := f.live.encodeEstimates(now, made, f.repeated[id], known)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	clear(f.repeated)
	if len(all) == 0 {
		return messages, nil
	}
	return append(messages, Message{Name: "estimates", Data: joined(all)}), nil
}

// encodeEstimates encodes the estimates of a worker: of some tasks if only is set, otherwise
// of all. All estimates are encoded once, however many clients follow the board.
func (l *Live) encodeEstimates(now *state, made Estimated, some []lastmile.TaskID, only bool) ([]byte, error) {
	if data, ok := now.encoded.Load(made.Worker); ok && !only {
		return data.([]byte), nil
	}
	all, at := made.Tasks, l.Now()
	wanted := make(map[lastmile.TaskID]bool, len(some))
	for _, id := range some {
		wanted[id] = true
	}
	made.Tasks = nil
	for _, t := range all {
		if !only || wanted[t.ID] {
			t.Estimates = store.EstimatesAt(t.Estimates, t.State, t.CompleteBefore, at)
			made.Tasks = append(made.Tasks, t)
		}
	}
	data, err := l.EncodeEstimates([]Estimated{made})
	if err == nil && !only {
		now.encoded.Store(made.Worker, data)
	}
	return data, err
}

// joined joins JSON arrays into one.
func joined(arrays [][]byte) []byte {
	items := make([][]byte, len(arrays))
	for i, data := range arrays {
		items[i] = data[1 : len(data)-1]
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// read returns the latest positions and estimates of an organization, and whether they were
// read just now. They are read at most once per LiveInterval, however many clients follow.
func (l *Live) read(ctx context.Context, org lastmile.OrganizationID) (now *state, fresh bool, err error) {
	end, err := l.reads.Take(ctx, string(org))
	if err != nil {
		return nil, false, err
	}
	defer end()
	l.mu.Lock()
	of := l.known[org]
	l.mu.Unlock()
	before := of.state
	if before != nil && !of.expired.Load() {
		return before, false, nil
	}
	if before == nil {
		before = &state{}
	}
	now = &state{}
	err = l.Store.Read(ctx, func(r LiveReader) (err error) {
		if now.moved, err = r.LastPositions(ctx, org); err != nil {
			return err
		}
		if now.estimated, err = r.LastEstimates(ctx, org); err != nil {
			return err
		}
		var changed []lastmile.WorkerID
		for id, made := range now.estimated {
			if known, ok := before.estimated[id]; ok && known.At.Equal(made.At) {
				made.Tasks = known.Tasks
				now.estimated[id] = made
			} else {
				changed = append(changed, id)
			}
		}
		tasks, err := r.EstimatesOf(ctx, org, changed, MaxLive)
		for _, id := range changed {
			made := now.estimated[id]
			made.Tasks = tasks[id]
			now.estimated[id] = made
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	of.state = now
	of.expired.Store(false)
	time.AfterFunc(LiveInterval, func() { of.expired.Store(true) })
	return now, true, nil
}
