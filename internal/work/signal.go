package work

// Signal wakes the Loop that has it as its Wake.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes the Loop. Call it after the commit that made an item due. It never
// blocks.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}
