package wire

import "dray/internal/lastmile"

// Destination is a destination as the interface shows it.
type Destination struct {
	ID               lastmile.DestinationID `json:"id"`
	TimeCreated      Millis                 `json:"timeCreated"`
	TimeLastModified Millis                 `json:"timeLastModified"`
	Location         LonLat                 `json:"location"`
	Address          Address                `json:"address"`
	Notes            string                 `json:"notes"` // "" when none
	Metadata         Metadata               `json:"metadata"`
	GooglePlaceID    *string                `json:"googlePlaceId"` // null when Google did not find it
	Warnings         []string               `json:"warnings"`
	UseGPS           bool                   `json:"useGPS"`
}

// NewDestination returns a destination in the form that is sent.
func NewDestination(d lastmile.Destination) Destination {
	address := Address(d.Address)
	address.County = ""
	return Destination{
		ID: d.ID, TimeCreated: Millis(d.Created), TimeLastModified: Millis(d.Modified),
		Location: LonLat(d.Location), Address: address, Notes: d.Notes, Metadata: NewMetadata(d.Metadata),
		GooglePlaceID: orNull(d.GooglePlaceID), Warnings: orEmpty(d.Warnings), UseGPS: d.UseGPS,
	}
}

// Domain returns the destination of an organization that the form shows.
func (d Destination) Domain(org lastmile.OrganizationID) lastmile.Destination {
	return lastmile.Destination{
		ID: d.ID, Organization: org, Created: d.TimeCreated.Time(), Modified: d.TimeLastModified.Time(),
		Location: d.Location.Point(), Address: lastmile.Address(d.Address), Notes: d.Notes, Metadata: d.Metadata.Domain(),
		GooglePlaceID: orZero(d.GooglePlaceID), Warnings: d.Warnings, UseGPS: d.UseGPS,
	}
}

// DestinationBody is a destination in a request.
type DestinationBody struct {
	Address  *AddressBody `json:"address"`
	Location *LonLat      `json:"location"`
	Notes    string       `json:"notes"`
	Options  struct {
		Language string `json:"language"`
	} `json:"options"`
	Metadata Metadata `json:"metadata"`
}

// Draft returns what the request asks for.
func (b DestinationBody) Draft() lastmile.DestinationDraft {
	draft := lastmile.DestinationDraft{Notes: b.Notes, Language: b.Options.Language, Metadata: b.Metadata.Domain()}
	if b.Address != nil {
		address := b.Address.domain()
		draft.Address, draft.Unparsed = &address, b.Address.Unparsed
	}
	if b.Location != nil {
		point := b.Location.Point()
		draft.Location = &point
	}
	return draft
}
