//go:build torture

package app_test

import "testing"

// TestTortureNotifications kills nodes a hundred times while they send
// notifications. Each arrives at least once, always with the same id, and the log
// of attempts is complete.
func TestTortureNotifications(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledNotifications(t, 100, nodes, s) })
}
