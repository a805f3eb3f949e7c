package web_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"dray/internal/lastmile"
)

// The driver app offers the failure reasons of the domain, and no others.
func TestTheAppHasTheFailureReasonsOfTheDomain(t *testing.T) {
	words, err := os.ReadFile("../../web/src/driver/words.ts")
	if err != nil {
		t.Fatal(err)
	}
	var offered []lastmile.FailureReason
	for _, found := range regexp.MustCompile(`(?m)^\s*reason([A-Z_]+):`).FindAllSubmatch(words, -1) {
		offered = append(offered, lastmile.FailureReason(found[1]))
	}
	want := slices.Sorted(slices.Values(lastmile.FailureReasons))
	if slices.Sort(offered); !slices.Equal(offered, want) {
		t.Errorf("the app offers %q, the domain has %q", offered, want)
	}
}
