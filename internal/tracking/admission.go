package tracking

import (
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// Limits of the positions that are accepted. A phone reports one every few seconds. If it
// was without signal for a day, it reports the positions of that day at once.
const (
	phoneBurst        = 20_000
	phoneRate         = 100 // per second, in the long run
	organizationBurst = 50_000
	organizationRate  = 2_000
)

// Admission limits how many positions phones report to this node. Nil has no
// limits.
type Admission struct{ phones, organizations *rate.Limiter }

// NewAdmission returns the limits with nothing used yet.
func NewAdmission(now func() time.Time) *Admission {
	return &Admission{
		phones:        rate.New(rate.Limit{Burst: phoneBurst, PerSecond: phoneRate}, now),
		organizations: rate.New(rate.Limit{Burst: organizationBurst, PerSecond: organizationRate}, now),
	}
}

// admit rejects a report if the worker or the organization has reported too many
// positions. A report without positions counts as one.
func (a *Admission) admit(who lastmile.Principal, positions int) error {
	if a == nil {
		return nil
	}
	phone, n := string(who.Organization)+"/"+string(who.Worker), max(positions, 1)
	if rejected := a.phones.Take(phone, n); rejected != nil {
		return rejected.Because("at most %d positions per second of a worker are taken; keep these and send them again", phoneRate)
	}
	if rejected := a.organizations.Take(string(who.Organization), n); rejected != nil {
		a.phones.Return(phone, n)
		return rejected.Because("at most %d positions per second of an organization are taken; keep these and send them again", organizationRate)
	}
	return nil
}
