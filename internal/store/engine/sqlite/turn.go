package sqlite

import (
	"os"
	"path/filepath"
	"time"
)

// writeTurn lets commands write beside a busy server. SQLite's own lock is taken by
// whoever asks at the right moment, and a server that commits batch after
// batch leaves hardly any; so a command that wants to write holds this lock
// from before it asks until it is done, and the server waits between two
// transactions while it is held.
type writeTurn struct {
	f    *os.File
	held bool
}

// How long the server waits for one command, and how often it looks.
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

// yield is the server's side: it returns when no command holds the lock, or
// has held it for too long. An error of the lock must not stop the server.
func (t *writeTurn) yield() {
	if t.wait(turnPatience) {
		t.release()
	}
}

// take is a command's side. When other commands keep the lock for too long,
// it goes on without.
func (t *writeTurn) take() {
	if !t.held {
		t.wait(turnPatience)
	}
}

// wait tries to take the lock for some time.
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

// try takes the lock if it is free. A file system without such locks has none
// to wait for.
func (t *writeTurn) try() bool {
	free, err := flock(t.f)
	return free || err != nil
}

// release gives the lock back.
func (t *writeTurn) release() {
	if t.held {
		funlock(t.f)
		t.held = false
	}
}

// close lets go of the file and, with it, of the lock.
func (t *writeTurn) close() error { return t.f.Close() }
