package store

import (
	"time"

	"dray/internal/lastmile"
)

// ReplanSchedule describes when the routes of a team will be planned again. Each team for
// which that was ever requested has one.
type ReplanSchedule struct {
	Organization lastmile.OrganizationID
	Team         lastmile.TeamID
	Due          time.Time       // zero if it is not due
	Requested    bool            // there was a request since the last run
	Request      lastmile.Replan // the first request since the last run
	Last         time.Time       // when the last run was started; zero for never
}
