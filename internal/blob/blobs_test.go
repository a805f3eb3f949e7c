package blob_test

import (
	"bytes"
	"context"
	"testing"

	"dray/internal/lastmile"
)

// blobs is upload.Blobs.
type blobs interface {
	Put(ctx context.Context, u lastmile.Upload, data []byte) error
	Get(ctx context.Context, u lastmile.Upload) ([]byte, error)
	Remove(ctx context.Context, u lastmile.Upload) error
}

var sample = lastmile.Upload{ID: "uploadaaaaaaaaaaaaaaaaaa", Organization: "acmeacmeacmeacmeacmeacme", Type: "image/png"}

// testBlobs checks what every implementation must do.
func testBlobs(t *testing.T, storage blobs) {
	t.Helper()
	ctx := t.Context()
	if err := storage.Remove(ctx, sample); err != nil {
		t.Errorf("remove a missing upload: %v", err)
	}
	if _, err := storage.Get(ctx, sample); err == nil {
		t.Error("a missing upload can be read")
	}
	for _, data := range [][]byte{[]byte("first"), {}, bytes.Repeat([]byte{0, 255, '\n'}, 100_000)} {
		if err := storage.Put(ctx, sample, data); err != nil {
			t.Fatal(err)
		}
		if got, err := storage.Get(ctx, sample); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("put %d bytes, got %d: %v", len(data), len(got), err)
		}
	}
	other := sample
	other.ID = "uploadbbbbbbbbbbbbbbbbbb"
	if _, err := storage.Get(ctx, other); err == nil {
		t.Error("one upload is read as another")
	}
	if err := storage.Remove(ctx, sample); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Get(ctx, sample); err == nil {
		t.Error("a removed upload can be read")
	}
}
