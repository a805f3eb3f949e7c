package events

import "dray/internal/lastmile"

// Topic names something that can change and that a client may follow.
type Topic string

// OrganizationTopic is the numbered event log of an organization.
func OrganizationTopic(id lastmile.OrganizationID) Topic { return Topic("o" + id) }

// ListTopic is the list of tasks of a worker.
func ListTopic(id lastmile.WorkerID) Topic { return Topic("l" + id) }

// TeamTopic is the list of tasks of a team, which its workers may claim.
func TeamTopic(id lastmile.TeamID) Topic { return Topic("m" + id) }

// WorkerTopic is the part of a worker that recipients see: name, vehicle and
// position.
func WorkerTopic(id lastmile.WorkerID) Topic { return Topic("w" + id) }

// TaskTopic is a task with its estimates.
func TaskTopic(id lastmile.TaskID) Topic { return Topic("t" + id) }

// BoardTopic is what the boards of an organization show besides events, positions and
// estimates: lists of tasks, teams, hubs and schedules.
func BoardTopic(id lastmile.OrganizationID) Topic { return Topic("b" + id) }

// MoveTopic is the positions of workers of an organization, and the estimates of their
// tasks.
func MoveTopic(id lastmile.OrganizationID) Topic { return Topic("p" + id) }

// topicsOf returns the topics that events have changed.
func topicsOf(events []lastmile.Event) []Topic {
	var topics []Topic
	for _, e := range events {
		switch {
		case e.Task != nil:
			if !e.Trigger.IsCreation() { // no client can follow a new task yet
				topics = append(topics, TaskTopic(e.Task.ID))
			}
			if e.Task.Worker != "" {
				topics = append(topics, ListTopic(e.Task.Worker))
			}
		case e.Worker != nil:
			topics = append(topics, WorkerTopic(e.Worker.ID))
		}
	}
	return topics
}
