//go:build torture

package osm_test

import "testing"

func TestTortureReadMutants(t *testing.T) { readMutants(t, 10_000) }
