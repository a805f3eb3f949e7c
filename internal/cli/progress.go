package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// When and how often progress is shown. A terminal gets one line that changes; a
// log gets few lines.
const (
	progressAfter    = 2 * time.Second
	progressTerminal = 500 * time.Millisecond
	progressLog      = 30 * time.Second
)

// progress shows on standard error the current step of a command that takes long.
type progress struct {
	to    screen
	mu    sync.Mutex
	step  string
	done  int64
	shown bool // whether a line is on the terminal
}

// report records the current step of the command and the number of things it has done; zero
// if they are not counted.
func (p *progress) report(step string, done int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.done = step, done
}

// watch shows progress until the function that it returns is called.
func (p *progress) watch(name string) (stop func()) {
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		began := time.Now()
		next := time.NewTimer(progressAfter)
		defer next.Stop()
		for {
			select {
			case <-ended:
				p.mu.Lock()
				defer p.mu.Unlock()
				p.erase()
				return
			case <-next.C:
			}
			p.show(name, time.Since(began))
			if p.to.terminal {
				next.Reset(progressTerminal)
			} else {
				next.Reset(progressLog)
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
	}
}

// show prints the current state.
func (p *progress) show(name string, elapsed time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("dray %s: %s", name, elapsed.Truncate(time.Second))
	if p.step != "" {
		line += ", " + p.step
	}
	if p.done > 0 {
		line += " " + thousands(p.done)
	}
	if !p.to.terminal {
		fmt.Fprintln(p.to, line)
		return
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s", p.to.paint(dim, line))
	p.shown = true
}

// erase removes the line from the terminal.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = false
	}
}

// behind is an output of the command. It removes the line of progress before each write.
type behind struct {
	io.Writer
	progress *progress
}

// Write implements io.Writer.
func (b behind) Write(text []byte) (int, error) {
	b.progress.mu.Lock()
	defer b.progress.mu.Unlock()
	b.progress.erase()
	return b.Writer.Write(text)
}

// thousands formats a number with separators.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
