package taskflow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// bulkWriter creates the tasks of a chunk with few statements: records that every item
// needs are read once, and records of all items are saved together.
//
// It implements creationWriter and no other method of a transaction, so that code
// for a single task cannot bypass the buffer. Only recipients are read from the
// buffer, by their phone numbers: no item can name the ids of new destinations and
// tasks yet.
type bulkWriter struct {
	w          bulkStore
	org        lastmile.OrganizationID
	fields     customfield.Fields
	settings   lastmile.Settings
	recipients knownRecipients // recipients of the items
	outside    bool            // recipients were read before the transaction
	keys       store.UsedKeys  // import keys known to be used, including those of created items
	buffer     store.NewRecords
	buffered   map[lastmile.RecipientID]int        // index in buffer.Recipients
	changed    []lastmile.Recipient                // recipients that are not new, without duplicates
	changes    map[lastmile.RecipientID]int        // index in changed
	owners     map[lastmile.ContainerRef]time.Time // when each owner was created
	lists      map[lastmile.ContainerRef]extendedList
}

// extendedList is a container that gets tasks from the buffer.
type extendedList struct {
	org      lastmile.OrganizationID
	changed  time.Time
	estimate time.Time // when the estimates of its worker are refreshed; zero if it is a team's
}

// prefetch returns a bulkWriter that has read the settings, custom fields and recipients
// that the items need. Recipients are not read if by.known has them.
func prefetch(ctx context.Context, w bulkStore, org lastmile.OrganizationID, items []item, by way) (*bulkWriter, error) {
	b := &bulkWriter{
		w: w, org: org, recipients: by.known, outside: by.known != nil, keys: store.UsedKeys{},
		buffered: map[lastmile.RecipientID]int{}, changes: map[lastmile.RecipientID]int{},
		owners: map[lastmile.ContainerRef]time.Time{}, lists: map[lastmile.ContainerRef]extendedList{},
	}
	maps.Copy(b.keys, by.used)
	var err error
	if b.settings, err = w.Settings(ctx, org); err != nil {
		return b, err
	}
	if b.fields, err = w.CustomFields(ctx, org); err != nil || b.outside {
		return b, err
	}
	b.recipients = knownRecipients{}
	return b, b.recipients.read(ctx, w, org, items)
}

// flush saves everything, once the last item has been created.
func (b *bulkWriter) flush(ctx context.Context) error {
	if err := b.saveChanged(ctx); err != nil {
		return err
	}
	for _, in := range slices.SortedFunc(maps.Keys(b.lists), lockOrder) {
		list := b.lists[in]
		if err := b.w.LockContainer(ctx, list.org, in, list.changed); err != nil {
			return err
		}
		if list.estimate.IsZero() {
			continue
		}
		if err := b.w.ScheduleEstimate(ctx, list.org, lastmile.WorkerID(in.Owner), list.estimate); err != nil {
			return err
		}
	}
	return b.w.SaveNew(ctx, b.buffer)
}

// flushRecipients saves the buffered recipients, because the store is about to be read.
func (b *bulkWriter) flushRecipients(ctx context.Context) error {
	if err := b.saveChanged(ctx); err != nil || len(b.buffer.Recipients) == 0 {
		return err
	}
	added := store.NewRecords{Recipients: b.buffer.Recipients}
	b.buffer.Recipients = nil
	clear(b.buffered)
	return b.w.SaveNew(ctx, added)
}

// saveChanged saves the changed recipients, ordered by id like other transactions do.
func (b *bulkWriter) saveChanged(ctx context.Context) error {
	slices.SortFunc(b.changed, func(a, b lastmile.Recipient) int { return cmp.Compare(a.ID, b.ID) })
	for _, recipient := range b.changed {
		if err := b.w.SaveRecipient(ctx, recipient); err != nil {
			return err
		}
	}
	b.changed = nil
	clear(b.changes)
	return nil
}

// Settings implements creationWriter.
func (b *bulkWriter) Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error) {
	if org != b.org { // org is the executor of the task
		return b.w.Settings(ctx, org)
	}
	return b.settings, nil
}

// CustomFields implements creationWriter.
func (b *bulkWriter) CustomFields(context.Context, lastmile.OrganizationID) (customfield.Fields, error) {
	return slices.Clone(b.fields), nil
}

