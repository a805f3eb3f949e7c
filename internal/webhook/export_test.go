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
