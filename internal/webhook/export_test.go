package webhook

import (
	"context"
	"net"
)

// Dial connects as Egress does after it has checked an address.
func Dial(ctx context.Context, e *Egress, address string) (net.Conn, error) {
	return e.options.Connect(ctx, "tcp", address)
}

// PollIdle is the interval of checks for events of other processes.
const PollIdle = pollIdle

// MaxQueued and MaxQueuedTotal bound the bytes of notifications in memory.
const (
	MaxQueued      = maxQueued
	MaxQueuedTotal = maxQueuedTotal
	MinPage        = minPage
)

// Queued returns the bytes of the notifications that a Sender has in memory.
func Queued(s *Sender) int { return int(s.queued.Load()) }
