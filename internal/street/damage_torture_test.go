//go:build torture

package street_test

import "testing"

func TestTortureDamagedFiles(t *testing.T) { searchDamaged(t, 10_000) }
