package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// newSuffix marks a database that is being made; a crash may leave one.
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
	lock, err := lockSetup(ctx, o.Folder)
	if err != nil {
		return err
	}
	defer lock.Close()
	if exists(path) {
		return nil // another process was faster
	}
	if err := refuseLeftovers(o.Folder); err != nil {
		return err
	}
	return install(path, func(temporary string) error {
		return createDatabase(ctx, temporary, all, o.Now, "journal_mode=WAL", "synchronous=FULL")
	})
}

// noDatabase says that a folder holds no database, and whether it did.
func noDatabase(folder, path string) error {
	if exists(folder) {
		if err := refuseLeftovers(folder); err != nil {
			return err
		}
	}
	return lastmile.NotFound("database", path).Because("name the data folder with --data; `dray serve` and `dray org create` make one")
}

// refuseLeftovers refuses a folder that was in use and has lost its database:
// to start empty there would hide the loss.
func refuseLeftovers(folder string) error {
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

// install lets build make a database beside path and moves it there when it is
// complete and on disk, so that a crash leaves all of it or nothing.
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
	return SyncFolder(filepath.Dir(path))
}

// createDatabase makes a database file with the schema of the migrations.
func createDatabase(ctx context.Context, path string, all []engine.Migration, now func() time.Time, pragmas ...string) error {
	h, err := createHandle(path, pragmas...)
	if err != nil {
		return err
	}
	defer h.close()
	return engine.Migrate(ctx, h.schema(), all, now)
}

// createHandle makes an empty database file, for its owner only. SQLite gives
// the files beside it the same permissions.
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

// exists tells whether there is a file.
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

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" { // knows no such thing
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Fill puts the database that build makes into a data folder, which must be
// empty. If it fails, the folder is still empty.
func Fill(ctx context.Context, folder string, build func(temporary string) error) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	lock, err := lockSetup(ctx, folder)
	if err != nil {
		return err
	}
	defer lock.Close()
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), databaseFile+newSuffix) {
			return fmt.Errorf("the data folder %s is not empty (%s): name an empty or new one with --data", folder, e.Name())
		}
	}
	return install(filepath.Join(folder, databaseFile), build)
}

// lockServed takes the lock that makes this process the folder's only server.
func lockServed(folder string) (io.Closer, error) {
	path := filepath.Join(folder, lockFile)
	lock, free, err := tryLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !free {
		return nil, fmt.Errorf("the data folder %s is already served by another process%s: "+
			"stop that one first, or give this one its own folder with --data", folder, holder(path))
	}
	return lock, nil
}

// holder names the process that wrote its id into a lock file.
func holder(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %s)", strings.TrimSpace(string(b)))
}

// lockSetup waits for the lock under which a database is put into a folder.
func lockSetup(ctx context.Context, folder string) (io.Closer, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, free, err := tryLockSetup(folder)
		if err != nil {
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
		if free {
			return lock, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another process that sets up %s: %w", folder, ctx.Err())
		}
	}
}
