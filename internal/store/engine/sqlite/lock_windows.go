package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// tryLock opens a file, creating it if necessary, so that no other process can open it.
// The lock ends with the process, however it ends. free is false if another process has
// it.
func tryLock(path string) (lock io.Closer, free bool, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	const sharingViolation = syscall.Errno(32)
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	default:
		return os.NewFile(uintptr(h), path), true, nil
	}
}

// tryLockFolder locks a file beside the folder, which itself cannot be locked.
func tryLockFolder(folder string) (lock io.Closer, free bool, err error) {
	return tryLock(filepath.Clean(folder) + ".setup")
}

// flock locks nothing: commands and the server compete for SQLite's own lock.
func flock(*os.File) (free bool, err error) { return true, nil }

// funlock has nothing to release.
func funlock(*os.File) {}
