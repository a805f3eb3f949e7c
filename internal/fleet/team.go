package fleet

import (
	"context"
	"slices"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// CreateTeam creates a team.
func (f *Fleet) CreateTeam(ctx context.Context, who lastmile.Principal, change lastmile.TeamChange) (lastmile.CreatedRecord[lastmile.Team], error) {
	made, err := lastmile.NewTeam(lastmile.TeamID(f.NewID()), who.Organization, change, f.Now())
	if err != nil {
		return lastmile.CreatedRecord[lastmile.Team]{}, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.CreatedRecord[lastmile.Team], error) {
		team := lastmile.CreatedRecord[lastmile.Team]{Record: made}
		if err := checkTeam(ctx, w, made); err != nil {
			return team, err
		}
		return team, f.saveTeam(ctx, w, made, nil)
	})
}

// UpdateTeam changes a team.
func (f *Fleet) UpdateTeam(ctx context.Context, who lastmile.Principal, id lastmile.TeamID, change lastmile.TeamChange) (team lastmile.Team, err error) {
	now := f.Now()
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if team, err = w.Team(ctx, who.Organization, id); err != nil {
			return err
		}
		managers := team.Managers
		changed, err := team.Update(change, now)
		if err != nil || !changed {
			return err
		}
		if err := checkTeam(ctx, w, team); err != nil {
			return err
		}
		return f.saveTeam(ctx, w, team, managers)
	})
	if err != nil {
		return team, err
	}
	err = f.Store.Read(ctx, func(r Reader) error {
		whole, err := r.Teams(ctx, who.Organization, store.TeamFilter{Name: team.Name})
		for _, same := range whole {
			if same.ID == id {
				team.Tasks = same.Tasks
			}
		}
		return err
	})
	return team, err
}

// saveTeam saves a team. If its managers have changed, the streams of administrators
// who follow only the teams they manage end.
func (f *Fleet) saveTeam(ctx context.Context, w Writer, team lastmile.Team, managers []lastmile.AdminID) error {
	if !slices.Equal(team.Managers, managers) {
		if err := w.RaiseKeyGeneration(ctx); err != nil {
			return err
		}
	}
	f.showChange(w, team.Organization)
	return w.SaveTeam(ctx, team)
}

// showChange wakes the boards of an organization after its teams, hubs or schedules have
// changed.
func (f *Fleet) showChange(w Writer, org lastmile.OrganizationID) {
	f.Events.Publish(w, events.BoardTopic(org))
}

// DeleteTeam deletes a team. Its workers stay, and its tasks move to the
// organization's container.
func (f *Fleet) DeleteTeam(ctx context.Context, who lastmile.Principal, id lastmile.TeamID) error {
	err := f.Store.Read(ctx, func(r Reader) error {
		_, err := r.Team(ctx, who.Organization, id)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.Tasks.Drain(ctx, who, lastmile.TeamContainer(id)); err != nil {
		return err
	}
	return f.Store.Write(ctx, func(w Writer) error {
		team, err := w.Team(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if len(team.Managers) > 0 { // their streams end
			if err := w.RaiseKeyGeneration(ctx); err != nil {
				return err
			}
		}
		if err := f.Tasks.Release(ctx, w, who, lastmile.TeamContainer(id)); err != nil {
			return err
		}
		f.showChange(w, who.Organization)
		return w.DeleteTeam(ctx, who.Organization, id)
	})
}

// ShowTeam returns a team in the form of the API.
func (f *Fleet) ShowTeam(ctx context.Context, who lastmile.Principal, id lastmile.TeamID) ([]byte, error) {
	return f.Documents.Show(ctx, store.Teams, who.Organization, string(id))
}

// Teams returns the teams that have all of the metadata entries.
func (f *Fleet) Teams(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) (teams []lastmile.Team, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		teams, err = r.Teams(ctx, who.Organization, store.TeamFilter{Metadata: metadata, Manager: who.Manager()})
		return err
	})
	return teams, err
}

// checkTeam rejects a team whose name is in use, or that refers to records of
// another organization.
func checkTeam(ctx context.Context, r Reader, t lastmile.Team) error {
	if id, err := r.CheckMembers(ctx, t.Organization, store.Members{Workers: t.Workers, Admins: t.Managers}); err != nil {
		return invalidMember(err, id)
	}
	if t.Hub != "" {
		if _, err := r.Hub(ctx, t.Organization, t.Hub); err != nil {
			return err
		}
	}
	same, err := r.Teams(ctx, t.Organization, store.TeamFilter{Name: t.Name, NoTasks: true})
	if err != nil {
		return err
	}
	for _, other := range same {
		if other.ID != t.ID {
			return lastmile.NotUnique("name", t.Name)
		}
	}
	return nil
}

// invalidMember reports an unknown member as published clients expect it.
func invalidMember(err error, id string) error {
	if lastmile.IsNotFound(err) {
		return lastmile.Invalid("Invalid managers or workers for team").Because("%s does not exist", id)
	}
	return err
}
