package app

import (
	"testing"

	"dray/internal/work"
)

func TestDispatchLimits(t *testing.T) {
	for _, tt := range []struct {
		processors int
		memory     int64
		want       work.Limits
	}{
		{1, 64 << 30, work.Limits{Total: 1, PerOrganization: 1}},
		{2, 64 << 30, work.Limits{Total: 1, PerOrganization: 1}},
		{16, 64 << 30, work.Limits{Total: 8, PerOrganization: 4}},
		{16, 1 << 30, work.Limits{Total: 2, PerOrganization: 1}},
		{16, 100 << 20, work.Limits{Total: 1, PerOrganization: 1}},
	} {
		if got := dispatchLimits(tt.processors, tt.memory); got != tt.want {
			t.Errorf("%d processors and %d bytes: %+v, want %+v", tt.processors, tt.memory, got, tt.want)
		}
	}
}
