package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func testUploads(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	upload := func(id lastmile.UploadID, at time.Time) lastmile.Upload {
		return lastmile.Upload{
			ID: id, Organization: acme, Worker: "w", Digest: "d", Storage: "database", Type: "image/png", Size: 3, Created: at,
			State: lastmile.UploadStored,
		}
	}
	const first, second, third = "uploadaaaaaaaaaaaaaaaaaa", "uploadbbbbbbbbbbbbbbbbbb", "uploadcccccccccccccccccc"
	old, fresh, used := upload(first, now.Add(-time.Hour)), upload(second, now), upload(third, now.Add(-2*time.Hour))
	fresh.State, used.Task = lastmile.UploadPending, "t"
	bytes := []byte{0, 1, 255}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveUpload(ctx, old), tx.SaveUpload(ctx, fresh), tx.SaveUpload(ctx, used), tx.SaveUploadBytes(ctx, acme, first, bytes))
	})
	look := func(org lastmile.OrganizationID, id lastmile.UploadID) (u lastmile.Upload, err error) {
		err = s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			u, err = r.Upload(ctx, org, id)
			return err
		})
		return u, err
	}
	for _, want := range []lastmile.Upload{old, fresh, used} {
		got, err := look(acme, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "upload", got, want)
	}
	if _, err := look(zenith, first); code(err) != lastmile.CodeOutsideScope {
		t.Errorf("another organization's upload: %v", err)
	}
	if _, err := look(acme, "nobodyhasthisidentifier0"); code(err) != lastmile.CodeNotFound {
		t.Errorf("an unknown upload: %v", err)
	}
	unused := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Upload, error) { return r.UnusedUploads(ctx, acme, "w") })
	same(t, "unused uploads", unused, []lastmile.Upload{old, fresh})
	stale := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Upload, error) {
		return r.StaleUploads(ctx, lastmile.Upload{}, now, 10)
	})
	same(t, "stale uploads", stale, []lastmile.Upload{old})
	stale = read(t, s, func(r *sqlstore.Tx) ([]lastmile.Upload, error) {
		return r.StaleUploads(ctx, old, now.Add(time.Hour), 10)
	})
	same(t, "stale uploads after another", stale, []lastmile.Upload{fresh})
	same(t, "bytes", read(t, s, func(r *sqlstore.Tx) ([]byte, error) { return r.UploadBytes(ctx, acme, first) }), bytes)

	fresh.State, fresh.Task = lastmile.UploadStored, "t"
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveUpload(ctx, fresh), tx.DeleteUploadBytes(ctx, acme, first), tx.DeleteUpload(ctx, acme, first))
	})
	if _, err := look(acme, first); code(err) != lastmile.CodeNotFound {
		t.Errorf("a deleted upload: %v", err)
	}
	got, err := look(acme, second)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "an upload that was handed in", got, fresh)
	err = s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.UploadBytes(ctx, acme, first)
		return err
	})
	if code(err) != lastmile.CodeNotFound {
		t.Errorf("deleted bytes: %v", err)
	}
}
