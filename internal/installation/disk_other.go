//go:build !linux && !darwin

package installation

// DiskOf is not known on other systems.
func DiskOf(string) (free, total int64, ok bool) { return 0, 0, false }
