package blob

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"dray/internal/lastmile"
)

// Folder keeps bytes in files, for a server that is alone on its data. It is
// made when the first file is.
type Folder struct{ Path string }

// within runs do in the folder. No name reaches anything outside of it.
func (f Folder) within(do func(*os.Root) error) error {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}

// shelf is the folder of a file: one of some thousands, so that none gets too
// long. Ids end with what is random in them.
func shelf(u lastmile.Upload) string { return string(u.ID[len(u.ID)-2:]) }

func file(u lastmile.Upload) string { return shelf(u) + "/" + string(u.ID) }

// Put implements upload.Blobs. When it returns, the bytes survive a power cut.
func (f Folder) Put(_ context.Context, u lastmile.Upload, data []byte) error {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return err
	}
	return f.within(func(root *os.Root) error {
		if err := root.Mkdir(shelf(u), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		half := file(u) + ".part"
		if err := write(root, half, data); err != nil {
			return errors.Join(err, remove(root, half))
		}
		if err := root.Rename(half, file(u)); err != nil {
			return errors.Join(err, remove(root, half))
		}
		return errors.Join(syncNames(root, shelf(u)), syncNames(root, "."))
	})
}

func write(root *os.Root, name string, data []byte) error {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Sync(), out.Close())
}

// syncNames makes the names in a folder survive a power cut.
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
	if errors.Is(err, fs.ErrNotExist) { // there is not even the folder
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
