package rate

import (
	"context"

	"dray/internal/lastmile"
)

// Shares limits how many expensive operations run at the same time, with at most one of each
// key. Keys take turns, so that a key with many operations delays itself and not the others.
// The zero Shares allows one operation at a time; a nil Shares has no limit.
type Shares struct{ own, all Turns }

// NewShares returns shares that allow n operations at a time, but at least one.
func NewShares(n int) *Shares { return &Shares{all: Turns{Most: n}} }

// Take waits for the turn of a key. If err is nil, end must be called. The operation must not
// take another turn before that.
func (s *Shares) Take(ctx context.Context, key string) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	leave, err := s.own.Take(ctx, key)
	return s.share(ctx, leave, err)
}

// Request is like Take for a request of an organization, but rejects the request if it waits
// longer than Patience for others of the same organization.
func (s *Shares) Request(ctx context.Context, org lastmile.OrganizationID) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	leave, err := s.own.Request(ctx, org)
	return s.share(ctx, leave, err)
}

// share waits for a share. leave and err are the results of waiting for the turn of the key.
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
