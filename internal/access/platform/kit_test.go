// Package platform_test tests access as a part of the platform.
package platform_test

import (
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// expectCode fails unless err is a rejection with the code.
func expectCode(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	if apptest.Code(err) != want {
		t.Errorf("the error is %v, want one of code %v", err, want)
	}
}
