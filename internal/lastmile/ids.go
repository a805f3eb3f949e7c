package lastmile

// One type for each resource makes it a compile error to mix ids up. They are
// 24 characters of [A-Za-z0-9*~]; those made here use letters and digits only.
type (
	// OrganizationID names an organization.
	OrganizationID string
	// KeyID names an API key.
	KeyID string
	// AdminID names an administrator.
	AdminID string
	// TeamID names a team.
	TeamID string
	// WorkerID names a worker.
	WorkerID string
	// VehicleID names a worker's vehicle.
	VehicleID string
	// HubID names a hub.
	HubID string
	// DestinationID names a destination.
	DestinationID string
	// RecipientID names a recipient.
	RecipientID string
	// TaskID names a task.
	TaskID string
	// TemplateID names a task template.
	TemplateID string
	// BatchID names a batch of tasks; clients call it the id of its job.
	BatchID string
	// MessageID names a text message.
	MessageID string
	// UploadID names an image that a worker sent.
	UploadID string
)

// IDLength is the length of every id, as published clients expect it.
const IDLength = 24

// ValidID tells whether s has the form of an id. A string that has not is
// known not to exist without a look at the database.
func ValidID(s string) bool {
	if len(s) != IDLength {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '*', c == '~':
		default:
			return false
		}
	}
	return true
}
