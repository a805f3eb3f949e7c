//go:build torture

package app_test

import "testing"

// TestTortureKill kills nodes a hundred times under 32 writers. Every acknowledged
// write is stored as acknowledged; every other write is stored once after it was
// retried.
func TestTortureKill(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKill(t, 100, nodes, s) })
}
