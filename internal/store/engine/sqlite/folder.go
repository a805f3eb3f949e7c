package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dray/internal/durable"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// newSuffix marks a database that is being created. A crash may leave such a file behind.
const newSuffix = ".new"

// prepareFolder makes sure that the folder exists and holds a database. Several
// processes may do this at once.
func prepareFolder(ctx context.Context, o Options, all []engine.Migration) error {
	path := filepath.Join(o.Folder, databaseFile)
	if exists(path) {
		return nil
	}
	if o.Existing {
		return noDatabase(o.Folder, path)
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	lock, err := lockFolder(ctx, o.Folder, setupPatience)
	if err != nil {
		return err
	}
	defer lock.Close()
	if exists(path) {
		return nil // another process has created it
	}
	if err := checkLeftovers(o.Folder); err != nil {
		return err
	}
	return install(path, func(temporary string) error {
		return createDatabase(ctx, temporary, all, o.Now, "journal_mode=WAL", "synchronous=FULL")
	})
}

// noDatabase returns the error for a folder without a database, which differs if the
// folder had one.
func noDatabase(folder, path string) error {
	if exists(folder) {
		if err := checkLeftovers(folder); err != nil {
			return err
		}
	}
	return lastmile.NotFound("database", path).Because("name the data folder with --data; `dray serve` and `dray org create` make one")
}

// checkLeftovers rejects a folder that was in use and has lost its database:
// starting with an empty one would hide the loss.
func checkLeftovers(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "dray.") && !strings.HasPrefix(name, databaseFile+newSuffix) {
			return fmt.Errorf("the data folder %s holds %s but no %s: the database was moved or deleted. "+
				"Put it back, or restore a backup into an empty folder with: dray restore FILE --data FOLDER",
				folder, name, databaseFile)
		}
	}
	return nil
}

// install calls build to create a database beside path, and renames it to path when it is
// complete and durable, so that a crash leaves the whole database or none.
func install(path string, build func(temporary string) error) (err error) {
	temporary := path + newSuffix
	if err := Remove(temporary); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(temporary))
		}
	}()
	if err := build(temporary); err != nil {
		return err
	}
	if err := Sync(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("put the new database in place: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// createDatabase creates a database file with the schema of the migrations.
func createDatabase(ctx context.Context, path string, all []engine.Migration, now func() time.Time, pragmas ...string) error {
	h, err := createHandle(path, pragmas...)
	if err != nil {
		return err
	}
	defer h.close()
	return engine.Migrate(ctx, h.schema(), all, now)
}

// createHandle creates an empty database file that only its owner can read.
// SQLite gives the files beside it the same permissions.
func createHandle(path string, pragmas ...string) (*handle, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("create the database: %w", err)
	}
	size := fmt.Sprintf("page_size=%d", pageSize) // must come before anything is written
	return openHandle(path, true, append([]string{size}, pragmas...)...)
}

// Remove removes a database file and the files beside it.
func Remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an unfinished database: %w", err)
		}
	}
	return nil
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Sync makes a file durable. It must not be the file of an open database:
// closing any descriptor of it releases the process's locks on it.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Fill puts the database that build creates into a data folder, which must be empty. If
// it fails, the folder is still empty.
func Fill(ctx context.Context, folder string, build func(temporary string) error) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	if err := checkEmpty(folder); err != nil { // a server may hold the lock
		return err
	}
	lock, err := lockFolder(ctx, folder, setupPatience)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := checkEmpty(folder); err != nil {
		return err
	}
	return install(filepath.Join(folder, databaseFile), build)
}

// checkEmpty rejects a folder that contains anything except what a crash of Fill leaves.
func checkEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), databaseFile+newSuffix) {
			return fmt.Errorf("the data folder %s is not empty (%s): name an empty or new one with --data", folder, e.Name())
		}
	}
	return nil
}

// The longest waits for the lock of a folder: while another process sets it up, and of a
// server once it is set up, when commands hold the lock only for a moment.
const (
	setupPatience = 30 * time.Second
	lockPatience  = 2 * time.Second
)

// served are the locks that make a process the only server of a folder: the file
// that names the process, and the folder itself, because a file can be deleted.
type served struct{ file, folder io.Closer }

// Close releases the locks.
func (s served) Close() error {
	if s.folder == nil {
		return s.file.Close()
	}
	return errors.Join(s.folder.Close(), s.file.Close())
}

// lockServed takes the locks of a server.
func lockServed(ctx context.Context, o Options) (io.Closer, error) {
	folder, path := o.Folder, filepath.Join(o.Folder, lockFile)
	holder := holder(path)
	file, free, err := tryLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !free {
		return nil, fmt.Errorf("the data folder %s is already served by another process%s: "+
			"stop that one first, or give this one its own folder with --data", folder, holder)
	}
	lock, err := lockFolder(ctx, folder, cmp.Or(o.lockPatience, lockPatience))
	switch {
	case errors.Is(err, errFolderLocked):
		return nil, errors.Join(fmt.Errorf("the data folder %s is already served by another process, whose lock file %s was deleted: "+
			"stop that one first, or give this one its own folder with --data", folder, lockFile), file.Close())
	case err != nil: // some file systems cannot lock folders
		o.Logger.Warn("the data folder cannot be locked; do not delete its lock file", "file", path, "error", err)
	}
	return served{file: file, folder: lock}, nil
}

// holder names the process that wrote its id into a lock file.
func holder(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %s)", strings.TrimSpace(string(b)))
}

// errFolderLocked is the error of a folder whose lock another process held for the whole
// wait.
var errFolderLocked = errors.New("another process serves the data folder or sets it up")

// lockFolder waits for the lock of a folder. A server holds it, and so does a
// process that puts a database into the folder.
func lockFolder(ctx context.Context, folder string, patience time.Duration) (io.Closer, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		lock, free, err := tryLockFolder(folder)
		if err != nil {
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
		if free {
			return lock, nil
		}
		select {
		case <-tick.C:
		case <-end.C:
			return nil, fmt.Errorf("lock the data folder %s: %w", folder, errFolderLocked)
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another process that uses %s: %w", folder, ctx.Err())
		}
	}
}
