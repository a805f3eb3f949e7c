package planning

import (
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// maxReasons is the approximate number of reasons that a plan lists. If many tasks are left
// out, only the workers who come closest are listed, and the others are counted.
const maxReasons = 5_000

// explain adds the reasons for which the solution leaves out tasks to a plan.
func (m *Model) explain(p *lastmile.DispatchPlan, s *optimize.Solution) {
	if len(m.crew) == 0 && len(m.excluded) == 0 {
		m.excluded = []lastmile.DispatchReason{{Rule: lastmile.RuleSchedule, Detail: "no worker is on duty"}}
	}
	held, others := optimize.NewExplainer(&m.Problem, s), optimize.NewExplainer(asScheduled(m), s)
	apart, severals := newUnits(m, asScheduled(m), s), map[int][]int{} // by stop: the drop-offs of its group
	for _, group := range others.Groups() {
		if dropOffs := several(m, group); dropOffs != nil {
			for _, stop := range group {
				severals[stop] = dropOffs
			}
		}
	}
	first := len(p.Unplanned) - len(s.Unserved)
	for i, stop := range s.Unserved {
		why, most := held, max(maxReasons/len(s.Unserved), 3)
		if m.holder[stop] < 0 {
			why = others
		}
		explained := why.Explain(stop)
		if m.extra[stop].atStart {
			explained = withLoad(m, stop, s, explained)
		} else if dropOffs := severals[stop]; dropOffs != nil {
			if alone := apart.explain(s, stop, dropOffs); !isFeasible(alone) {
				explained = alone
			}
		}
		p.Unplanned[first+i].Reasons = shorten(append(m.reasons(explained, stop), m.excluded...), most)
	}
}

// isFeasible reports whether nothing speaks against a stop for one of the vehicles.
func isFeasible(explained []optimize.Explanation) bool {
	return slices.ContainsFunc(explained, func(e optimize.Explanation) bool { return len(e.Reasons) == 0 })
}

// withLoad explains why a drop-off is left out if its pickup loads what it delivers. If there would
// be room for that, the explanation is that it is on board from the start.
func withLoad(m *Model, stop int, s *optimize.Solution, atStart []optimize.Explanation) []optimize.Explanation {
	p := asScheduled(m)
	loadAtStart(m, p, stop, false)
	explained := optimize.NewExplainer(p, s).Explain(stop)
	loadAtStart(m, p, stop, true)
	if isFeasible(explained) {
		return atStart
	}
	return explained
}

// reasons returns why each worker cannot do a task, the workers who come closest first.
func (m *Model) reasons(explained []optimize.Explanation, stop int) []lastmile.DispatchReason {
	slices.SortStableFunc(explained, func(a, b optimize.Explanation) int { return len(a.Reasons) - len(b.Reasons) })
	var all []lastmile.DispatchReason
	for _, e := range explained {
		if m.isOtherShift(e.Vehicle, stop) {
			continue
		}
		for _, r := range e.Reasons {
			all = append(all, m.reason(e.Vehicle, stop, r))
		}
	}
	return all
}

// isOtherShift reports whether a stop belongs on another shift of the worker of a vehicle.
func (m *Model) isOtherShift(vehicle, stop int) bool {
	allowed := m.open[stop]
	return !slices.Contains(allowed, vehicle) && slices.ContainsFunc(allowed, func(v int) bool { return m.owner[v] == m.owner[vehicle] })
}

// shorten replaces the reasons beyond the first ones with their number by rule.
func shorten(all []lastmile.DispatchReason, most int) []lastmile.DispatchReason {
	if len(all) <= most {
		return all
	}
	count := map[lastmile.DispatchRule]int{}
	for _, r := range all[most:] {
		count[r.Rule]++
	}
	all = all[:most:most]
	for _, rule := range lastmile.DispatchRule("").Values() {
		if n := count[rule]; n > 0 {
			all = append(all, lastmile.DispatchReason{Rule: rule, Detail: fmt.Sprintf("also %d other workers", n)})
		}
	}
	return all
}

// rules maps the rules of the optimizer to those of a dispatch.
var rules = map[optimize.Rule]lastmile.DispatchRule{
	optimize.RuleWindow: lastmile.RuleWindow, optimize.RuleCapacity: lastmile.RuleCapacity, optimize.RuleDistance: lastmile.RuleDistance,
	optimize.RuleSchedule: lastmile.RuleSchedule, optimize.RuleFilter: lastmile.RuleFilter, optimize.RuleLength: lastmile.RuleRouteLength,
	optimize.RuleOrder: lastmile.RuleDependency,
}

// reason describes a rule that the route of a vehicle would break.
func (m *Model) reason(vehicle, stop int, r optimize.Reason) lastmile.DispatchReason {
	at := ""
	if r.Stop != optimize.None && r.Stop != stop {
		at = fmt.Sprintf("task %s would have ", m.tasks[r.Stop].ID)
	}
	rule, detail := rules[r.Rule], ""
	switch r.Rule {
	case optimize.RuleWindow:
		late := m.Problem.Stops[r.Stop].MaxLateness
		if r.Limit < m.Problem.Stops[r.Stop].Latest+late {
			rule = lastmile.RuleDependency
			detail = fmt.Sprintf("%searliest start %s, latest %s because of a task on another route that depends on it", at, m.clock(r.Got), m.clock(r.Limit))
			break
		}
		detail = fmt.Sprintf("%searliest start %s, latest %s + %.0f min", at, m.clock(r.Got), m.clock(r.Limit-late), (time.Duration(late) * time.Second).Minutes())
	case optimize.RuleCapacity:
		got := max(m.amount(r.Got, r.Dimension), amounts(m.tasks[stop].Quantity, m.tasks[stop].AdditionalQuantities)[r.Dimension])
		detail = fmt.Sprintf("%s %g of %g", [...]string{"capacity", "capacityA", "capacityB", "capacityC"}[r.Dimension], got, m.amount(m.strict[vehicle].Capacity[r.Dimension], r.Dimension))
	case optimize.RuleSchedule:
		detail = fmt.Sprintf("the route would end at %s, the shift ends at %s", m.clock(r.Got), m.clock(m.strict[vehicle].ShiftEnd))
	case optimize.RuleLength:
		detail = fmt.Sprintf("%d tasks, at most %d", r.Got, r.Limit)
	case optimize.RuleDistance:
		switch r.Stop {
		case stop:
			detail = "no way to the task"
		case optimize.None:
			detail = "no way to the end of the route"
		default:
			detail = fmt.Sprintf("no way to task %s", m.tasks[r.Stop].ID)
		}
	case optimize.RuleFilter:
		detail = "the task belongs on the route of another worker"
		if len(m.open[r.Stop]) == 0 && m.holder[r.Stop] < 0 {
			detail = "the task does not fit on the route where it belongs"
		}
	case optimize.RuleOrder:
		detail = "the task would come before one that it depends on, or before the active task"
		if slices.Contains(m.tasks[stop].Dependencies, m.tasks[r.Stop].ID) {
			detail = fmt.Sprintf("depends on task %s, which is left out", m.tasks[r.Stop].ID)
		}
	case optimize.RulePrize:
	}
	return lastmile.DispatchReason{Worker: m.crew[m.owner[vehicle]].Worker.ID, Rule: rule, Detail: detail}
}

// clock formats a time of the optimizer.
func (m *Model) clock(n int) string { return clock(m.at(n), m.Origin) }

// amount converts a load of the optimizer to the units of quantities.
func (m *Model) amount(n, dimension int) float64 {
	if m.scale[dimension] == 0 {
		return 0
	}
	return float64(n) / m.scale[dimension]
}
