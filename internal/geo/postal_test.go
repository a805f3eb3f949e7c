package geo

import "testing"

func TestNormalizePostal(t *testing.T) {
	for code, want := range map[string]string{"sw1a 2aa": "SW1A2AA", "94103-1234": "941031234", " 01305–000 ": "01305000", "—": ""} {
		if got := normalizePostal(code); got != want {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
}
