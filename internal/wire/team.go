package wire

import "dray/internal/lastmile"

// Team is a team as the interface shows it.
type Team struct {
	TeamRecord
	TeamLive
	Tasks []lastmile.TaskID `json:"tasks,omitzero"` // not in the answer that creates the team
}

// TeamRecord is the part of a team that only requests change.
type TeamRecord struct {
	ID                   lastmile.TeamID `json:"id"`
	TimeCreated          Millis          `json:"timeCreated"`
	TimeLastModified     Millis          `json:"timeLastModified"`
	Name                 string          `json:"name"`
	EnableSelfAssignment bool            `json:"enableSelfAssignment"`
	Metadata             Metadata        `json:"metadata"`
}

// TeamLive is the part of a team that changes with other records.
type TeamLive struct {
	Workers  []lastmile.WorkerID `json:"workers"`
	Managers []lastmile.AdminID  `json:"managers"`
	Hub      *lastmile.HubID     `json:"hub"` // null when none
}

// NewTeam returns a team in the form that is sent.
func NewTeam(t lastmile.Team) Team {
	made := NewNewTeam(t)
	made.Tasks = orEmpty(t.Tasks)
	return made
}

// NewNewTeam returns a team in the form that answers its creation.
func NewNewTeam(t lastmile.Team) Team {
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

// TeamBody is a team in a request. Clients send null for what they do not
// change.
type TeamBody struct {
	Name                 *string                       `json:"name"`
	Workers              Optional[[]lastmile.WorkerID] `json:"workers"`
	Managers             Optional[[]lastmile.AdminID]  `json:"managers"`
	Hub                  Optional[lastmile.HubID]      `json:"hub"`
	EnableSelfAssignment *bool                         `json:"enableSelfAssignment"`
	Metadata             MetadataUpdate                `json:"metadata"`
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
