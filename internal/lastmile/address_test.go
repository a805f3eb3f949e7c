package lastmile_test

import (
	"encoding/json"
	"os"
	"testing"

	"dray/internal/lastmile"
)

// The dashboard formats the addresses of events in the same way as the board. Its tests read
// the same file.
func TestAddressLine(t *testing.T) {
	data, err := os.ReadFile("testdata/lines.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests []struct {
		Address lastmile.Address
		Line    string
	}
	if err := json.Unmarshal(data, &tests); err != nil {
		t.Fatal(err)
	}
	if len(tests) == 0 {
		t.Fatal("no addresses")
	}
	for _, tt := range tests {
		if got := tt.Address.Line(); got != tt.Line {
			t.Errorf("got %q, want %q", got, tt.Line)
		}
	}
}
