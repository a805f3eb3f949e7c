//go:build torture

package app_test

import "testing"

// TestTortureMessages kills nodes a hundred times while they send text messages.
// Each reaches the gateway at least once, and again only under the same id.
func TestTortureMessages(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledMessages(t, 100, nodes, s) })
}
