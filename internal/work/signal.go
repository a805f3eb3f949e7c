package work

// Signal wakes a Loop: use it as its Wake.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes the Loop. It never waits. Call it after the commit that made
// something due.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}
