//go:build torture

package contract_test

import "testing"

// TestTortureSequences is TestSequenceContract for longer.
func TestTortureSequences(t *testing.T) {
	liveThrough(t, 40, 250)
}
