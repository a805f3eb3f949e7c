//go:build linux || darwin

package installation

import "syscall"

// DiskOf returns how many bytes can be written to the disk of a folder, and its size.
func DiskOf(folder string) (free, total int64, ok bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), int64(disk.Blocks) * int64(disk.Bsize), true
}
