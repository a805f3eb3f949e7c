package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Bytes is a place that keeps the bytes of uploads.
type Bytes interface {
	Put(ctx context.Context, u lastmile.Upload, data []byte) error
	Get(ctx context.Context, u lastmile.Upload) ([]byte, error)
	// Remove removes the bytes; that there are none is no error.
	Remove(ctx context.Context, u lastmile.Upload) error
}

// Gallery is the uploads of all organizations.
type Gallery struct {
	Store  store.Store
	Places map[string]Bytes // where bytes are, by name
	Place  string           // where those of new uploads go
	Now    func() time.Time
	NewID  func() string

	waiting  chan struct{}
	decoding chan struct{} // held by the one that is decoded, which takes much memory
}

// How many images may wait to be decoded on a node.
const maxWaiting = 8

// New makes a gallery.
func New(s store.Store, places map[string]Bytes, place string, now func() time.Time, newID func() string) *Gallery {
	return &Gallery{
		Store: s, Places: places, Place: place, Now: now, NewID: newID,
		waiting: make(chan struct{}, maxWaiting), decoding: make(chan struct{}, 1),
	}
}

// Image is an upload with its bytes.
type Image struct {
	lastmile.Upload
	Data []byte
}

// Take keeps an image for the worker who is asking. The same image sent again
// before it was handed in is the same upload.
func (g *Gallery) Take(ctx context.Context, who lastmile.Principal, sent []byte) (lastmile.UploadID, error) {
	if len(sent) > lastmile.MaxUpload {
		return "", lastmile.TooLarge("the image has more than %d bytes: scale it down", lastmile.MaxUpload)
	}
	sum := sha256.Sum256(sent)
	u := lastmile.Upload{
		ID: lastmile.UploadID(g.NewID()), Organization: who.Organization, Worker: who.Worker,
		Digest: hex.EncodeToString(sum[:]), Storage: g.Place, Created: g.Now(),
	}
	known, err := g.known(ctx, u)
	if err != nil || known != "" {
		return known, err
	}
	ready, err := g.clean(ctx, sent)
	if err != nil {
		return "", err
	}
	u.Type, u.Size = ready.mediaType, int64(len(ready.data))
	if err := g.save(ctx, u); err != nil {
		return "", err
	}
	if err := g.Places[u.Storage].Put(ctx, u, ready.data); err != nil {
		return "", fmt.Errorf("store upload %s: %w", u.ID, err)
	}
	u.State = lastmile.UploadStored
	return u.ID, g.save(ctx, u)
}

// known finds the upload that the same image became before, and refuses a
// worker who has too many that are not handed in.
func (g *Gallery) known(ctx context.Context, u lastmile.Upload) (id lastmile.UploadID, err error) {
	err = g.Store.Read(ctx, func(r store.Reader) error {
		unused, err := r.UnusedUploads(ctx, u.Organization, u.Worker)
		if err != nil {
			return err
		}
		for _, other := range unused {
			if other.Digest == u.Digest && other.State == lastmile.UploadStored {
				id = other.ID
				return nil
			}
		}
		if len(unused) >= lastmile.MaxUnusedUploads {
			return lastmile.Invalid("%d images wait to be handed in with a task; no more are taken before that", len(unused))
		}
		return nil
	})
	return id, err
}

// clean makes an image anew when its turn comes.
func (g *Gallery) clean(ctx context.Context, sent []byte) (picture, error) {
	select {
	case g.waiting <- struct{}{}:
	default:
		return picture{}, lastmile.Overloaded("too many images arrive at once: try again")
	}
	defer func() { <-g.waiting }()
	select {
	case g.decoding <- struct{}{}:
	case <-ctx.Done():
		return picture{}, ctx.Err()
	}
	defer func() { <-g.decoding }()
	return clean(sent)
}

func (g *Gallery) save(ctx context.Context, u lastmile.Upload) error {
	return g.Store.Write(ctx, func(w store.Writer) error { return w.SaveUpload(ctx, u) })
}

// Open reads an upload: an organization its own, a worker hers.
func (g *Gallery) Open(ctx context.Context, who lastmile.Principal, id lastmile.UploadID) (Image, error) {
	var u lastmile.Upload
	err := g.Store.Read(ctx, func(r store.Reader) (err error) {
		u, err = r.Upload(ctx, who.Organization, id)
		return err
	})
	switch {
	case err != nil:
		return Image{}, err
	case who.Worker != "" && u.Worker != who.Worker:
		return Image{}, lastmile.OutsideScope(string(id))
	case u.State != lastmile.UploadStored:
		return Image{}, lastmile.NotFound("upload", string(id))
	}
	place, ok := g.Places[u.Storage]
	if !ok {
		return Image{}, fmt.Errorf("upload %s is in %s, which is not set: see --uploads", id, u.Storage)
	}
	data, err := place.Get(ctx, u)
	if err != nil {
		return Image{}, fmt.Errorf("read upload %s: %w", id, err)
	}
	return Image{Upload: u, Data: data}, nil
}

// forgetAtOnce is how many uploads one round of Forget removes.
const forgetAtOnce = 100

// Forget removes uploads that were not handed in for too long.
func (g *Gallery) Forget(ctx context.Context) error {
	var leaving []lastmile.Upload
	err := g.Store.Write(ctx, func(w store.Writer) (err error) {
		leaving, err = w.StaleUploads(ctx, g.Now().Add(-lastmile.UnusedUploadRetention), forgetAtOnce)
		if err != nil {
			return err
		}
		for i := range leaving {
			leaving[i].State = lastmile.UploadDeleting // nobody can hand it in any more
			if err := w.SaveUpload(ctx, leaving[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, u := range leaving {
		place, ok := g.Places[u.Storage]
		if !ok {
			continue // it can be removed when its place is set again
		}
		if err := place.Remove(ctx, u); err != nil {
			return fmt.Errorf("remove upload %s: %w", u.ID, err)
		}
		err := g.Store.Write(ctx, func(w store.Writer) error { return w.DeleteUpload(ctx, u.Organization, u.ID) })
		if err != nil {
			return err
		}
	}
	return nil
}