// Template implements creationWriter.
func (b *bulkWriter) Template(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error) {
	return b.w.Template(ctx, org, id)
}

// Recipients implements store.RecipientStore.
func (b *bulkWriter) Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error) {
	if known, prefetched := b.recipients[f.Phone]; prefetched {
		return known, nil
	}
	if err := b.flushRecipients(ctx); err != nil {
		return nil, err
	}
	return b.w.Recipients(ctx, org, f)
}

// Recipient implements creationWriter. The buffer may hold an update of the
// recipient.
func (b *bulkWriter) Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error) {
	if err := b.flushRecipients(ctx); err != nil {
		return lastmile.Recipient{}, err
	}
	return b.w.Recipient(ctx, org, id)
}

// AddRecipient implements store.RecipientStore.
func (b *bulkWriter) AddRecipient(_ context.Context, r lastmile.Recipient) error {
	b.recipients[r.Phone] = []lastmile.Recipient{r}
	b.buffered[r.ID] = len(b.buffer.Recipients)
	b.buffer.Recipients = append(b.buffer.Recipients, r)
	return nil
}

// SaveRecipient implements store.RecipientStore.
func (b *bulkWriter) SaveRecipient(_ context.Context, r lastmile.Recipient) error {
	at, isNew := b.buffered[r.ID]
	if b.outside && !isNew { // the recipient may have changed since, or was added by an item that has been saved
		return errChanged
	}
	b.recipients[r.Phone] = []lastmile.Recipient{r}
	if isNew {
		b.buffer.Recipients[at] = r
		return nil
	}
	if at, again := b.changes[r.ID]; again {
		b.changed[at] = r
		return nil
	}
	b.changes[r.ID] = len(b.changed)
	b.changed = append(b.changed, r)
	return nil
}

// Destination implements creationWriter.
func (b *bulkWriter) Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error) {
	return b.w.Destination(ctx, org, id)
}

// SaveDestination implements creationWriter.
func (b *bulkWriter) SaveDestination(_ context.Context, d lastmile.Destination) error {
	if d.Organization != b.org && slices.ContainsFunc(b.buffer.Destinations, func(saved lastmile.Destination) bool {
		return saved.ID == d.ID && saved.Organization == d.Organization
	}) {
		return nil // another item has saved it
	}
	b.buffer.Destinations = append(b.buffer.Destinations, d)
	return nil
}

// Organization implements ownerChecker.
func (b *bulkWriter) Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error) {
	return b.w.Organization(ctx, id)
}

// Connection implements connectionReader.
func (b *bulkWriter) Connection(ctx context.Context, org, other lastmile.OrganizationID) (store.Connection, error) {
	return b.w.Connection(ctx, org, other)
}

// Owner implements ownerChecker.
func (b *bulkWriter) Owner(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (created time.Time, err error) {
	created, known := b.owners[in]
	if !known {
		if created, err = b.w.Owner(ctx, org, in); err == nil {
			b.owners[in] = created
		}
	}
	return created, err
}

// TasksOf implements creationWriter.
func (b *bulkWriter) TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	return b.w.TasksOf(ctx, org, ids)
}

// AddTask implements creationWriter.
func (b *bulkWriter) AddTask(_ context.Context, t lastmile.Task) error {
	b.keys[t.ImportKey] = t.ID
	b.buffer.Tasks = append(b.buffer.Tasks, t)
	return nil
}

// OnCommit implements containerLocker.
func (b *bulkWriter) OnCommit(fn func()) { b.w.OnCommit(fn) }

// LockContainer implements containerLocker. Items may name containers in any order, so
// flush locks them together.
func (b *bulkWriter) LockContainer(_ context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	if _, known := b.lists[in]; !known {
		b.lists[in] = extendedList{org: org, changed: now}
	}
	return nil
}

// ScheduleEstimate implements containerLocker, for a worker whose container is locked.
func (b *bulkWriter) ScheduleEstimate(_ context.Context, _ lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error {
	in := lastmile.WorkerContainer(id)
	list := b.lists[in]
	if list.estimate.IsZero() {
		list.estimate = now
		b.lists[in] = list
	}
	return nil
}
