package wire

import (
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// ReplyBody is a text message that came, as a gateway posts it.
type ReplyBody struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	Body string `json:"body"`
}

// Domain returns the reply.
func (b ReplyBody) Domain(gateway string) lastmile.Reply {
	return lastmile.Reply{Gateway: gateway, ID: b.ID, From: lastmile.Phone(b.From), To: b.To, Body: b.Body}
}

// ReportBody is what became of a text message, as a gateway posts it.
type ReportBody struct {
	ID     lastmile.MessageID `json:"id"`
	Status string             `json:"status"`
	Reason string             `json:"reason"`
}

// Domain returns the report.
func (b ReportBody) Domain() (textmessage.DeliveryReport, error) {
	report := textmessage.DeliveryReport{Message: b.ID, State: textmessage.State(b.Status), Reason: b.Reason}
	switch {
	case b.ID == "":
		return report, lastmile.Missing("id")
	case b.Status == "":
		return report, lastmile.Missing("status")
	case report.State != textmessage.StateSent && report.State != textmessage.StateDelivered && report.State != textmessage.StateFailed:
		return report, lastmile.Invalid("status must be sent, delivered or failed, not %q", b.Status)
	}
	return report, nil
}
