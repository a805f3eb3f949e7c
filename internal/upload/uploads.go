package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Blobs stores the bytes of uploads.
type Blobs interface {
	Put(ctx context.Context, u lastmile.Upload, data []byte) error
	Get(ctx context.Context, u lastmile.Upload) ([]byte, error)
	// Remove deletes the bytes. It succeeds if there are none.
	Remove(ctx context.Context, u lastmile.Upload) error
}

// Uploads are the images of all organizations.
type Uploads struct {
	Store   store.Transactor[Reader, Writer]
	Blobs   map[string]Blobs // by lastmile.Upload.Storage
	Default string           // storage of new uploads, a key of Blobs
	Now     func() time.Time
	NewID   func() string

	decoding *queue
	purging  *purgeProgress
	storing  *sync.Map // images whose bytes are being stored, with channels that are closed afterwards
}

// New returns the uploads of a store.
func New(s store.Transactor[Reader, Writer], blobs map[string]Blobs, defaultStorage string, now func() time.Time, newID func() string) *Uploads {
	return &Uploads{Store: s, Blobs: blobs, Default: defaultStorage, Now: now, NewID: newID, decoding: &queue{}, purging: &purgeProgress{}, storing: &sync.Map{}}
}

// Accept stores an image sent by the calling worker. If the same image is sent again before it
// is attached to a task, Accept returns the same upload.
func (s *Uploads) Accept(ctx context.Context, who lastmile.Principal, sent []byte) (lastmile.UploadID, error) {
	if len(sent) > lastmile.MaxUpload {
		return "", lastmile.TooLarge("the image has more than %d bytes: scale it down", lastmile.MaxUpload)
	}
	sum := sha256.Sum256(sent)
	u := lastmile.Upload{
		ID: lastmile.UploadID(s.NewID()), Organization: who.Organization, Worker: who.Worker,
		Digest: hex.EncodeToString(sum[:]), Storage: s.Default, Created: s.Now(),
	}
	known, err := s.known(ctx, u)
	if err != nil || known.State == lastmile.UploadStored {
		return known.ID, err
	}
	clean, err := s.sanitize(ctx, who.Organization, sent)
	if err != nil {
		return "", err
	}
	u.Type, u.Size = clean.mediaType, int64(len(clean.data))
	end, err := s.begin(ctx, u)
	if err != nil {
		return "", err
	}
	defer end()
	if u, err = s.register(ctx, u); err != nil || u.State == lastmile.UploadStored {
		return u.ID, err
	}
	if err := s.Blobs[u.Storage].Put(ctx, u, clean.data); err != nil {
		return "", fmt.Errorf("store upload %s: %w", u.ID, err)
	}
	return u.ID, s.markStored(ctx, u)
}

