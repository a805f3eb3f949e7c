//go:build linux || darwin

package app

import "syscall"

// freeDisk returns how many bytes can be written to the disk of a folder.
func freeDisk(folder string) (bytes int64, ok bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), true
}
