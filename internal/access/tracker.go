package access

import (
	"context"

	"dray/internal/lastmile"
)

// trackerTokenLength makes tracker tokens infeasible to guess, and different in
// length from session tokens.
const trackerTokenLength = 32

// NewTracker creates a token with which a tracker app can report positions of the calling
// worker and do nothing else, because such apps send the token in URLs, which end up in
// logs. The token replaces the previous one and is never shown again.
func (s *Sessions) NewTracker(ctx context.Context, who lastmile.Principal) (string, error) {
	token := RandomSecret(trackerTokenLength)
	err := s.Store.Write(ctx, func(w Writer) error {
		if _, err := w.Whereabouts(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		if err := w.DeleteTracker(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		return w.SaveTracker(ctx, lastmile.Session{
			Hash: hashKey(token).String(), Organization: who.Organization, Worker: who.Worker, Created: s.Now(),
		})
	})
	return token, err
}

// EndTracker revokes the token of the worker's tracker app.
func (s *Sessions) EndTracker(ctx context.Context, who lastmile.Principal) error {
	return s.Store.Write(ctx, func(w Writer) error { return w.DeleteTracker(ctx, who.Organization, who.Worker) })
}

// AuthenticateTracker returns the worker whose tracker app has the token.
func (s *Sessions) AuthenticateTracker(ctx context.Context, token string) (lastmile.Principal, error) {
	if len(token) != trackerTokenLength {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	var tracker lastmile.Session
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		tracker, err = r.TrackerByHash(ctx, hashKey(token).String())
		return err
	})
	return lastmile.Principal{Organization: tracker.Organization, Worker: tracker.Worker}, err
}
