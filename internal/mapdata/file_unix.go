//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mapdata

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// mapFile maps a file into memory, read-only.
func mapFile(path string) (content []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 || int64(int(info.Size())) != info.Size() {
		return nil, nil, fmt.Errorf("%s has %d bytes, which cannot be mapped", path, info.Size())
	}
	content, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return content, func() error { return syscall.Munmap(content) }, nil
}

// lockFile locks a file until it is closed or the process ends.
func lockFile(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
