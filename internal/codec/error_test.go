package codec_test

import (
	"testing"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// Errors in the results of batches are stored by their numbers.
func TestEveryErrorHasANumberThatLeadsBackToItsCode(t *testing.T) {
	for _, code := range lastmile.Codes() {
		kind := codec.ErrorOf(code)
		if got := codec.ErrorCode(int(kind.Number)); got != code || kind.Status < 400 || kind.Class == "" {
			t.Errorf("code %v is shown as %+v, which is read as code %v", code, kind, got)
		}
	}
	if got := codec.ErrorCode(9999); got != lastmile.CodeInternal {
		t.Errorf("an unknown number is read as code %v", got)
	}
}
