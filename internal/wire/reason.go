package wire

import (
	"strings"

	"dray/internal/lastmile"
)

// FailureReasons returns the reasons for failures that workers can choose from, in order. The
// server accepts every reason, because an offline phone may send one that could be chosen
// days ago.
func FailureReasons(s lastmile.Settings) []string {
	if s.FailureReasons != "" {
		return strings.Split(s.FailureReasons, ",")
	}
	return Each(lastmile.FailureReasons, func(r lastmile.FailureReason) string { return string(r) })
}
