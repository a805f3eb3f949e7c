package sqlite

import (
	"os"
	"path/filepath"
	"time"
)

// writeTurn lets commands write beside a busy server. SQLite's own lock goes to the first
// process that polls it while it is free, and a server that commits one batch after
// another hardly ever leaves it free. So a command holds a writeTurn while it waits for
// SQLite's lock and writes, and the server waits between two transactions while a command
// holds it.
type writeTurn struct {
	f    *os.File
	held bool
}

// How long the server waits for one command, and how often it polls.
const (
	turnPatience = 2 * time.Second
	turnPoll     = time.Millisecond
)

// openTurn opens the lock of a folder.
func openTurn(folder string) (*writeTurn, error) {
	f, err := os.OpenFile(filepath.Join(folder, turnFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &writeTurn{f: f}, nil
}

// yield is called by the server. It returns when no command holds the lock, or when one
// has held it for too long. Errors of the lock must not stop the server.
func (t *writeTurn) yield() {
	if t.wait(turnPatience) {
		t.release()
	}
}

// take is called by a command. If other commands hold the lock for too long, it returns
// without it.
func (t *writeTurn) take() {
	if !t.held {
		t.wait(turnPatience)
	}
}

// wait tries to take the lock for some time, and reports whether it did.
func (t *writeTurn) wait(patience time.Duration) bool {
	if t.held = t.try(); t.held {
		return true
	}
	end := time.NewTimer(patience)
	defer end.Stop()
	tick := time.NewTicker(turnPoll)
	defer tick.Stop()
	for {
		select {
		case <-end.C:
			return false
		case <-tick.C:
		}
		if t.held = t.try(); t.held {
			return true
		}
	}
}

// try takes the lock if it is free. On a file system without such locks, it always
// succeeds.
func (t *writeTurn) try() bool {
	free, err := flock(t.f)
	return free || err != nil
}

// release releases the lock.
func (t *writeTurn) release() {
	if t.held {
		funlock(t.f)
		t.held = false
	}
}

// close closes the file, which releases the lock.
func (t *writeTurn) close() error { return t.f.Close() }
