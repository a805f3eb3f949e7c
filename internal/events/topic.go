package events

import "dray/internal/lastmile"

// Topic names something that can change and that a client may follow.
type Topic string

// OrganizationTopic is the numbered event log of an organization.
func OrganizationTopic(id lastmile.OrganizationID) Topic { return Topic("o" + id) }

// ListTopic is the list of tasks of a worker.
func ListTopic(id lastmile.WorkerID) Topic { return Topic("l" + id) }

// WorkerTopic is what a recipient sees of a worker: name, vehicle and position.
func WorkerTopic(id lastmile.WorkerID) Topic { return Topic("w" + id) }

// TaskTopic is a task with its estimates.
func TaskTopic(id lastmile.TaskID) Topic { return Topic("t" + id) }

// topicsOf lists what events say has changed.
func topicsOf(events []lastmile.Event) []Topic {
	var topics []Topic
	for _, e := range events {
		switch {
		case e.Task != nil:
			if !e.Trigger.IsCreation() { // a page of a new task cannot be open yet
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
