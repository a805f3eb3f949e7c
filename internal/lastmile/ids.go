package lastmile

// A separate type for each resource turns mixed-up ids into compile errors. Ids
// are 24 characters of [A-Za-z0-9*~]; new ones contain only letters and digits.
type (
	// OrganizationID identifies an organization.
	OrganizationID string
	// ClientID identifies a client of a courier.
	ClientID string
	// KeyID identifies an API key.
	KeyID string
	// AdminID identifies an administrator.
	AdminID string
	// TeamID identifies a team.
	TeamID string
	// WorkerID identifies a worker.
	WorkerID string
	// VehicleID identifies a worker's vehicle.
	VehicleID string
	// HubID identifies a hub.
	HubID string
	// DestinationID identifies a destination.
	DestinationID string
	// RecipientID identifies a recipient.
	RecipientID string
	// TaskID identifies a task.
	TaskID string
	// TemplateID identifies a task template.
	TemplateID string
	// BatchID identifies a batch of tasks; clients know it as the job id.
	BatchID string
	// DispatchID identifies a dispatch.
	DispatchID string
	// MessageID identifies a text message.
	MessageID string
	// UploadID identifies an image uploaded by a worker.
	UploadID string
)

// IDLength is the length of every id, which published clients rely on.
const IDLength = 24

// ValidID reports whether s has the form of an id. A record with any other id does not exist,
// so that the database need not be queried.
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
