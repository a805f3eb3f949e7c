package lastmile

import "time"

// TextMessage is an SMS the organization sends. It is stored in the
// transaction of the change that owes it.
type TextMessage struct {
	ID           MessageID
	Organization OrganizationID
	To           Phone
	Body         string
	Created      time.Time
}

// Invitation is the message that gives a new worker the temporary password.
func Invitation(id MessageID, org Organization, w Worker, password, appURL string, now time.Time) TextMessage {
	return TextMessage{
		ID: id, Organization: org.ID, To: w.Phone, Created: now,
		Body: plain(org.Name) + " invites you to drive. Open " + appURL + " and sign in with this phone number and the temporary password " +
			password + " within 72 hours.",
	}
}

// plain keeps names from smuggling anything into a text message: control and
// formatting characters go, and what is left is cut short.
func plain(name string) string {
	const most = 60
	kept := make([]rune, 0, most)
	for _, r := range name {
		if len(kept) == most {
			break
		}
		switch {
		case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x61c, r == 0x2028, r == 0x2029, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		default:
			kept = append(kept, r)
		}
	}
	return string(kept)
}
