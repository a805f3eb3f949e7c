package access

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// trackerTokenLength makes tokens of trackers too long to guess, and of another
// length than those of sessions.
const trackerTokenLength = 32

// NewTracker makes a token with which a tracker app reports positions of the
// worker who is asking, and can do nothing else: such apps show it in addresses,
// which end up in logs. It replaces the one before, and is not shown again.
func (s *Sessions) NewTracker(ctx context.Context, who lastmile.Principal) (string, error) {
	token := RandomSecret(trackerTokenLength)
	err := s.Store.Write(ctx, func(w store.Writer) error {
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

// EndTracker makes the token of the worker's tracker app useless.
func (s *Sessions) EndTracker(ctx context.Context, who lastmile.Principal) error {
	return s.Store.Write(ctx, func(w store.Writer) error { return w.DeleteTracker(ctx, who.Organization, who.Worker) })
}

// AuthenticateTracker returns the worker whose positions a token reports.
func (s *Sessions) AuthenticateTracker(ctx context.Context, token string) (lastmile.Principal, error) {
	if len(token) != trackerTokenLength {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	var tracker lastmile.Session
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		tracker, err = r.TrackerByHash(ctx, hashKey(token).String())
		return err
	})
	return lastmile.Principal{Organization: tracker.Organization, Worker: tracker.Worker}, err
}
