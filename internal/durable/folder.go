// Package durable makes changes of files survive a power cut.
package durable

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// SyncFolder makes the entries of a folder durable: files that were created in it, renamed or
// removed.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" { // cannot sync a folder
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
