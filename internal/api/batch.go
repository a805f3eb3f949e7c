package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// batches serves the endpoints of batches of tasks.
type batches struct{ *Server }

func (s batches) routes() []edge.Route {
	return edge.Tagged("Tasks",
		edge.Rebuild(edge.Create("/tasks/batch", "Create up to 100 tasks at once", s.createTasks, wire.NewTaskBatch), wire.NewTaskBatchReference, s.rebuildTasks).Bulk().
			Describe("Each task is created or rejected individually. Automatic assignment is not supported, and webhooks are not notified that the tasks were created. Send larger batches to /tasks/batch-async.").
			Example(`{
				"tasks": [
					{
						"destination": {
							"address": {
								"number": "350",
								"street": "5th Avenue",
								"city": "New York",
								"country": "United States"
							},
							"location": [-73.9857, 40.7484]
						},
						"recipients": [
							{
								"name": "Mary Seacole",
								"phone": "+1 212 555 0142"
							}
						],
						"notes": "Ring twice."
					}
				]
			}`),
		edge.Create("/tasks/batch-async", "Create up to 500 tasks in the background", s.submitBatch, wire.NewBatchJob).Bulk().
			Describe("The response is sent when the batch is stored. Its tasks are created afterwards, each exactly once, unassigned and without automatic assignment. Webhooks are not notified of each task; the trigger taskBatchCreateJobCompleted (19) reports the end of the batch.").
			Example(`{
				"tasks": [
					{
						"destination": {
							"address": {
								"number": "350",
								"street": "5th Avenue",
								"city": "New York",
								"country": "United States"
							},
							"location": [-73.9857, 40.7484]
						},
						"recipients": [
							{
								"name": "Mary Seacole",
								"phone": "+1 212 555 0142"
							}
						]
					},
					{
						"destination": "D8sK2lZx9CvB5nMq3WsF7hRt",
						"recipients": [],
						"pickupTask": true
					}
				]
			}`),
		edge.Get("/tasks/batch/{jobId}", "Read the status of a batch", s.showBatch).
			Describe("Counts and errors are updated while the batch is in progress. The tasks are included once the batch has ended, in their state at the time of the request."),
	)
}

func (s batches) createTasks(ctx context.Context, c *edge.Call, body wire.BatchBody) (lastmile.CreatedBatch, error) {
	items, err := body.Items(c.Who.Organization)
	if err != nil {
		return lastmile.CreatedBatch{}, err
	}
	return s.Batches.CreateAll(ctx, c.Who, items)
}

// rebuildTasks responds to a batch that was done before and whose response was too
// large to be kept.
func (s batches) rebuildTasks(ctx context.Context, c *edge.Call, body wire.BatchBody, kept wire.TaskBatchReference) (reply wire.RebuiltTaskBatch, err error) {
	tasks := []wire.Raw[wire.Task]{}
	for _, id := range kept.Tasks {
		task, err := s.Tasks.Show(ctx, c.Who, id)
		switch {
		case lastmile.IsNotFound(err): // deleted since
		case err != nil:
			return reply, err
		default:
			tasks = append(tasks, task)
		}
	}
	return kept.Rebuild(body, tasks), nil
}

func (s batches) submitBatch(ctx context.Context, c *edge.Call, body wire.BatchBody) (made lastmile.CreatedRecord[lastmile.Batch], err error) {
	items, err := body.Items(c.Who.Organization)
	if err != nil {
		return made, err
	}
	return s.Batches.Submit(ctx, c.Who, items)
}

func (s batches) showBatch(ctx context.Context, c *edge.Call) (wire.Batch, error) {
	batch, err := s.Batches.Batch(ctx, c.Who, lastmile.BatchID(c.Path("jobId")))
	return wire.NewBatch(batch, wire.Millis(s.Now())), err
}
