// Package boardapi serves the part of the public API for dispatchers' boards. Package api
// mounts it.
package boardapi
