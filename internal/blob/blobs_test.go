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
func testBlobs(t *testing.T, place blobs) {
	t.Helper()
	ctx := t.Context()
	if err := place.Remove(ctx, sample); err != nil {
		t.Errorf("remove what was never put: %v", err)
	}
	if _, err := place.Get(ctx, sample); err == nil {
		t.Error("what was never put can be read")
	}
	for _, data := range [][]byte{[]byte("first"), {}, bytes.Repeat([]byte{0, 255, '\n'}, 100_000)} {
		if err := place.Put(ctx, sample, data); err != nil {
			t.Fatal(err)
		}
		if got, err := place.Get(ctx, sample); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("put %d bytes, got %d: %v", len(data), len(got), err)
		}
	}
	other := sample
	other.ID = "uploadbbbbbbbbbbbbbbbbbb"
	if _, err := place.Get(ctx, other); err == nil {
		t.Error("one upload is read as another")
	}
	if err := place.Remove(ctx, sample); err != nil {
		t.Fatal(err)
	}
	if _, err := place.Get(ctx, sample); err == nil {
		t.Error("what was removed can be read")
	}
}
