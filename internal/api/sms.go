package api

import (
	"context"
	"net/http"

	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// SMSBase is the path at which gateways call us.
const SMSBase = "/sms"

// SMS is what gateways post to: replies to text messages, and what became of
// those that were sent.
type SMS struct {
	Desk *messaging.Desk
	// Verify believes a post of a gateway over HTTP, or says why not; nil: there
	// is none.
	Verify func(header http.Header, body []byte) error
	Twilio TwilioPosts // nil: there is none
}

// TwilioPosts reads what Twilio posts, if it is Twilio.
type TwilioPosts interface {
	ReadReply(r *http.Request, body []byte) (lastmile.Reply, error)
	ReadReport(r *http.Request, body []byte) (textmessage.DeliveryReport, error)
}

// SMSHandler returns what gateways call, to be mounted at SMSBase.
func (s *Server) SMSHandler() http.Handler {
	gate := &gate{Server: s, base: SMSBase, limiter: newLimiter(0, s.Now), routes: &router{}}
	for _, r := range s.smsRoutes() {
		r.anybody = true // who may is seen by the signature
		gate.routes.add(r.method, r.path, gate.open(r))
	}
	return gate
}

func (s *Server) smsRoutes() (routes []route) {
	if s.SMS.Verify != nil {
		routes = append(routes,
			route{method: http.MethodPost, path: "/inbound", serve: s.takeReply},
			route{method: http.MethodPost, path: "/status", serve: s.takeReport},
		)
	}
	if s.SMS.Twilio != nil {
		routes = append(routes,
			route{method: http.MethodPost, path: "/twilio/inbound", stream: s.takeTwilioReply},
			route{method: http.MethodPost, path: "/twilio/status", serve: s.takeTwilioReport},
		)
	}
	return routes
}

// accepted is the answer to a post that was taken in.
var accepted = []byte(`{}`)

func (s *Server) takeReply(ctx context.Context, c *call) (any, error) {
	var body wire.ReplyBody
	if err := s.signed(c, &body); err != nil {
		return nil, err
	}
	return accepted, s.SMS.Desk.Receive(ctx, body.Domain("http"))
}

func (s *Server) takeReport(ctx context.Context, c *call) (any, error) {
	var body wire.ReportBody
	if err := s.signed(c, &body); err != nil {
		return nil, err
	}
	report, err := body.Domain()
	if err != nil {
		return nil, err
	}
	return accepted, s.SMS.Desk.Report(ctx, report)
}

// signed decodes a body that the gateway signed.
func (s *Server) signed(c *call, body any) error {
	if err := s.SMS.Verify(c.http.Header, c.body); err != nil {
		return err
	}
	return wire.Decode(c.body, body)
}

// takeTwilioReply answers in Twilio's own form that nothing is to be said.
func (s *Server) takeTwilioReply(ctx context.Context, c *call, w http.ResponseWriter) error {
	reply, err := s.SMS.Twilio.ReadReply(c.http, c.body)
	if err != nil {
		return err
	}
	if err := s.SMS.Desk.Receive(ctx, reply); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	//nolint:errcheck // the client is gone; there is nobody to tell
	w.Write([]byte("<Response></Response>"))
	return nil
}

func (s *Server) takeTwilioReport(ctx context.Context, c *call) (any, error) {
	report, err := s.SMS.Twilio.ReadReport(c.http, c.body)
	if err != nil || report.State == "" {
		return accepted, err
	}
	return accepted, s.SMS.Desk.Report(ctx, report)
}
