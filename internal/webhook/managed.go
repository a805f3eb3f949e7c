package webhook

import (
	"encoding/json"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// managed has the teams and workers that an administrator manages.
type managed struct {
	of      lastmile.OrganizationID
	teams   []lastmile.TeamID
	workers []lastmile.WorkerID // members of the teams
}

// assignee has the fields of an event's record that identify to whom it belongs.
type assignee struct {
	Executor  lastmile.OrganizationID `json:"executor"` // of a task
	Worker    lastmile.WorkerID       `json:"worker"`
	Team      lastmile.TeamID         `json:"team"`
	Container struct {
		Type   lastmile.ContainerKind `json:"type"`
		Worker lastmile.WorkerID      `json:"worker"` // the former one while a task moves to another worker
		Team   lastmile.TeamID        `json:"team"`
	} `json:"container"`
}

// seen returns the events that are about the teams.
func (m managed) seen(all []store.LoggedEvent) []store.LoggedEvent {
	return slices.DeleteFunc(slices.Clone(all), func(e store.LoggedEvent) bool { return !m.has(e) })
}

// seenOnBoard returns the events that are about the teams. It also returns events that may
// have moved a task away from the teams, without their bodies. The last event of every
// move is taskUpdated.
func (m managed) seenOnBoard(all []store.LoggedEvent) (found []store.LoggedEvent) {
	for _, e := range all {
		if !m.has(e) {
			if e.Task == "" || e.Trigger != lastmile.TriggerTaskUpdated {
				continue
			}
			e.Body = nil
		}
		found = append(found, e)
	}
	return found
}

// has reports whether an event is about the teams: about a task or a route plan that one
// of them has or that belongs to none, or about one of their workers or dispatches. What
// counts is to whom the record belonged after the event. A task that is placed with another
// organization belongs to no team.
func (m managed) has(e store.LoggedEvent) bool {
	var body struct {
		Data struct {
			Task, RoutePlan, Dispatch *assignee
			Worker                    *struct {
				Teams []lastmile.TeamID `json:"teams"`
			}
		} `json:"data"`
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return false
	}
	switch data := body.Data; {
	case data.Task != nil:
		placed := data.Task.Executor != "" && data.Task.Executor != m.of
		return placed || data.Task.Container.Type == lastmile.InOrganization || m.belongs(*data.Task)
	case data.Worker != nil:
		return slices.ContainsFunc(data.Worker.Teams, m.ofTeam)
	case data.RoutePlan != nil:
		return *data.RoutePlan == assignee{} || m.belongs(*data.RoutePlan)
	case data.Dispatch != nil:
		return m.belongs(*data.Dispatch)
	}
	return false
}

func (m managed) belongs(a assignee) bool {
	return slices.Contains(m.workers, a.Worker) || slices.Contains(m.workers, a.Container.Worker) || m.ofTeam(a.Team) || m.ofTeam(a.Container.Team)
}

func (m managed) ofTeam(id lastmile.TeamID) bool { return slices.Contains(m.teams, id) }
