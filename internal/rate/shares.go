package rate

import (
	"context"

	"dray/internal/lastmile"
)

// Shares lets only a few expensive things happen at the same time, and only one of
// each key. Keys take turns, so that one that wants much delays itself and not the
// others. The zero Shares lets one thing happen at a time; a nil Shares has no limit.
type Shares struct{ own, all Turns }

// NewShares returns shares that let n things happen at a time, but at least one.
func NewShares(n int) *Shares { return &Shares{all: Turns{Most: n}} }

// Take waits for the turn of a key. After it has returned nil, end must be called. What
// happens until then must not take another turn.
func (s *Shares) Take(ctx context.Context, key string) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	leave, err := s.own.Take(ctx, key)
	return s.share(ctx, leave, err)
}

// Request is Take for a request of an organization, which is rejected if it waits longer
// than Patience for others of the same organization.
func (s *Shares) Request(ctx context.Context, org lastmile.OrganizationID) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	leave, err := s.own.Request(ctx, org)
	return s.share(ctx, leave, err)
}

// share waits for a share after the turn of a key.
func (s *Shares) share(ctx context.Context, leave func(), err error) (end func(), _ error) {
	if err != nil {
		return nil, err
	}
	done, err := s.all.Take(ctx, "")
	if err != nil {
		leave()
		return nil, err
	}
	return func() {
		done()
		leave()
	}, nil
}
