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
	storing  *sync.Map // ids of uploads whose bytes are being stored
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
	existing, err := s.findExisting(ctx, u)
	if err != nil || existing.State == lastmile.UploadStored {
		return existing.ID, err
	}
	clean, err := s.sanitize(ctx, who.Organization, sent)
	if err != nil {
		return "", err
	}
	u.Type, u.Size = clean.mediaType, int64(len(clean.data))
	retry := existing.ID != "" && s.begin(existing.ID)
	if retry {
		u.ID, u.Created = existing.ID, existing.Created
	} else {
		s.begin(u.ID)
	}
	defer s.storing.Delete(u.ID)
	if !retry {
		if err := s.Store.Write(ctx, func(w Writer) error { return w.SaveUpload(ctx, u) }); err != nil {
			return "", err
		}
	}
	if err := s.Blobs[u.Storage].Put(ctx, u, clean.data); err != nil {
		return "", fmt.Errorf("store upload %s: %w", u.ID, err)
	}
	return u.ID, s.markStored(ctx, u)
}

// begin reports whether no other request of this node is storing the bytes of an upload.
func (s *Uploads) begin(id lastmile.UploadID) bool {
	_, busy := s.storing.LoadOrStore(id, true)
	return !busy
}

// findExisting returns an earlier upload of the same image that is not attached to a task, or
// the zero Upload. A pending one is an attempt that failed, unless it is still going on. It
// fails if the worker has too many uploads that are not attached to a task.
func (s *Uploads) findExisting(ctx context.Context, u lastmile.Upload) (found lastmile.Upload, err error) {
	err = s.Store.Read(ctx, func(r Reader) error {
		unused, err := r.UnusedUploads(ctx, u.Organization, u.Worker)
		if err != nil {
			return err
		}
		for _, other := range unused {
			switch {
			case other.Digest != u.Digest:
			case other.State == lastmile.UploadStored:
				found = other
				return nil
			// Purge must not delete it while its bytes are stored.
			case other.State == lastmile.UploadPending && other.Storage == u.Storage && u.Created.Sub(other.Created) < lastmile.MaxActionAge:
				found = other
			}
		}
		if found.ID == "" && len(unused) >= lastmile.MaxUnusedUploads {
			return lastmile.Invalid("%d images are not attached to a task yet: complete tasks with them before you upload more", len(unused))
		}
		return nil
	})
	return found, err
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
