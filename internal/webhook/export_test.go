package webhook

import (
	"context"
	"net"
)

// Dial connects as Egress does once it has checked an address.
func Dial(ctx context.Context, e *Egress, address string) (net.Conn, error) {
	return e.options.Connect(ctx, "tcp", address)
}

// PollIdle is how long another process's event may wait to be found.
const PollIdle = pollIdle
