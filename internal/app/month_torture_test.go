//go:build torture

package app_test

import "testing"

// TestTortureYear runs a whole node for a simulated year, as TestMonth does for a
// month.
func TestTortureYear(t *testing.T) { testMonths(t, 366) }
