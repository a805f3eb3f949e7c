package rate

import "context"

// Shares lets only a few expensive things happen at the same time, and only one of
// each key. Keys take turns, so that one that wants much delays itself and not the
// others. A nil Shares has no limit.
type Shares struct{ own, all Turns }

// NewShares returns shares of so many things at the same time, but at least one.
func NewShares(most int) *Shares { return &Shares{all: Turns{Most: most}} }

// Take waits for the turn of a key. After it has returned nil, end must be called. What
// happens until then must not take another turn.
func (s *Shares) Take(ctx context.Context, key string) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	leave, err := s.own.Take(ctx, key)
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
