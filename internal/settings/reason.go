package settings

import (
	"slices"
	"strings"

	"dray/internal/lastmile"
)

// parseReasons returns reasons as they are stored. All in their order are the default,
// so that those of a later version are offered as well.
func parseReasons(sent []string) (string, error) {
	known := make([]string, len(lastmile.FailureReasons))
	for i, reason := range lastmile.FailureReasons {
		known[i] = string(reason)
	}
	names := strings.Join(known, ", ")
	if len(sent) == 0 {
		return "", lastmile.Invalid("failureReasons must have at least one of %s", names)
	}
	for i, code := range sent {
		if !slices.Contains(known, code) {
			return "", lastmile.Invalid("failureReasons[%d] must be one of %s, not %q", i, names, lastmile.Truncate(code, 64))
		}
		if slices.Contains(sent[:i], code) {
			return "", lastmile.Invalid("failureReasons[%d] is %s, which is in the list already", i, code)
		}
	}
	if slices.Equal(sent, known) {
		return "", nil
	}
	return strings.Join(sent, ","), nil
}
