// Package boardapi serves the part of the public API for dispatchers' boards, and the event
// stream that keeps them up to date. Package api mounts it.
package boardapi
