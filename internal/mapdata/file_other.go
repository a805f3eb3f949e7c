//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package mapdata

import (
	"io"
	"os"
)

// mapFile reads a file: memory is not shared with other processes.
func mapFile(path string) (content []byte, unmap func() error, err error) {
	content, err = os.ReadFile(path)
	return content, func() error { return nil }, err
}

// lockFile does not lock: two imports at a time delete each other's files, and the
// later one fails or wins.
func lockFile(path string) (io.Closer, error) { return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) }
