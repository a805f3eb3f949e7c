package wire

import "dray/internal/lastmile"

// Team is a team.
type Team struct {
	TeamRecord
	TeamLive
	// IDs of the team's tasks. Not included in the response to the creation of the team.
	Tasks []lastmile.TaskID `json:"tasks,omitzero" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
}

// TeamRecord is the part of a team that changes only when a request changes it.
type TeamRecord struct {
	// ID of the team.
	ID lastmile.TeamID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the team was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the team was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name of the team.
	Name string `json:"name" example:"Downtown"`
	// Whether workers of the team may assign its tasks to themselves.
	EnableSelfAssignment bool `json:"enableSelfAssignment"`
	// Metadata of the team: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
}

// TeamLive is the part of a team that changes with other records.
type TeamLive struct {
	// IDs of the workers in the team.
	Workers []lastmile.WorkerID `json:"workers" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// IDs of the administrators who manage the team.
	Managers []lastmile.AdminID `json:"managers" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// ID of the hub where the team's routes start and end; null if there is none.
	Hub *lastmile.HubID `json:"hub" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
}

// NewTeam returns a team in its wire form.
func NewTeam(t lastmile.Team) Team {
	made := newTeam(t)
	made.Tasks = OrEmpty(t.Tasks)
	return made
}

// NewCreatedTeam returns the response to the creation of a team.
func NewCreatedTeam(made lastmile.CreatedRecord[lastmile.Team]) Team { return newTeam(made.Record) }

func newTeam(t lastmile.Team) Team {
	return Team{
		TeamRecord: NewTeamRecord(t),
		TeamLive:   TeamLive{Workers: OrEmpty(t.Workers), Managers: OrEmpty(t.Managers), Hub: OrNull(t.Hub)},
	}
}

// NewTeamRecord returns the stored part of a team.
func NewTeamRecord(t lastmile.Team) TeamRecord {
	return TeamRecord{
		ID: t.ID, TimeCreated: Millis(t.Created), TimeLastModified: Millis(t.Modified), Name: t.Name,
		EnableSelfAssignment: t.EnableSelfAssignment, Metadata: NewMetadata(t.Metadata),
	}
}

// Domain returns the stored part of the team that the wire form represents.
func (r TeamRecord) Domain(org lastmile.OrganizationID) lastmile.Team {
	return lastmile.Team{
		ID: r.ID, Organization: org, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(), Name: r.Name,
		EnableSelfAssignment: r.EnableSelfAssignment, Metadata: r.Metadata.Domain(),
	}
}

// NewTeamBody is the body of a request to create a team.
type NewTeamBody struct {
	_ struct{} `required:"name,workers,managers"`
	TeamBody
}

// TeamBody is the body of a request to update a team.
//
// Clients send null for lists that they do not change.
type TeamBody struct {
	// Name of the team.
	Name *string `json:"name"`
	// IDs of the workers in the team.
	Workers Optional[[]lastmile.WorkerID] `json:"workers"`
	// IDs of the administrators who manage the team.
	Managers Optional[[]lastmile.AdminID] `json:"managers" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// ID of the hub where the team's routes start and end; null if there is none.
	Hub Optional[lastmile.HubID] `json:"hub" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// Whether workers of the team may assign its tasks to themselves.
	EnableSelfAssignment *bool `json:"enableSelfAssignment"`
	// Metadata of the team: an array replaces all entries; an object sets entries with $set and
	// removes entries by name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Draft returns the team to create. A null list is an empty list.
func (b TeamBody) Draft() (lastmile.TeamChange, error) {
	change, err := b.change()
	change.Workers, change.Managers = b.Workers.pointer(), b.Managers.pointer()
	return change, err
}

// Change returns the requested change of a team. Null for a list changes nothing, and neither
// does an empty name, which a published client sends if it does not change the name.
func (b TeamBody) Change() (lastmile.TeamChange, error) {
	change, err := b.change()
	if orZero(b.Name) == "" {
		change.Name = nil
	}
	if b.Workers.Set() {
		change.Workers = &b.Workers.Value
	}
	if b.Managers.Set() {
		change.Managers = &b.Managers.Value
	}
	return change, err
}

func (b TeamBody) change() (lastmile.TeamChange, error) {
	change := lastmile.TeamChange{
		Name: b.Name, Hub: b.Hub.pointer(), EnableSelfAssignment: b.EnableSelfAssignment, Metadata: b.Metadata.Domain(),
	}
	if b.Hub.Set() && b.Hub.Value == "" {
		return change, lastmile.Malformed("hub must be the id of a hub, or null for none, not an empty string")
	}
	return change, nil
}
