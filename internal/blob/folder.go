package blob

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"dray/internal/lastmile"
)

// Folder stores bytes in files, for an installation with one server. The folder is created with
// the first file.
type Folder struct{ Path string }

// within calls do with the folder as the root, so that no name leads outside it.
func (f Folder) within(do func(*os.Root) error) error {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}

// shard returns the subfolder of a file, which is one of several thousand, so that none has too
// many entries. It is the end of the id, which is random.
func shard(u lastmile.Upload) string { return string(u.ID[len(u.ID)-2:]) }

func file(u lastmile.Upload) string { return shard(u) + "/" + string(u.ID) }

// Put implements upload.Blobs. When it returns, the bytes survive a power cut.
func (f Folder) Put(_ context.Context, u lastmile.Upload, data []byte) error {
	if err := makeFolder(f.Path); err != nil {
		return err
	}
	return f.within(func(root *os.Root) error {
		if err := root.Mkdir(shard(u), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		partial := file(u) + ".part"
		if err := write(root, partial, data); err != nil {
			return errors.Join(err, remove(root, partial))
		}
		if err := root.Rename(partial, file(u)); err != nil {
			return errors.Join(err, remove(root, partial))
		}
		return errors.Join(syncNames(root, shard(u)), syncNames(root, "."))
	})
}

// makeFolder creates a folder and its parents. When it returns, they survive a power cut.
func makeFolder(path string) error {
	parent := filepath.Dir(path)
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(parent); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return Folder{parent}.within(func(root *os.Root) error { return syncNames(root, ".") })
}

func write(root *os.Root, name string, data []byte) error {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Sync(), out.Close())
}

// syncNames makes the entries of a folder survive a power cut.
func syncNames(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Get implements upload.Blobs.
func (f Folder) Get(_ context.Context, u lastmile.Upload) (data []byte, err error) {
	err = f.within(func(root *os.Root) (err error) {
		data, err = root.ReadFile(file(u))
		return err
	})
	return data, err
}

// Remove implements upload.Blobs.
func (f Folder) Remove(_ context.Context, u lastmile.Upload) error {
	err := f.within(func(root *os.Root) error {
		return errors.Join(remove(root, file(u)), remove(root, file(u)+".part"))
	})
	if errors.Is(err, fs.ErrNotExist) { // the folder does not exist yet
		return nil
	}
	return err
}

func remove(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
