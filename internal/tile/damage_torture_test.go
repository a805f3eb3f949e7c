//go:build torture

package tile_test

import "testing"

func TestTortureBuildMutants(t *testing.T) { buildMutants(t, 10_000) }

func TestTortureDamagedFiles(t *testing.T) { readDamaged(t, 10_000) }
