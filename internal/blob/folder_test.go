package blob_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"dray/internal/blob"
)

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "uploads") // neither exists
	folder := blob.Folder{Path: path}
	testBlobs(t, folder)

	t.Run("only the owner has access", func(t *testing.T) {
		if err := folder.Put(t.Context(), sample, []byte("x")); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", name, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("no name leads outside the folder", func(t *testing.T) {
		outside := filepath.Join(filepath.Dir(path), "secret")
		if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		odd := sample
		odd.ID = "../secret"
		if got, err := folder.Get(t.Context(), odd); err == nil {
			t.Errorf("read %q", got)
		}
		odd.ID = "../../secret"
		if err := folder.Put(t.Context(), odd, []byte("y")); err == nil {
			t.Error("wrote outside")
		}
	})
}
