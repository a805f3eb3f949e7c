//go:build torture

package app_test

import "testing"

// TestTortureBatches kills nodes fifty times in the middle of batches of 500
// tasks.
func TestTortureBatches(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledBatches(t, 50, nodes, s) })
}
