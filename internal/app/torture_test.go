//go:build torture

package app_test

import "testing"

// TestTortureKill kills nodes a hundred times under 32 writers. Every write
// that was answered is there afterwards as it was answered, and every one that
// was not is there once after it was sent again.
func TestTortureKill(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKill(t, 100, nodes, s) })
}
