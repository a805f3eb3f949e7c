package store

import (
	"time"

	"dray/internal/lastmile"
)

// ReplanSchedule is when the routes of a team are planned again. There is one for each
// team for which that was ever requested.
type ReplanSchedule struct {
	Organization lastmile.OrganizationID
	Team         lastmile.TeamID
	Due          time.Time       // zero while it is not
	Requested    bool            // since the last run
	Request      lastmile.Replan // the first request since the last run: its cause
	Last         time.Time       // when the last run was started; zero for never
}
