package wire

import "dray/internal/lastmile"

// Team is a team.
type Team struct {
	TeamRecord
	TeamLive
	// Ids of the team's tasks. Not in the response that creates the team.
	Tasks []lastmile.TaskID `json:"tasks,omitzero" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
}

// TeamRecord is the part of a team that only requests change.
type TeamRecord struct {
	// Id of the record.
	ID lastmile.TeamID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name.
	Name string `json:"name" example:"Downtown"`
	// Workers of the team may take its tasks on their own.
	EnableSelfAssignment bool `json:"enableSelfAssignment"`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
}

// TeamLive is the part of a team that changes with other records.
type TeamLive struct {
	// Ids of the team's workers.
	Workers []lastmile.WorkerID `json:"workers" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Ids of the administrators who manage the team.
	Managers []lastmile.AdminID `json:"managers" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// Id of the hub where the team's routes start and end; null when none.
	Hub *lastmile.HubID `json:"hub" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
}

// NewTeam returns a team in the form that is sent.
func NewTeam(t lastmile.Team) Team {
	made := newTeam(t)
	made.Tasks = orEmpty(t.Tasks)
	return made
}

// NewCreatedTeam returns a team in the form that responds to its creation.
func NewCreatedTeam(made lastmile.CreatedRecord[lastmile.Team]) Team { return newTeam(made.Record) }

func newTeam(t lastmile.Team) Team {
	return Team{
		TeamRecord: NewTeamRecord(t),
		TeamLive:   TeamLive{Workers: orEmpty(t.Workers), Managers: orEmpty(t.Managers), Hub: orNull(t.Hub)},
	}
}

// NewTeamRecord returns the lasting part of a team.
func NewTeamRecord(t lastmile.Team) TeamRecord {
	return TeamRecord{
		ID: t.ID, TimeCreated: Millis(t.Created), TimeLastModified: Millis(t.Modified), Name: t.Name,
		EnableSelfAssignment: t.EnableSelfAssignment, Metadata: NewMetadata(t.Metadata),
	}
}

// Domain returns the lasting part of the team that the form shows.
func (r TeamRecord) Domain(org lastmile.OrganizationID) lastmile.Team {
	return lastmile.Team{
		ID: r.ID, Organization: org, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(), Name: r.Name,
		EnableSelfAssignment: r.EnableSelfAssignment, Metadata: r.Metadata.Domain(),
	}
}

// NewTeamBody is a team, as sent.
type NewTeamBody struct {
	_ struct{} `required:"name,workers,managers"`
	TeamBody
}

// TeamBody is a team, as sent.
//
// Clients send null for what they do not change.
type TeamBody struct {
	// Name.
	Name *string `json:"name"`
	// Ids of the team's workers.
	Workers Optional[[]lastmile.WorkerID] `json:"workers"`
	// Ids of the administrators who manage the team.
	Managers Optional[[]lastmile.AdminID] `json:"managers" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// Id of the hub where the team's routes start and end; null when none.
	Hub Optional[lastmile.HubID] `json:"hub" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// Workers of the team may take its tasks on their own.
	EnableSelfAssignment *bool `json:"enableSelfAssignment"`
	// An array takes the place of all entries; an object sets entries with $set and removes them by
	// name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Draft returns what a request to create a team asks for: null is an empty
// list.
func (b TeamBody) Draft() (lastmile.TeamChange, error) {
	change, err := b.change()
	change.Workers, change.Managers = b.Workers.pointer(), b.Managers.pointer()
	return change, err
}

// Change returns what a request to change a team asks for: a null list leaves
// the members as they are, and so does an empty name, which a published client
// sends for none.
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
