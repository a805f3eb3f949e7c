package recipientapi

import (
	"context"
	"net/http"

	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/textmessage"
)

// SMSBase is the path that gateways for text messages post to.
const SMSBase = "/sms"

// SMS receives what gateways post: replies to text messages, and delivery reports.
type SMS struct {
	Messages *messaging.Messages
	// Verify checks the signature of a post of the HTTP gateway; nil when there is
	// no such gateway.
	Verify func(header http.Header, body []byte) error
	Twilio TwilioPosts // nil when there is no such gateway
}

// TwilioPosts reads what Twilio posts, and checks its signature.
type TwilioPosts interface {
	ReadReply(r *http.Request, body []byte) (lastmile.Reply, error)
	ReadReport(r *http.Request, body []byte) (textmessage.DeliveryReport, error)
}

// Handler returns the handler that gateways call, to be mounted at SMSBase. The
// signature of a post takes the place of credentials.
func (s SMS) Handler(settings edge.Settings) http.Handler {
	var routes []edge.Route
	if s.Verify != nil {
		routes = append(routes,
			edge.Send("/inbound", "", s.takeReply).Public(),
			edge.Send("/status", "", s.takeReport).Public(),
		)
	}
	if s.Twilio != nil {
		routes = append(routes,
			edge.Receive("/twilio/inbound", s.takeTwilioReply).Public(),
			edge.Send("/twilio/status", "", s.takeTwilioReport).Public(),
		)
	}
	return edge.NewMux(settings, SMSBase, edge.Access{}, routes...)
}

// accepted is the response to a post that was accepted.
type accepted struct{}

func (s SMS) takeReply(ctx context.Context, c *edge.Call) (accepted, error) {
	var body ReplyBody
	if err := s.signed(c, &body); err != nil {
		return accepted{}, err
	}
	return accepted{}, s.Messages.Receive(ctx, body.Domain("http"))
}

func (s SMS) takeReport(ctx context.Context, c *edge.Call) (accepted, error) {
	var body ReportBody
	if err := s.signed(c, &body); err != nil {
		return accepted{}, err
	}
	report, err := body.Domain()
	if err != nil {
		return accepted{}, err
	}
	return accepted{}, s.Messages.Report(ctx, report)
}

// signed decodes a body that the gateway signed.
func (s SMS) signed(c *edge.Call, body any) error {
	if err := s.Verify(c.HTTP.Header, c.Body); err != nil {
		return err
	}
	return codec.Decode(c.Body, body)
}

// takeTwilioReply responds in Twilio's own form that no message is to be sent.
func (s SMS) takeTwilioReply(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	reply, err := s.Twilio.ReadReply(c.HTTP, c.Body)
	if err != nil {
		return err
	}
	if err := s.Messages.Receive(ctx, reply); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Write([]byte("<Response></Response>")) //nolint:errcheck // the client may be gone
	return nil
}

func (s SMS) takeTwilioReport(ctx context.Context, c *edge.Call) (accepted, error) {
	report, err := s.Twilio.ReadReport(c.HTTP, c.Body)
	if err != nil || report.State == "" {
		return accepted{}, err
	}
	return accepted{}, s.Messages.Report(ctx, report)
}
