//go:build torture

package app_test

import "testing"

// TestTortureMessages kills nodes a hundred times while they send text messages.
// Each message reaches the gateway at least once, always with the same id.
func TestTortureMessages(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledMessages(t, 100, nodes, s) })
}
