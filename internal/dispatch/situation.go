package dispatch

import (
	"context"
	"maps"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/store"
)

// readSituation reads the input of a dispatch.
func readSituation(ctx context.Context, r Reader, d lastmile.Dispatch, now time.Time) (s planning.Situation, err error) {
	s = planning.Situation{Options: d.Options, Now: now, Completed: map[lastmile.TaskID]bool{}, Pins: map[lastmile.TaskID]lastmile.Pin{}}
	if d.Replan != nil {
		s.AnyVehicle, s.Between = true, d.Replan.Between
	}
	workers, err := readCrew(ctx, r, d, &s)
	if err != nil {
		return s, err
	}
	held := 0 // tasks that workers who take part have
	for _, worker := range workers {
		c := planning.Candidate{Worker: worker, Unread: worker.Route()}
		schedule, err := r.Schedule(ctx, d.Organization, worker.ID)
		if err != nil {
			return s, err
		}
		c.Schedule = planning.Relevant(schedule, d.Options.ScheduleWindow) // a year of shifts takes megabytes
		pins, err := r.Pins(ctx, d.Organization, worker.ID)
		if err != nil {
			return s, err
		}
		maps.Copy(s.Pins, pins)
		takesPart := s.TakesPart(c)
		if takesPart { // with at most planning.MaxTasksPerRoute tasks
			held += len(c.Unread)
		}
		if takesPart && held <= planning.MaxTasks { // NewModel rejects more
			if c.Tasks, err = r.TasksOf(ctx, d.Organization, c.Unread); err != nil {
				return s, err
			}
			c.Tasks, c.Unread = slim(c.Tasks), nil
		}
		s.Candidates = append(s.Candidates, c)
	}
	return s, readDependencies(ctx, r, d.Organization, &s)
}

// readCrew reads the workers of a dispatch, and its hubs and tasks.
func readCrew(ctx context.Context, r Reader, d lastmile.Dispatch, s *planning.Situation) ([]lastmile.Worker, error) {
	if id, ok := planning.EndHub(d.Options.RouteEnd); ok {
		hub, err := r.Hub(ctx, d.Organization, id)
		if err != nil {
			return nil, err
		}
		s.EndHub = &hub
	}
	if d.Worker != "" {
		worker, err := r.WholeWorker(ctx, d.Organization, d.Worker)
		return []lastmile.Worker{worker}, err
	}
	team, err := r.Team(ctx, d.Organization, d.Team)
	if err != nil {
		return nil, err
	}
	if team.Hub != "" {
		hub, err := r.Hub(ctx, d.Organization, team.Hub)
		if err != nil {
			return nil, err
		}
		s.Hub = &hub
	}
	list, err := r.Container(ctx, d.Organization, lastmile.TeamContainer(d.Team))
	if err != nil {
		return nil, err
	}
	if d.Replan != nil && !d.Replan.Assign {
		list.Tasks = nil
	}
	for chunk := range slices.Chunk(list.Tasks, readChunk) {
		tasks, err := r.TasksOf(ctx, d.Organization, chunk)
		if err != nil {
			return nil, err
		}
		s.Tasks = append(s.Tasks, slim(slices.DeleteFunc(tasks, func(t lastmile.Task) bool { return !planning.Considers(d.Options, t) }))...)
		if len(s.Tasks) > planning.MaxTasks {
			break // NewModel rejects it
		}
	}
	return r.Workers(ctx, d.Organization, store.WorkerFilter{Teams: []lastmile.TeamID{d.Team}, OnDuty: true})
}

// slim removes the fields of tasks on which no plan depends: the notes and metadata of
// thousands of tasks may take more memory than everything else.
func slim(tasks []lastmile.Task) []lastmile.Task {
	for i := range tasks {
		t := &tasks[i]
		t.Notes, t.Metadata, t.CustomFields, t.Barcodes, t.History = "", nil, nil, lastmile.Barcodes{}, nil
	}
	return tasks
}

// readChunk is the number of tasks that are read at a time: a team may have many more than
// a dispatch considers.
const readChunk = 200

// readDependencies reads which tasks that others depend on are completed, and who has what
// was picked up.
func readDependencies(ctx context.Context, r Reader, org lastmile.OrganizationID, s *planning.Situation) error {
	var ids []lastmile.TaskID
	for _, t := range s.Tasks {
		for _, id := range t.Dependencies {
			if !s.Completed[id] {
				s.Completed[id] = true
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	unfinished, err := r.Unfinished(ctx, org, ids)
	if err != nil {
		return err
	}
	for _, id := range unfinished {
		delete(s.Completed, id)
	}
	if len(s.Completed) > 0 {
		s.Carriers, err = r.Carriers(ctx, org, slices.Collect(maps.Keys(s.Completed)))
	}
	return err
}
