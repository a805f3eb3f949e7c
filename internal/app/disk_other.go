//go:build !linux && !darwin

package app

// freeDisk is not known on other systems.
func freeDisk(string) (bytes int64, ok bool) { return 0, false }
