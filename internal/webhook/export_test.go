package webhook

import (
	"context"
	"net"
)

// Dial connects as Egress does once it has checked an address.
func Dial(ctx context.Context, e *Egress, address string) (net.Conn, error) {
	return e.options.Connect(ctx, "tcp", address)
}
