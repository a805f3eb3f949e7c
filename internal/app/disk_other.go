//go:build !linux && !darwin

package app

// diskOf is not known on other systems.
func diskOf(string) (free, total int64, ok bool) { return 0, 0, false }