// begin waits until no other request of this node is storing the same image of the worker. If
// it succeeds, end must be called.
func (s *Uploads) begin(ctx context.Context, u lastmile.Upload) (end func(), err error) {
	type image struct {
		org    lastmile.OrganizationID
		worker lastmile.WorkerID
		digest string
	}
	key, done := image{u.Organization, u.Worker, u.Digest}, make(chan struct{})
	for {
		other, busy := s.storing.LoadOrStore(key, done)
		if !busy {
			return func() { s.storing.Delete(key); close(done) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// known returns what findExisting does, in a transaction of its own.
func (s *Uploads) known(ctx context.Context, u lastmile.Upload) (found lastmile.Upload, err error) {
	err = s.Store.Read(ctx, func(r Reader) (err error) {
		found, err = findExisting(ctx, r, u)
		return err
	})
	return found, err
}

// register saves the record of an upload and returns it. If the same image was sent before,
// maybe to another node while this one decoded it, register returns that upload instead.
func (s *Uploads) register(ctx context.Context, u lastmile.Upload) (registered lastmile.Upload, err error) {
	err = s.Store.Write(ctx, func(w Writer) error {
		existing, err := findExisting(ctx, w, u)
		if err != nil {
			return err
		}
		registered = u
		if existing.ID == "" {
			return w.SaveUpload(ctx, u)
		}
		registered.ID, registered.Created, registered.State = existing.ID, existing.Created, existing.State
		return nil
	})
	return registered, err
}

// findExisting returns an earlier upload of the same image that is not attached to a task, or
// the zero Upload. A pending one is an attempt that failed, or that another node has not
// finished. It fails if the worker has too many uploads that are not attached to a task.
func findExisting(ctx context.Context, r Reader, u lastmile.Upload) (found lastmile.Upload, err error) {
	unused, err := r.UnusedUploads(ctx, u.Organization, u.Worker)
	if err != nil {
		return found, err
	}
	for _, other := range unused {
		switch {
		case other.Digest != u.Digest:
		case other.State == lastmile.UploadStored:
			return other, nil
		// Purge must not delete it while its bytes are stored.
		case other.State == lastmile.UploadPending && other.Storage == u.Storage && u.Created.Sub(other.Created) < lastmile.MaxActionAge:
			found = other
		}
	}
	if found.ID == "" && len(unused) >= lastmile.MaxUnusedUploads {
		return found, lastmile.Invalid("%d images are not attached to a task yet: complete tasks with them before you upload more", len(unused))
	}
	return found, nil
}

// markStored marks an upload whose bytes are stored, unless another request has sent the same
// image and already did so: the upload may be attached to a task.
func (s *Uploads) markStored(ctx context.Context, u lastmile.Upload) error {
	return s.Store.Write(ctx, func(w Writer) error {
		saved, err := w.VisibleUpload(ctx, u.Organization, u.ID)
		if err != nil || saved.State != lastmile.UploadPending {
			return err
		}
		u.State = lastmile.UploadStored
		return w.SaveUpload(ctx, u)
	})
}

// sanitize re-encodes an image. It waits until no other image is being decoded.
func (s *Uploads) sanitize(ctx context.Context, org lastmile.OrganizationID, sent []byte) (picture, error) {
	if err := s.decoding.enter(ctx, org); err != nil {
		return picture{}, err
	}
	defer s.decoding.leave()
	return sanitizeWithin(ctx, sent, maxDecoding)
}

// Open reads an upload. Workers may read only their own uploads. An organization may read those
// of its workers and those of tasks that it placed with others.
func (s *Uploads) Open(ctx context.Context, who lastmile.Principal, id lastmile.UploadID) (lastmile.Image, error) {
	var u lastmile.Upload
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		u, err = r.VisibleUpload(ctx, who.Organization, id)
		return err
	})
	switch {
	case err != nil:
		return lastmile.Image{}, err
	case who.Worker != "" && u.Worker != who.Worker:
		return lastmile.Image{}, lastmile.OutsideScope(string(id))
	case u.State != lastmile.UploadStored:
		return lastmile.Image{}, lastmile.NotFound("upload", string(id))
	}
	blobs, ok := s.Blobs[u.Storage]
	if !ok {
		return lastmile.Image{}, fmt.Errorf("upload %s is in %s, which is not configured: see --uploads", id, u.Storage)
	}
	data, err := blobs.Get(ctx, u)
	if err != nil {
		return lastmile.Image{}, fmt.Errorf("read upload %s: %w", id, err)
	}
	return lastmile.Image{Upload: u, Data: data}, nil
}

// purgeBatch is the maximum number of uploads that one call of Purge deletes.
const purgeBatch = 100

// purgeProgress is the last upload that Purge has tried to delete. The next call continues
// after it, so that uploads that cannot be deleted do not keep it from reaching others.
type purgeProgress struct {
	mu   sync.Mutex
	last lastmile.Upload // zero to begin with the oldest
}

// Purge deletes uploads that were not attached to a task within UnusedUploadRetention. If some
// cannot be deleted, it continues with others and returns the first error.
func (s *Uploads) Purge(ctx context.Context) (failed error) {
	s.purging.mu.Lock()
	defer s.purging.mu.Unlock()
	stale, err := s.markStale(ctx, s.purging.last)
	if err != nil {
		return err
	}
	s.purging.last = lastmile.Upload{}
	if len(stale) == purgeBatch {
		s.purging.last = stale[purgeBatch-1]
	}
	for _, u := range stale {
		blobs, ok := s.Blobs[u.Storage]
		if !ok {
			continue // the upload can be deleted once its storage is configured again
		}
		if err := blobs.Remove(ctx, u); err != nil {
			if failed == nil {
				failed = fmt.Errorf("remove upload %s: %w", u.ID, err)
			}
			continue
		}
		err := s.Store.Write(ctx, func(w Writer) error { return w.DeleteUpload(ctx, u.Organization, u.ID) })
		if err != nil {
			return err
		}
	}
	return failed
}

// markStale marks the uploads to delete after another, so that they can no longer be attached
// to a task, and returns them.
func (s *Uploads) markStale(ctx context.Context, last lastmile.Upload) (stale []lastmile.Upload, err error) {
	err = s.Store.Write(ctx, func(w Writer) (err error) {
		stale, err = w.StaleUploads(ctx, last, s.Now().Add(-lastmile.UnusedUploadRetention), purgeBatch)
		if err != nil {
			return err
		}
		for i := range stale {
			stale[i].State = lastmile.UploadDeleting
			if err := w.SaveUpload(ctx, stale[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return stale, err
}
