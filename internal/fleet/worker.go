package fleet

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// RoutingAddress is the address at which a worker's routes may end, as sent: the id of a
// destination, or a draft of one.
type RoutingAddress struct {
	ID    lastmile.DestinationID
	Draft *lastmile.DestinationDraft
}

// WorkerDraft is a worker as sent, to create or to change one.
type WorkerDraft struct {
	lastmile.WorkerDraft
	Routing *RoutingAddress // nil leaves it unchanged
}

// CreateWorker creates a worker and sends a temporary password by text message.
func (f *Fleet) CreateWorker(ctx context.Context, who lastmile.Principal, draft WorkerDraft) (lastmile.Worker, error) {
	if err := draft.Check(); err != nil {
		return lastmile.Worker{}, err
	}
	org, err := f.organization(ctx, who)
	if err != nil {
		return lastmile.Worker{}, err
	}
	phone, err := f.ParsePhone(draft.Phone, org.Country)
	if err != nil {
		return lastmile.Worker{}, err
	}
	routing, err := f.locate(ctx, who, draft.Routing)
	if err != nil {
		return lastmile.Worker{}, err
	}
	now := f.Now()
	made, err := lastmile.NewWorker(lastmile.WorkerID(f.NewID()), org.ID, draft.WorkerDraft, phone, lastmile.VehicleID(f.NewID()), now)
	if err != nil {
		return lastmile.Worker{}, err
	}
	if err := f.Invitations.Check(ctx, org.ID, phone); err != nil {
		return lastmile.Worker{}, err
	}
	invite := f.invitation(org, made, now)
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Worker, error) {
		worker := made
		if worker.Routing, err = routing.save(ctx, w, who); err != nil {
			return worker, err
		}
		if err := checkNewWorker(ctx, w, worker); err != nil {
			return worker, err
		}
		if err := w.SaveWorker(ctx, worker); err != nil {
			return worker, err
		}
		if err := invite(ctx, w); err != nil {
			return worker, err
		}
		return worker, f.appendEvent(ctx, w, who, lastmile.TriggerWorkerCreated, worker, now)
	})
}

func checkNewWorker(ctx context.Context, r Reader, worker lastmile.Worker) error {
	if err := checkTeams(ctx, r, worker.Organization, worker.Teams); err != nil {
		return err
	}
	same, err := r.Workers(ctx, worker.Organization, store.WorkerFilter{Phones: []lastmile.Phone{worker.Phone}, NoTasks: true})
	if err != nil {
		return err
	}
	if len(same) > 0 {
		return lastmile.Duplicate("phone", string(worker.Phone))
	}
	return nil
}

// UpdateWorker changes a worker.
func (f *Fleet) UpdateWorker(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, draft WorkerDraft) (worker lastmile.Worker, err error) {
	routing, err := f.locate(ctx, who, draft.Routing)
	if err != nil {
		return worker, err
	}
	vehicle, now := lastmile.VehicleID(f.NewID()), f.Now()
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if worker, err = w.Worker(ctx, who.Organization, id); err != nil {
			return err
		}
		change := draft.Change
		if change.Routing, err = routing.unless(worker.Routing).save(ctx, w, who); err != nil {
			return err
		}
		changed, err := worker.Update(change, vehicle, now)
		if err != nil {
			return err
		}
		if change.Teams != nil {
			if err := checkTeams(ctx, w, who.Organization, worker.Teams); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		if change.Teams != nil {
			f.showChange(w, who.Organization)
		}
		if err := w.SaveWorker(ctx, worker); err != nil {
			return err
		}
		return f.appendEvent(ctx, w, who, lastmile.TriggerWorkerUpdated, worker, now)
	})
	if err != nil {
		return worker, err
	}
	return worker, f.addTasks(ctx, &worker)
}

// appendEvent stores an event of a worker.
func (f *Fleet) appendEvent(ctx context.Context, w Writer, who lastmile.Principal, trigger lastmile.Trigger, worker lastmile.Worker, now time.Time) error {
	return f.Events.Append(ctx, w, lastmile.Event{
		Organization: who.Organization, Trigger: trigger, At: now, Actor: who.Actor(), Worker: &worker,
	})
}

// DeleteWorker deletes a worker who has no active task, and unassigns the worker's
// other tasks. A job deletes the positions, which may be very many.
func (f *Fleet) DeleteWorker(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) error {
	now := f.Now()
	err := f.Store.Read(ctx, func(r Reader) error {
		_, err := deletable(ctx, r, who, id)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.Tasks.Drain(ctx, who, lastmile.WorkerContainer(id)); err != nil {
		return err
	}
	return f.Store.Write(ctx, func(w Writer) error {
		worker, err := deletable(ctx, w, who, id)
		if err != nil {
			return err
		}
		if err := f.Tasks.Release(ctx, w, who, lastmile.WorkerContainer(id)); err != nil {
			return err
		}
		if err := deleteImage(ctx, w, worker); err != nil {
			return err
		}
		if err := w.DeleteWorker(ctx, who.Organization, id); err != nil {
			return err
		}
		if err := w.AddJob(ctx, work.Job{Organization: who.Organization, ID: string(id), Kind: Clearing, Due: now, Created: now}); err != nil {
			return err
		}
		return f.appendEvent(ctx, w, who, lastmile.TriggerWorkerDeleted, worker, now)
	})
}

// deletable reads a worker who must have no active task.
func deletable(ctx context.Context, r Reader, who lastmile.Principal, id lastmile.WorkerID) (lastmile.Worker, error) {
	worker, err := r.Worker(ctx, who.Organization, id)
	if err == nil && worker.ActiveTask != "" {
		err = lastmile.Invalid("worker %s is on the active task %s: complete it before deleting the worker", id, worker.ActiveTask)
	}
	return worker, err
}

// checkTeams rejects teams that are not the organization's.
func checkTeams(ctx context.Context, r Reader, org lastmile.OrganizationID, ids []lastmile.TeamID) error {
	_, err := r.CheckMembers(ctx, org, store.Members{Teams: ids})
	return err
}

// located is a geocoded routing address.
type located struct {
	id   lastmile.DestinationID
	made *lastmile.Destination
}

func (f *Fleet) locate(ctx context.Context, who lastmile.Principal, a *RoutingAddress) (located, error) {
	switch {
	case a == nil:
		return located{}, nil
	case a.Draft == nil:
		return located{id: a.ID}, nil
	}
	made, err := f.Places.Locate(ctx, who, "addresses.routing.", *a.Draft)
	return located{made: &made}, err
}

// unless returns no address if the worker has the same one already.
func (l located) unless(current *lastmile.Destination) located {
	if current != nil && (l.id == current.ID || l.made != nil && current.SamePlace(*l.made)) {
		return located{}
	}
	return l
}

// save saves a new destination, or reads the one with the id that was sent. It
// returns nil if none was sent.
func (l located) save(ctx context.Context, w Writer, who lastmile.Principal) (*lastmile.Destination, error) {
	switch {
	case l.made != nil:
		return l.made, w.SaveDestination(ctx, *l.made)
	case l.id != "":
		found, err := w.Destination(ctx, who.Organization, l.id)
		return &found, err
	}
	return nil, nil
}
