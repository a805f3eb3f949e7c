package wire_test

import (
	"testing"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestErrorsOfAClone(t *testing.T) {
	overrides := &wire.TaskBody{}
	for name, test := range map[string]struct {
		body          wire.CloneBody
		message, want string
	}{
		"no overrides":         {wire.CloneBody{}, "customFields is too long", "customFields is too long"},
		"options only":         {wire.CloneBody{Options: &wire.CloneOptions{}}, "notes is too long", "notes is too long"},
		"overrides":            {wire.CloneBody{CloneOptions: wire.CloneOptions{Overrides: overrides}}, "notes is too long", "overrides.notes is too long"},
		"overrides in options": {wire.CloneBody{Options: &wire.CloneOptions{Overrides: overrides}}, "barcodes[0].data is", "options.overrides.barcodes[0].data is"},
		"not about a field":    {wire.CloneBody{Options: &wire.CloneOptions{Overrides: overrides}}, "task t is active", "task t is active"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.body.LocateError(lastmile.Invalid("%s", test.message))
			if got := err.Error(); got != lastmile.Invalid("%s", test.want).Error() {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
