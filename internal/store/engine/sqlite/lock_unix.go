//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// tryLock locks a file, creating it if necessary, and writes the process id into it. The
// lock ends with the process, however it ends. free is false if another process has it.
func tryLock(path string) (lock io.Closer, free bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	free, err = flock(f)
	if err != nil || !free {
		return nil, false, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Truncate(0), writeID(f)); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}

// tryLockFolder locks the folder itself, so that no lock file is left over or can be
// deleted.
func tryLockFolder(folder string) (lock io.Closer, free bool, err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, false, err
	}
	free, err = flock(f)
	if err != nil || !free {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}

// flock locks an open file without waiting.
func flock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("flock %s: %w", f.Name(), err)
	default:
		return true, nil
	}
}

// funlock releases a lock.
func funlock(f *os.File) {
	// It can fail only for a descriptor without a lock.
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}

// writeID writes the process id at the start of the file.
func writeID(f *os.File) error {
	_, err := fmt.Fprintf(f, "%d\n", os.Getpid())
	return err
}
